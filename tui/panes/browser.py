"""The Browser pane: the page as the agent saw it last, picture and numbered elements side by side."""

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from textual import getters, on
from textual.containers import Container, Vertical
from textual.content import Content
from textual.widgets import Static

from core.run_view import RunView
from core.view.browser import BrowserView
from tui.keys_panes import BROWSER_KEYS
from tui.panes import browser_rows
from tui.screens.text_view import TextViewScreen
from tui.widgets.line_view import RowList
from tui.widgets.picture_view import Picture, PictureView

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType

BESIDE_CELLS: Final = 90
"""From this width on, picture and list stand beside each other."""
BrowserLayout = Literal["both", "list", "picture"]
LAYOUTS: Final[tuple[BrowserLayout, ...]] = ("both", "list", "picture")


class BrowserPane(Vertical):
    """Address, picture, elements, last action with its effect, messages and hosts."""

    PANE_ID: ClassVar = "browser"
    PANE_TITLE: ClassVar = "Browser"
    BINDINGS: ClassVar["list[BindingType]"] = [*BROWSER_KEYS]
    DEFAULT_CSS = """
    BrowserPane {
        & > Static { height: auto; max-height: 3; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
        & > #browser-body { height: 1fr; layout: vertical; }
        & #browser-picture { height: 3fr; background: $surface; }
        & #browser-elements { height: 2fr; min-height: 3; padding: 0 1; }
        &.-beside > #browser-body { layout: horizontal; }
        &.-beside #browser-picture { width: 3fr; height: 1fr; }
        &.-beside #browser-elements { width: 2fr; height: 1fr; }
        &.-list #browser-picture, &.-picture #browser-elements { display: none; }
        &.-empty > #browser-body { display: none; }
    }
    """

    picture = getters.query_one("#browser-picture", PictureView)
    elements = getters.query_one("#browser-elements", RowList)

    def __init__(self) -> None:
        """Make a pane that knows of no page yet."""
        super().__init__(classes="-both -empty")
        self._browser = BrowserView()
        self._revision = -1
        self._layout: BrowserLayout = "both"
        self._zoomed = False

    def compose(self) -> "ComposeResult":
        """Lay out head, picture, list and foot."""
        yield Static(id="browser-head")
        with Container(id="browser-body"):
            yield PictureView(id="browser-picture")
            yield RowList(id="browser-elements")
        yield Static(id="browser-foot")

    def show(self, view: RunView) -> None:
        """Show the newest look at the page."""
        browser = view.browser
        if browser.revision == self._revision:
            return
        is_new_page = browser.snapshot != self._browser.snapshot
        self._browser, self._revision = browser, browser.revision
        self.set_class(not browser.snapshot, "-empty")
        self.query_one("#browser-head", Static).update(browser_rows.head_content(browser))
        self.query_one("#browser-foot", Static).update(browser_rows.foot_content(browser))
        self._zoomed = self._zoomed and not is_new_page
        self.elements.show_rows(len(browser.elements), self._draw_element)
        self._show_picture()

    def on_resize(self, event: "events.Resize") -> None:
        """Put picture and list beside each other where there is room."""
        self.set_class(event.size.width >= BESIDE_CELLS, "-beside")

    @on(RowList.Moved, "#browser-elements")
    def mark_element(self) -> None:
        """Mark the element under the cursor on the picture."""
        self._show_picture()

    @on(RowList.Chosen, "#browser-elements")
    def action_zoom(self) -> None:
        """Show the part of the page around the element, or all of it again."""
        self._zoomed = not self._zoomed
        self._show_picture()

    def action_layout(self) -> None:
        """Go on from picture and list to the list alone to the picture alone."""
        self._layout = LAYOUTS[(LAYOUTS.index(self._layout) + 1) % len(LAYOUTS)]
        for name in LAYOUTS:
            self.set_class(name == self._layout, f"-{name}")
        is_alone = self._layout == "picture"
        self.picture.can_focus = is_alone
        (self.picture if is_alone else self.elements).focus()

    def action_details(self) -> None:
        """Show all elements, actions, messages and hosts as text."""
        lines = browser_rows.detail_lines(self._browser)
        self.app.push_screen(TextViewScreen(self._browser.url or "Browser", lines))

    def _draw_element(self, row: int, width_cells: int) -> Content:
        return browser_rows.element_row(self._browser.elements[row], width_cells)

    def _show_picture(self) -> None:
        shot, elements = self._browser.screenshot, self._browser.elements
        if shot is None:
            self.picture.show_picture(None, "no picture of this page")
            return
        at = self.elements.cursor_row
        crop = None
        if self._zoomed and at < len(elements):
            crop = browser_rows.zoom_box(elements[at])
        marks = browser_rows.marks(elements, at)
        self.picture.show_picture(Picture(path=Path(shot.path), marks=marks, crop=crop))
