"""What the keys of the app do; `tui.app.HandrailApp` has these actions through `AppKeys`."""

from typing import TYPE_CHECKING, Any, Protocol

from tui.theme_register import next_theme, register_theme

if TYPE_CHECKING:
    from textual.screen import Screen

    from tui.decision_desk import DecisionDesk
    from tui.screens.main import MainScreen
    from tui.session_host import SessionHost


class HasSession(Protocol):
    """What the actions work on."""

    host: "SessionHost"
    desk: "DecisionDesk | None"
    keys: dict[str, str]
    theme: Any

    @property
    def main(self) -> "MainScreen":
        """The main screen."""
        ...

    @property
    def screen(self) -> "Screen[object]":
        """The screen on top."""
        ...

    def push_screen(self, screen: "Screen[Any]", /) -> object:
        """Put a screen on top."""
        ...

    def register_theme(self, theme: Any, /) -> None:
        """Make a theme known."""
        ...


class AppKeys:
    """Actions on the session and on the screen."""

    def action_pause(self: HasSession) -> None:
        """Pause the run at the next step, or let it go on."""
        self.host.toggle_pause()

    def action_step_once(self: HasSession) -> None:
        """Take one step of a paused run."""
        self.host.step_once()

    def action_interrupt(self: HasSession) -> None:
        """Stop the run; without one, go back to the composer."""
        if not self.host.interrupt():
            self.main.composer.focus()

    def action_next_mode(self: HasSession) -> None:
        """Choose the next mode."""
        self.host.next_mode()

    def action_open_decision(self: HasSession) -> None:
        """Open the dialog of the oldest open decision."""
        if self.desk is not None:
            self.desk.open_by_key()

    def action_next_theme(self: HasSession) -> None:
        """Use the next theme."""
        self.theme = register_theme(self, next_theme(self.theme))

    def action_show_help(self: HasSession) -> None:
        """Show all keys, or go back from them."""
        from tui.screens.help import HelpScreen

        if isinstance(self.screen, HelpScreen):
            self.screen.dismiss()
        else:
            self.push_screen(HelpScreen(self.keys))
