"""The smallest Textual app with a place to type: what `start` and `idle` are compared with."""

from textual.app import App, ComposeResult
from textual.widgets import Input


class EmptyApp(App[None]):
    """One line to type in."""

    def compose(self) -> ComposeResult:
        """Show the line."""
        yield Input(placeholder="READY")


if __name__ == "__main__":
    EmptyApp().run()
