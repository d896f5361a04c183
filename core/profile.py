"""Profiles: a prompt, the tools offered and the limits to start with, as data.

A profile is `profiles/<name>.toml` with its prompt in `prompts/<name>.md`. The user's own ones, in the
configuration folder under `profiles/`, come first.
"""

import difflib
import string
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.errors import ConfigError

BUILT_IN = Path(__file__).resolve().parent
SLOTS = ("today",)
"""What a prompt may name as $today."""


class ProfileFile(BaseModel):
    """What `profiles/<name>.toml` holds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    """One line for the list of profiles."""
    prompt: str
    """File name of the prompt in `prompts/`."""
    tools: list[str] = Field(default_factory=list)
    """Names of the tools that are offered; empty means all."""
    max_steps: int | None = Field(default=None, ge=1, le=100_000)
    """Limit used where the user's settings say nothing."""
    max_minutes: float | None = Field(default=None, gt=0, le=10_080)
    """Limit used where the user's settings say nothing."""
    max_cost_usd: float | None = Field(default=None, ge=0)
    """Limit used where the user's settings say nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A profile ready for use."""

    name: str
    file: ProfileFile
    prompt: str
    """Text with its slots still open."""

    def system_prompt(self, slots: Mapping[str, str]) -> str:
        """Fill the slots.

        Args:
            slots: A text for each name of `SLOTS`.

        Raises:
            ConfigError: The prompt names a slot that does not exist.
        """
        try:
            return string.Template(self.prompt).substitute(slots).strip()
        except (KeyError, ValueError) as error:
            raise ConfigError(
                f"The prompt of profile {self.name} has an unknown or broken slot: {error}.",
                hint=f"Known: {', '.join('$' + name for name in SLOTS)}; a dollar sign is $$.",
            ) from error


def profile_names(user_folder: Path | None = None) -> list[str]:
    """Return the names of all profiles, sorted."""
    folders = [folder / "profiles" for folder in (user_folder, BUILT_IN) if folder]
    return sorted({path.stem for folder in folders for path in folder.glob("*.toml")})


def load_profile(name: str, user_folder: Path | None = None) -> Profile:
    """Load a profile by name.

    Args:
        name: File name without .toml.
        user_folder: Configuration folder with the user's own profiles.

    Raises:
        ConfigError: There is none of that name, or its file is wrong.
    """
    names = profile_names(user_folder)
    if name not in names:
        near = difflib.get_close_matches(name, names, n=1)
        guess = f"Did you mean {near[0]}? " if near else ""
        raise ConfigError(
            f"There is no profile {name!r}.", hint=f"{guess}Known: {', '.join(names)}."
        )
    folder = next(
        folder
        for folder in (user_folder, BUILT_IN)
        if folder and (folder / "profiles" / f"{name}.toml").is_file()
    )
    path = folder / "profiles" / f"{name}.toml"
    try:
        file = ProfileFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        prompt = (folder / "prompts" / Path(file.prompt).name).read_text(encoding="utf-8")
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{path}: {key}: {first['msg']}.") from error
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: {error}.") from error
    return Profile(name=name, file=file, prompt=prompt)
