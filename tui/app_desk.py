"""What `tui.decision_desk` asks of the app, answered."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.widgets import Input, TextArea

from tui.decision_desk import DecisionDesk, is_large_enough

if TYPE_CHECKING:
    from textual.timer import Timer

    from core.view.decisions import DecisionsView
    from tui.app import HandrailApp
    from tui.screens.armed import ArmedScreen
    from tui.screens.dialog_end import DialogEnd
    from tui.session_port import SessionLike


class AppDesk:
    """The app as the desk sees it."""

    def __init__(self, app: "HandrailApp", queue: "DecisionsView") -> None:
        """Serve `app`, for the decisions of `queue`."""
        self._app = app
        self._queue = queue
        self._timer: Timer | None = None

    @property
    def is_free(self) -> bool:
        """Whether the main screen is on top and large enough for a dialog."""
        app = self._app
        return app.screen is app.main and is_large_enough(*app.size)

    @property
    def has_draft(self) -> bool:
        """Whether there is a draft in the composer, or in the field that has focus."""
        focused = self._app.focused
        if isinstance(focused, Input) and focused.value:
            return True
        if isinstance(focused, TextArea) and focused.text:
            return True
        return not self._app.main.composer.is_empty

    def open_dialog(
        self, dialog: "ArmedScreen", closed: "Callable[[DialogEnd | None], None]"
    ) -> None:
        """Put a dialog on the screen."""
        self._app.push_screen(dialog, closed)

    def look_again(self, after_s: float) -> None:
        """Consider the open decisions once more after a while."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self._app.set_timer(after_s, self._look)

    def put_back(self, text: str) -> None:
        """Put text that went nowhere into the composer."""
        self._app.main.composer.put_back(text)

    def show_banner(self) -> None:
        """Bring the banner up to date."""
        desk = self._app.desk
        self._app.main.banner.show(self._queue, is_hidden=desk is not None and desk.has_dialog)

    def _look(self) -> None:
        if self._app.desk is not None:
            self._app.desk.consider()


def make_desk(app: "HandrailApp", session: "SessionLike", queue: "DecisionsView") -> DecisionDesk:
    """Return the desk of a session."""
    return DecisionDesk(AppDesk(app, queue), session, queue, app.monotonic)
