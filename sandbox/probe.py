"""What there is to make a sandbox from, for `handrail doctor`. Never raises."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass

from core.errors import SandboxUnavailableError
from sandbox import bubblewrap
from sandbox.api import DEFAULT_IMAGE
from sandbox.engine import Engine, connect, require_image
from sandbox.local import AS_ROOT, INSTALL_HINT, try_out

LOOK_S = 15.0
"""The whole look ends after this, whatever hangs."""
VERSION_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFacts:
    """The container engine."""

    answers: bool = False
    version: str = ""
    address: str = ""
    """Path of its socket."""
    rootless: bool = False
    image: str = DEFAULT_IMAGE
    has_image: bool = False
    problem: str = ""
    """Why it cannot be used, "" when it can."""
    hint: str = ""
    code: str = ""
    """Stable name of the problem."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BubblewrapFacts:
    """bubblewrap on this machine."""

    path: str = ""
    """"" when it is not installed."""
    version: str = ""
    works: bool = False
    manner: str = ""
    """What is different from how it works best, "" for nothing."""
    problem: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxFacts:
    """Both."""

    engine: EngineFacts
    bubblewrap: BubblewrapFacts

    @property
    def usable(self) -> bool:
        """Whether any sandbox can be made."""
        return self.bubblewrap.works or (self.engine.answers and self.engine.has_image)


async def look(image: str = DEFAULT_IMAGE, host: str = "") -> SandboxFacts:
    """Find out what is there.

    Args:
        image: Name of the image that is needed.
        host: Address of the engine; found when "".
    """
    hung = EngineFacts(
        image=image, problem="The container engine does not answer.", code="engine_hung"
    )
    engine, local = await asyncio.gather(
        _within(asyncio.to_thread(_engine, image, host), hung), _bubblewrap()
    )
    return SandboxFacts(engine=engine, bubblewrap=local)


async def _within(looking: Awaitable[EngineFacts], hung: EngineFacts) -> EngineFacts:
    try:
        return await asyncio.wait_for(looking, LOOK_S)
    except TimeoutError:
        return hung


def _engine(image: str, host: str) -> EngineFacts:
    try:
        engine = connect(host)
    except SandboxUnavailableError as error:
        return EngineFacts(image=image, problem=error.message, hint=error.hint, code=error.code)
    try:
        require_image(engine, image)
    except SandboxUnavailableError as error:
        return _answering(engine, image, error)
    finally:
        engine.client.close()
    return _answering(engine, image, None)


def _answering(engine: Engine, image: str, error: SandboxUnavailableError | None) -> EngineFacts:
    return EngineFacts(
        answers=True,
        version=engine.version,
        address=engine.socket_path,
        rootless=engine.rootless,
        image=image,
        has_image=error is None,
        problem=error.message if error else "",
        hint=error.hint if error else "",
        code=error.code if error else "",
    )


async def _bubblewrap() -> BubblewrapFacts:
    path = bubblewrap.find()
    if path is None:
        return BubblewrapFacts(problem="bubblewrap is not installed.", hint=INSTALL_HINT)
    trial = await try_out()
    return BubblewrapFacts(
        path=path,
        version=await _version(path),
        works=not trial.problem,
        manner=AS_ROOT if trial.way == "root" else "",
        problem=f"bubblewrap does not work: {trial.problem}." if trial.problem else "",
        hint=INSTALL_HINT if trial.problem else "",
    )


async def _version(path: str) -> str:
    try:
        process = await asyncio.create_subprocess_exec(
            path, "--version", stdout=asyncio.subprocess.PIPE
        )
    except OSError:
        return ""
    try:
        said, _ = await asyncio.wait_for(process.communicate(), VERSION_S)
    except TimeoutError:
        process.kill()
        await process.wait()
        return ""
    return said.decode("ascii", "replace").strip().removeprefix("bubblewrap ")
