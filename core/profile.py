"""Profiles: a prompt, the tools offered and the limits to start with, as data.

A profile is `profiles/<name>.toml` with its prompt in `prompts/<name>.md`. The user's own ones, in the
configuration folder under `profiles/`, come first.
"""

import difflib
import string
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.config_layers import parse_toml, read_text
from core.errors import ConfigError
from core.toml_lines import key_lines, line_of

BUILT_IN = Path(__file__).resolve().parent
SLOTS = ("today",)
"""What a prompt may name as $today."""


class ProfileFile(BaseModel):
    """What `profiles/<name>.toml` holds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    """One line for the list of profiles."""
    prompt: str = Field(max_length=200)
    """File name of the prompt in `prompts/`."""
    brief_prompt: str = Field(default="", max_length=200)
    """The same for a model that works step by step, which is too small for a long one; "" for the usual prompt."""
    tools: list[str] = Field(default_factory=list)
    """Names of the tools that are offered; empty means all."""
    own_tools: bool = True
    """Whether the person's own tools are offered too where `tools` does not name them."""
    max_steps: int | None = Field(default=None, ge=1, le=100_000)
    """Limit used where the user's settings say nothing."""
    max_minutes: float | None = Field(default=None, gt=0, le=10_080)
    """Limit used where the user's settings say nothing."""
    max_cost_usd: float | None = Field(default=None, ge=0)
    """Limit used where the user's settings say nothing."""
    max_calls: dict[str, Annotated[int, Field(ge=1, le=100_000)]] = Field(default_factory=dict)
    """Calls of a tool in one run, by its name; the user's settings win for the tools they name."""
    max_tools: int = Field(default=0, ge=0, le=1000)
    """Most tools a request offers, the best for each step; 0 means all. `finish` and `ask_human` are never left out."""
    result_bytes: int = Field(default=0, ge=0, le=1 << 20)
    """Longer results go to the model as head and tail, with the rest to be paged; 0: 14 KiB, less for small windows."""
    relevance_threshold: float = Field(default=0.0, ge=0.0, le=1.0)
    """Old units of memory to which the model, asked now and then, gives less are left out; 0: it is never asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A profile ready for use."""

    name: str
    file: ProfileFile
    prompt: str
    """Text with its slots still open."""
    brief: str = ""
    """The prompt for a model that works step by step."""
    path: Path = Path()
    """The TOML file; the prompt is in `prompts` beside its folder."""
    is_own: bool = False
    """It is the person's, not one that comes with Handrail."""

    def system_prompt(self, slots: Mapping[str, str]) -> str:
        """Fill the slots of the prompt.

        Args:
            slots: A text for each name of `SLOTS`.

        Raises:
            ConfigError: The prompt names a slot that does not exist; with file and line.
        """
        return self._filled(self.prompt, self.prompt_path, slots)

    def brief_prompt(self, slots: Mapping[str, str]) -> str:
        """Fill the slots of the prompt for a model that works step by step, "" where there is none.

        Args:
            slots: A text for each name of `SLOTS`.

        Raises:
            ConfigError: The prompt names a slot that does not exist; with file and line.
        """
        return self._filled(self.brief, self._path_of(self.file.brief_prompt), slots)

    def _filled(self, prompt: str, path: Path, slots: Mapping[str, str]) -> str:
        try:
            return string.Template(prompt).substitute(slots).strip()
        except (KeyError, ValueError) as error:
            line, slot = _broken_slot(prompt)
            raise ConfigError(
                f"{path} line {line}: {slot} is no slot.",
                hint=f"Known: {', '.join('$' + name for name in SLOTS)}; a dollar sign is $$.",
            ) from error

    @property
    def prompt_path(self) -> Path:
        """The file of the prompt."""
        return self._path_of(self.file.prompt)

    def _path_of(self, name: str) -> Path:
        return self.path.parent.parent / "prompts" / Path(name).name

    def wrong(self, key: str, text: str, hint: str = "") -> ConfigError:
        """Return the error for a key whose value only the caller can judge.

        Args:
            key: Name of a field of `ProfileFile`.
            text: What is wrong with it.
            hint: What is allowed.
        """
        lines = read_text(self.path) if self.path.is_file() else ""
        return ConfigError(f"{_place(self.path, lines, (key,))}: {key} {text}", hint=hint)


