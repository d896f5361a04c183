"""The full-screen app: it shows what the log says and calls the session; it decides nothing itself."""

import asyncio
import gc
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, Final

from textual import events, on, work
from textual.app import App, SystemCommand
from textual.filter import ANSIToTruecolor

from core.errors import HandrailError
from tui.app_keys import AppKeys
from tui.attention import Attention
from tui.keys import APP_KEYS, MAIN_KEYS, key_labels
from tui.line_filter import SafeLineFilter
from tui.panes.first import FirstPane
from tui.safe_text import safe_text
from tui.screens.main import MainScreen
from tui.session_host import SessionHost
from tui.theme_register import register_theme
from tui.widgets.composer import Composer

if TYPE_CHECKING:
    from textual.binding import BindingType
    from textual.screen import Screen
    from textual.timer import Timer

    from core.run_view import RunView
    from tui.crash import InternalError
    from tui.decision_desk import DecisionDesk
    from tui.session_port import LookAround, OpenSession
    from tui.view_changed import ViewChanged

TWICE_S: Final = 1.0
"""Ctrl+C twice within this time ends the app."""
TICK_S: Final = 1.0
"""While a run goes on, running times are brought up to date this often; otherwise never."""
OPEN_AFTER_S: Final = 0.05
"""The session is opened this long after the first paint, so that the first keys are echoed before anything else."""
SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
"""Signals that end the app in an orderly way, with the terminal as it was.

Source: by default Textual dies of the first two and leaves the terminal in the alternate screen with mouse reports on.
"""


