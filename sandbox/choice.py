"""Which cage a session gets: the best that can be opened of those its choice allows."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from core.errors import SandboxUnavailableError
from core.ports import SandboxInfo
from sandbox.api import DEFAULT_IMAGE, Cage, Choice
from sandbox.client import RunnerClient
from sandbox.docker import DockerCage
from sandbox.local import BubblewrapCage

State = Literal["starting", "ready", "closed", "lost", "unavailable"]
NOTHING_YET = SandboxInfo(tier="none", label="No sandbox")
NO_CAGE = "Running without a sandbox is not offered."
NO_CAGE_HINT = "Use `--sandbox docker` or `--sandbox local`."


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxSettings:
    """What a sandbox is made for."""

    workspace: Path
    """Absolute; shown inside."""
    session: Path
    """Folder for output that is too long to keep."""
    choice: Choice = "auto"
    image: str = DEFAULT_IMAGE


def cages(settings: SandboxSettings) -> Sequence[Cage]:
    """Return the cages to try for a choice, the best first; making these objects starts nothing."""
    docker = DockerCage(settings.workspace, settings.image)
    local = BubblewrapCage(settings.workspace)
    by_choice: dict[Choice, Sequence[Cage]] = {
        "auto": (docker, local),
        "docker": (docker,),
        "local": (local,),
        "none": (),
    }
    return by_choice[settings.choice]


class CageChoice:
    """Tries cages in order, and keeps why those before the one that works do not."""

    def __init__(
        self,
        settings: SandboxSettings,
        tell: Callable[[State, SandboxInfo, str], None],
        make: Callable[[SandboxSettings], Sequence[Cage]] = cages,
    ) -> None:
        """Choose for a session.

        Args:
            settings: Its workspace and what was chosen.
            tell: Told what is tried, and when nothing works.
            make: Makes the cages to try.
        """
        self._settings = settings
        self._tell = tell
        self._make = make
        self.info = NOTHING_YET
        """The cage that works, as far as that is known."""
        self.unavailable = ""
        """Why none works, "" when one does or none was tried."""

    async def check(self) -> None:
        """Find out which cage could be opened, opening none."""
        with contextlib.suppress(SandboxUnavailableError):
            errors: list[SandboxUnavailableError] = []
            for cage in self._cages():
                if await self._passes(cage, errors):
                    self.unavailable = ""
                    return
            raise self._none(errors)

    async def _passes(self, cage: Cage, errors: list[SandboxUnavailableError]) -> bool:
        try:
            await cage.check()
            self.info = cage.info
        except SandboxUnavailableError as error:
            errors.append(error)
            return False
        finally:
            await cage.close()
        return True

    async def open(self) -> tuple[Cage, RunnerClient, str]:
        """Open the best cage that can be opened.

        Returns:
            The cage, its runner, and why better ones were passed over, "" when it is the best.

        Raises:
            SandboxUnavailableError: None can be opened.
        """
        errors: list[SandboxUnavailableError] = []
        for cage in self._cages():
            self._tell("starting", cage.info, "")
            try:
                client = await cage.open()
            except SandboxUnavailableError as error:
                errors.append(error)
                continue
            self.info, self.unavailable = cage.info, ""
            return cage, client, " ".join(error.line() for error in errors)
        raise self._none(errors)

    def _cages(self) -> Sequence[Cage]:
        workspace = self._settings.workspace
        if not workspace.is_dir():
            raise self._none([SandboxUnavailableError(f"The workspace {workspace} is not there.")])
        return self._make(self._settings)

    def _none(self, errors: Sequence[SandboxUnavailableError]) -> SandboxUnavailableError:
        """Note that no cage works, and return the error that says so."""
        error = SandboxUnavailableError(
            " ".join(error.message for error in errors) or NO_CAGE,
            hint=next((error.hint for error in errors if error.hint), NO_CAGE_HINT),
            code=errors[0].code if errors else "",
        )
        self.info = NOTHING_YET
        if self.unavailable != error.line():
            self.unavailable = error.line()
            self._tell("unavailable", NOTHING_YET, self.unavailable)
        return error