def profile_names(user_folder: Path | None = None) -> list[str]:
    """Return the names of all profiles, sorted."""
    return sorted(_files(user_folder))


def load_profile(name: str, user_folder: Path | None = None) -> Profile:
    """Load a profile by name.

    Args:
        name: File name without .toml.
        user_folder: Configuration folder with the user's own profiles.

    Raises:
        ConfigError: There is none of that name, or its file is wrong; with file, line, key and what is allowed.
    """
    files = _files(user_folder)
    path = files.get(name)
    if path is None:
        near = difflib.get_close_matches(name.casefold(), files, n=1)
        guess = f"Did you mean {near[0]}? " if near else ""
        known = ", ".join(sorted(files))
        raise ConfigError(
            f"There is no profile {name!r}.", hint=f"{guess}Known: {known}.", code="no_profile"
        )
    text = read_text(path)
    tree = parse_toml(text, path)
    try:
        file = ProfileFile.model_validate(tree)
    except ValidationError as error:
        raise _problem(error, path, text) from error
    profile = Profile(
        name=name, file=file, prompt="", path=path, is_own=path.parent.parent != BUILT_IN
    )
    brief = _prompt(profile, "brief_prompt") if file.brief_prompt else ""
    return replace(profile, prompt=_prompt(profile, "prompt"), brief=brief)


def _files(user_folder: Path | None) -> dict[str, Path]:
    """Return the file of each profile by its name; the person's own come first."""
    folders = [folder / "profiles" for folder in (BUILT_IN, user_folder) if folder]
    return {path.stem: path for folder in folders for path in sorted(folder.glob("*.toml"))}


def _prompt(profile: Profile, key: Literal["prompt", "brief_prompt"]) -> str:
    """Read a prompt; a profile of the person may use one that comes with Handrail."""
    name = Path(getattr(profile.file, key)).name
    own = profile.prompt_path.parent / name
    path = next((place for place in (own, BUILT_IN / "prompts" / name) if place.is_file()), None)
    if path is None:
        raise profile.wrong(key, f"names {name!r}.", f"There is no file {own}.")
    text = read_text(path).strip()
    if not text:
        raise ConfigError(f"{path} is empty.", hint="It is what the model is told first.")
    return text


def _place(path: Path, text: str, key: tuple[str, ...]) -> str:
    line = line_of(key_lines(text), key)
    return f"{path} line {line}" if line else str(path)


def _problem(error: ValidationError, path: Path, text: str) -> ConfigError:
    """Return the first mistake of a file with its line, and what is allowed there."""
    problems = error.errors(include_url=False)
    unknown = (one for one in problems if one["type"] == "extra_forbidden")
    first = next(unknown, problems[0])  # a slip of the pen explains what is missing
    key = tuple(str(part) for part in first["loc"])
    place, dotted = _place(path, text, key), ".".join(key)
    fields = ProfileFile.model_fields
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(key[0], fields, n=1)
        guess = f"Did you mean {near[0]}? " if near else ""
        return ConfigError(
            f"{place}: {dotted} is no key of a profile.", hint=f"{guess}Known: {', '.join(fields)}."
        )
    if first["type"] == "missing":
        return ConfigError(f"{place}: {dotted} is missing.", hint="Needed: title, prompt.")
    return ConfigError(f"{place}: {dotted}: {first['msg']}.", hint="See docs/profiles.md.")


def _broken_slot(prompt: str) -> tuple[int, str]:
    """Return the line and the text of the first slot that is unknown or broken."""
    for found in string.Template.pattern.finditer(prompt):
        slot = found["named"] or found["braced"]
        if found["escaped"] is None and slot not in SLOTS:
            return prompt.count("\n", 0, found.start()) + 1, found[0]
    return 1, "$"