class HandrailApp(AppKeys, App[None]):
    """Shows one session."""

    TITLE = "handrail"
    CSS_PATH = "screens/main.tcss"  # Textual loads no sheet of a default screen itself
    BINDINGS: ClassVar["list[BindingType]"] = [*APP_KEYS]

    def __init__(
        self,
        open_session: "OpenSession",
        *,
        theme: str = "handrail-dark",
        task: str | None = None,
        findings: "LookAround | None" = None,
        keys: Mapping[str, str] | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make the app; nothing is opened before the first paint.

        Args:
            open_session: Opens the session.
            theme: Name of the theme.
            task: Sent as soon as the session is open.
            findings: Looks for what is there, for the first screen.
            keys: Other keys: binding id -> keys.
            monotonic: A clock, the same as that of `Key.time`.

        Raises:
            ConfigError: There is no such theme.
        """
        super().__init__()
        self.animation_level = "none"
        # One filter instead of Textual's: a second one would copy every line of the screen once more, and no
        # colour here is one of the terminal's sixteen.
        others = [each for each in self._filters if not isinstance(each, ANSIToTruecolor)]
        self._filters = [SafeLineFilter(), *others]
        self.set_reactive(App.theme, register_theme(self, theme))
        self.stylesheet.set_variables(self.get_css_variables())
        self.host = SessionHost(self.post_message, self.report, monotonic=monotonic)
        self.desk: DecisionDesk | None = None
        self.crash: InternalError | None = None
        """Set when a bug ended the app; for whoever started it to report."""
        self.keys = dict(keys or {})
        self._open_session = open_session
        self._look_around = findings
        self.monotonic = monotonic
        self._last_copy_s = float("-inf")
        self._is_closing = False
        self._attention = Attention()
        self._ticker: Timer | None = None
        if task:
            self.host.send(task)

    @property
    def main(self) -> MainScreen:
        """The main screen, at the bottom of the stack."""
        screen = self.screen_stack[0]
        assert isinstance(screen, MainScreen)
        return screen

    def get_default_screen(self) -> MainScreen:
        """Return the main screen."""
        return MainScreen()

    def get_system_commands(self, screen: "Screen[object]") -> Iterable[SystemCommand]:
        """Offer every key that works everywhere by name, and the profiles."""
        for binding in (*MAIN_KEYS, *APP_KEYS):
            if binding.id == "app.palette":
                continue
            keys = key_labels(self.keys.get(binding.id or "", binding.key))
            act = partial(
                self.run_action, binding.action, self.main if binding in MAIN_KEYS else self
            )
            yield SystemCommand(f"{binding.description}: {binding.tooltip}", keys, act)
        from tui.profile_choice import profile_commands  # off the start path

        yield from profile_commands(self)

    def on_mount(self) -> None:
        """Open the session once the screen is painted."""
        self.set_keymap(self.keys)
        self._ticker = self.set_interval(TICK_S, self._tick, pause=True)
        if not self.is_headless:
            loop = asyncio.get_running_loop()
            for number in SIGNALS:
                loop.add_signal_handler(number, self.end, 128 + number)
        self.call_after_refresh(self.set_timer, OPEN_AFTER_S, self.take_session)

    async def on_event(self, event: events.Event) -> None:
        """Note keys and reports of focus for the dialogs, before anything is done with them."""
        if self.desk is not None and not event.is_forwarded:
            if isinstance(event, events.Key | events.Paste):
                self.desk.note_key(event.time)
            elif isinstance(event, events.AppFocus):
                self.desk.note_focus_in()
        await super().on_event(event)

    @work(group="session", exit_on_error=False)
    async def take_session(self, open_session: "OpenSession | None" = None) -> None:
        """Open the session, or the one given instead, and look for what is there."""
        await self.main.furnish()
        try:
            session = await self.host.open(open_session or self._open_session)
        except HandrailError as error:
            self.report(error)
        else:
            await self.main.take_session(session)
        if self._look_around is not None:
            self.main.show_findings(await self._look_around())
        self.call_after_refresh(_settle_in)

    def on_view_changed(self, message: "ViewChanged") -> None:
        """Show what changed."""
        host, view = self.host, message.view
        if host.session is None or host.pump is None or view is not host.pump.view:
            return
        if self.desk is None or self.desk.queue is not view.decisions:
            from tui.app_desk import make_desk  # off the start path

            self.desk = make_desk(self, host.session, view.decisions)
            self.main.composer.remember(asked_before(view))
        host.note_entered(view.conversation.steered)
        self.main.show(view, message.parts, host.now_s())
        self.main.queued.show(host.queued)
        if "decisions" in message.parts:
            self.desk.update()
        if self._attention.is_due(view) and not self.app_focus:
            self.bell()
        if self._ticker is not None:
            is_moving = view.header.phase == "running" and not view.decisions.open
            (self._ticker.resume if is_moving else self._ticker.pause)()

    @on(Composer.Sent)
    def send(self, message: Composer.Sent) -> None:
        """Give what the person wrote to the session."""
        self.host.send(message.text)
        self.main.queued.show(self.host.queued)

    @on(FirstPane.FixChosen)
    @work(group="session", exit_on_error=False)
    async def fix(self, message: FirstPane.FixChosen) -> None:
        """Do what a row of the first screen offers, then look again; a model that is there now gets a new session."""
        act = message.finding.act
        if act is None or self._look_around is None:
            return
        try:
            self.notify(safe_text(await act()), markup=False)
        except HandrailError as error:
            self.report(error)
        findings = await self._look_around()
        if findings.has_model and not self.main.first.has_model:
            await self._start_over("model chosen")
            self.take_session()
        else:
            self.main.show_findings(findings)

    @on(FirstPane.Written)
    def write_on(self, message: FirstPane.Written) -> None:
        """Put what was typed on the first screen where it belongs, and let the rest follow it."""
        self.main.set_focus(self.main.composer)
        self.main.composer.write(message.text)

    @on(FirstPane.TourChosen)
    @work(group="session", exit_on_error=False)
    async def start_tour(self, message: FirstPane.TourChosen) -> None:
        """Close the session and open that of the tour on an empty screen."""
        await self._start_over("tour")
        self._look_around = None
        self.take_session(message.open_session)

    async def _start_over(self, reason: str) -> None:
        await self.host.close(reason)
        self.desk = None
        await self.main.start_over()

    @on(events.Click, "#decision-banner")
    def open_decision(self) -> None:
        """Open the decision that the banner tells of."""
        self.action_open_decision()

    def report(self, error: HandrailError) -> None:
        """Show what went wrong outside the session's own log."""
        if self._is_closing:
            return
        self.main.first.show_problem(error)
        self.notify(safe_text(error.line()), severity="error", markup=False, timeout=20)

    @work(group="end", exit_on_error=False)
    async def end(self, return_code: int = 0) -> None:
        """Close the session and leave; a second time, leave at once."""
        if not self._is_closing:
            self._is_closing = True
            await self.host.close("quit" if not return_code else "signal")
        self.exit(return_code=return_code)

    async def action_quit(self) -> None:
        """End the session and leave."""
        self.end()

    def action_copy_or_interrupt(self) -> None:
        """Copy the selection, else stop the run; twice within a second, leave."""
        selected = getattr(self.focused, "selected_text", "") or self.screen.get_selected_text()
        if selected:
            self.copy_to_clipboard(selected)
            return
        now_s = self.monotonic()
        if now_s - self._last_copy_s <= TWICE_S:
            self.end()
        elif not self.host.interrupt():
            self.notify("Ctrl+C once more ends Handrail.", markup=False, timeout=2)
        self._last_copy_s = now_s

    def _tick(self) -> None:
        self.main.tick(self.host.now_s())

    def _fatal_error(self) -> None:
        """Leave after a bug without printing any value: there may be secrets among them."""
        from tui.crash import kept_crash

        if self._exception is not None:
            self.crash = kept_crash(self._exception)
        self._close_messages_no_wait()


def asked_before(view: "RunView") -> list[str]:
    """Return what the person asked for so far, oldest first."""
    return [
        block.text
        for block in view.conversation.blocks
        if block.kind == "user" and block.author == "user"
    ]


def _settle_in() -> None:
    """Do what nobody waits for any more: import what the first decision needs, and leave start-up objects alone.

    Garbage collection may have been off since the start, as that makes the start a tenth faster.
    """
    for name in ("approval", "question"):
        import_module(f"tui.screens.{name}")
    gc.freeze()
    gc.enable()
