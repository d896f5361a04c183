"""`handrail` itself: the full-screen app.

Everything heavy is imported in a thread after the first paint.
"""

import asyncio
import gc
import os
import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from core.config_layers import first_look
from core.errors import ConfigError
from tui.arguments import OneLineParser, add_session_arguments, common_overrides, workspace_of
from tui.console import report, say
from tui.exits import ANSWERED, GAVE_UP

if TYPE_CHECKING:
    from core.config_load import Configuration
    from tui.session_port import Findings, LookAround, SessionLike
    from tui.wiring import Wiring

HELP = "the full-screen app in the current folder"
DEFAULT_THEME = "dark"
SWITCH_S = 0.0005
"""How long the loading thread keeps the interpreter to itself, so that the first keys show at once; usually 5 ms."""
FULL_WORD = "FULL"
FULL_WARNING = (
    "Mode full runs every call without a question, except the few that are always asked.\n"
    f"Type {FULL_WORD} and Enter to go on: "
)


def add_arguments(parser: OneLineParser) -> None:
    """Add the task."""
    add_session_arguments(parser)
    parser.add_argument("task", nargs="?", metavar="TASK", help="start with this task")


def run(options: Namespace) -> int:
    """Open the app.

    Raises:
        ConfigError: There is no terminal, or the command line is wrong.
    """
    require_terminal()
    workspace = workspace_of(options)
    _confirm_mode(options)
    return run_app(options, LateSession(options, workspace), task=options.task)


def run_tour(options: Namespace) -> int:
    """Open the app on the tour.

    Raises:
        ConfigError: There is no terminal, or the command line is wrong.
    """
    require_terminal()
    return run_app(options, LateTour(options), task=None)


def run_app(options: Namespace, session: "LateSession | LateTour", task: str | None) -> int:
    """Show a session until the person leaves.

    Raises:
        ConfigError: There is no such theme.
    """
    # Until the session is loaded: importing makes no garbage, and looking for it takes a tenth of the start.
    gc.disable()
    from textual.drivers.linux_driver import LinuxDriver

    from tui.app import HandrailApp
    from tui.driver import TerminalDriver

    look = first_look()
    app = HandrailApp(
        session.open,
        theme=getattr(options, "ui.theme") or look.theme or DEFAULT_THEME,
        task=task,
        findings=session.look_around,
        keys=look.keys or {},
    )
    if app.driver_class is LinuxDriver:
        app.driver_class = TerminalDriver
    app.run()
    session.leave()
    if app.crash is not None:
        report(app.crash)
        return GAVE_UP
    return app.return_code or ANSWERED


def require_terminal() -> None:
    """Refuse to draw where nobody would see it.

    Raises:
        ConfigError: stdin or stdout is no terminal, or the terminal cannot draw.
    """
    hint = "Without one, use `handrail run`."
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ConfigError("The app needs a terminal.", hint=hint, code="no_terminal")
    if os.environ.get("TERM", "") in ("", "dumb"):
        raise ConfigError("This terminal cannot draw (TERM).", hint=hint, code="no_terminal")


async def loaded(load: "Callable[[], Configuration]") -> "Configuration":
    """Do the loading that was put off until the screen is there, in a thread; then collect garbage as usual.

    Args:
        load: Imports what the session needs and returns the settings.
    """
    usual_s = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_S)
    try:
        return await asyncio.to_thread(load)
    finally:
        sys.setswitchinterval(usual_s)
        gc.freeze()  # what was loaded stays: it need not be looked through again
        gc.enable()


class LateSession:
    """The session of the app, chosen and opened after the first paint."""

    def __init__(self, options: Namespace, workspace: Path, folder: Path | None = None) -> None:
        """Plan it.

        Args:
            options: Command line.
            workspace: Absolute, resolved.
            folder: Folder of an earlier session, None for a new one.
        """
        self._options = options
        self._workspace = workspace
        self._folder = folder
        self._wiring: Wiring | None = None

    async def open(self) -> "SessionLike":
        """Open the session.

        Raises:
            HandrailError: It cannot be opened; the app shows why.
        """
        configuration = await loaded(self._load)
        from tui.wiring import Wiring

        self._wiring = Wiring(
            configuration, self._workspace, attended=True, on_screen=True, folder=self._folder
        )
        return await self._wiring.open_without_model()

    def leave(self) -> None:
        """Say how to go on with the session; one that was given no task is not kept."""
        if self._wiring is None:
            return
        from tui.session_folders import forget_without_task

        session_id = self._wiring.session_id
        if not forget_without_task(session_id):
            say(f"To go on with this session: handrail resume {session_id}")

    @property
    def look_around(self) -> "LookAround | None":
        """Looks for what is there, for the first screen."""
        return self._look_around

    async def _look_around(self) -> "Findings":
        configuration = await asyncio.to_thread(self._load)
        from tui.findings import look_around
        from tui.session_port import Finding

        found = await look_around(configuration, LateTour(self._options).open)
        here = Finding(name="Workspace", state="ok", text=str(self._workspace))
        return replace(found, rows=(here, *found.rows))

    def _load(self) -> "Configuration":
        from core.config_load import load_or_excuse
        from tui import wiring  # noqa: F401 - imported here, in a thread, because it takes a while

        return load_or_excuse(common_overrides(self._options))


class LateTour:
    """The session of the tour, opened after the first paint."""

    look_around: "LookAround | None" = None

    def __init__(self, options: Namespace) -> None:
        """Plan it from the command line."""
        self._options = options
        self._opened: SessionLike | None = None

    def leave(self) -> None:
        """Nothing is kept of a tour."""

    async def open(self) -> "SessionLike":
        """Open the session and start its task.

        Raises:
            HandrailError: It cannot be opened; the app shows why.
        """
        configuration = await loaded(self._load)
        from tui.tour import Tour

        return await Tour(configuration, attended=True).open_and_start()

    def _load(self) -> "Configuration":
        from core.config_load import load_or_excuse
        from tui import tour  # noqa: F401 - imported here, in a thread, because it takes a while

        return load_or_excuse(common_overrides(self._options))


def _confirm_mode(options: Namespace) -> None:
    if options.mode != "full":
        return
    sys.stdout.write(FULL_WARNING)
    sys.stdout.flush()
    if sys.stdin.readline().strip() != FULL_WORD:
        raise ConfigError("Mode full was not confirmed.", hint="Use --mode auto.", code="usage")
