"""Answers prepared in a file, for runs without a person: questions only, never approvals."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from core.decision import QuestionPrompt
from core.errors import ConfigError
from core.ports import Answer

MAX_SIZE_BYTES = 1 << 20


class PreparedAnswer(BaseModel):
    """One `[[answer]]` of the file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    match: str
    """Part of the question it is for; "" matches every question."""
    answer: str
    """What is answered."""


class AnswersFile(BaseModel):
    """The whole file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    answer: list[PreparedAnswer]
    """Tried in order; the first that matches is taken."""


@dataclass(frozen=True, slots=True)
class PreparedAnswers:
    """Answers questions from the file, in its order."""

    entries: Sequence[PreparedAnswer] = ()

    def reply(self, prompt: QuestionPrompt) -> Answer | None:
        """Return the answer to a question, None when the file has none."""
        question = prompt.question.casefold()
        for entry in self.entries:
            if entry.match.casefold() in question:
                return Answer(resolution="answered", decided_by="answers_file", text=entry.answer)
        return None


def load_answers(path: Path) -> PreparedAnswers:
    """Read an answers file.

    Raises:
        ConfigError: It cannot be read or holds something else.
    """
    try:
        with path.open("rb") as stream:  # a pipe or a device does not tell its size
            data = stream.read(MAX_SIZE_BYTES + 1)
        if len(data) > MAX_SIZE_BYTES:
            raise ConfigError(f"{path} is larger than 1 MiB.")
        file = AnswersFile.model_validate(tomllib.loads(data.decode("utf-8")))
    except OSError as error:
        raise ConfigError(f"The answers file {path} cannot be read: {error.strerror}.") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigError(
            f"{path}: {key}: {first['msg']}.",
            hint='Write: [[answer]] match = "part" answer = "text"',
        ) from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is no TOML text: {error}.") from error
    return PreparedAnswers(file.answer)
