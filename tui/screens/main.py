"""The main screen: header, conversation, panes, composer and keys, laid out for the width there is."""

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, Final, Protocol, cast, get_args

from textual import getters, on
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Static

from tui.arming import MIN_HEIGHT, MIN_WIDTH
from tui.keys import MAIN_KEYS
from tui.pane_messages import CardAsked, CopyAsked, FullTextAsked, NewBelow
from tui.panes.first import FirstPane
from tui.screens.pane_choice import Layout, PaneChoice, layout_of
from tui.widgets.composer import Composer
from tui.widgets.decision_banner import DecisionBanner
from tui.widgets.header import HeaderLine
from tui.widgets.key_line import KeyLine
from tui.widgets.queued_line import QueuedLine
from tui.widgets.title_row import Shown, Tab, TitleRow

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from core.run_view import Parts, RunView
    from tui.panes.conversation import ConversationPane
    from tui.panes.steps import StepsPane
    from tui.session_port import Findings, SessionLike

TABS: Final = (
    Tab("conversation", "Conversation", ""),
    Tab("steps", "Steps", "F2"),
    Tab("memory", "Memory", "F3"),
    Tab("browser", "Browser", "F4"),
    Tab("sandbox", "Sandbox", "F5"),
)
PANES: Final = {
    "steps": ("tui.panes.steps", "StepsPane"),
    "memory": ("tui.panes.memory", "MemoryPane"),
    "browser": ("tui.panes.browser", "BrowserPane"),
    "sandbox": ("tui.panes.sandbox", "SandboxPane"),
}
"""Panes beside the conversation; they are imported and mounted when they are first shown."""


class Pane(Protocol):
    """What a pane offers."""

    def show(self, view: "RunView") -> None:
        """Show the newest state."""
        ...


class MainScreen(Screen[None]):
    """Everything of a session at a glance."""

    AUTO_FOCUS = "Composer"
    BINDINGS: ClassVar["list[BindingType]"] = [*MAIN_KEYS]

    header = getters.query_one(HeaderLine)
    titles = getters.query_one(TitleRow)
    talk = getters.query_one("#talk", Vertical)
    side = getters.query_one("#side", Horizontal)
    first = getters.query_one(FirstPane)
    composer = getters.query_one(Composer)
    queued = getters.query_one(QueuedLine)
    banner = getters.query_one(DecisionBanner)

    def __init__(self) -> None:
        """Make the screen; Steps is the pane beside the conversation."""
        super().__init__()
        self._session: SessionLike | None = None
        """Set when it is open; panes beside Steps are mounted from then on."""
        self.choice = PaneChoice()
        self._view: RunView | None = None
        self._stale: set[str] = set()
        """Panes that were not visible when something changed."""
        self._new_below = 0

    def compose(self) -> "ComposeResult":
        """Lay out what the first paint needs, for the size there is."""
        self.choice.layout = layout_of(*self.app.size)
        self.add_class(f"-{self.choice.layout}")
        yield HeaderLine()
        yield TitleRow(TABS)
        with Horizontal(id="body"):
            with Vertical(id="talk") as talk:
                talk.display = "conversation" in self.choice.visible
                yield FirstPane()
            with Horizontal(id="side") as side:
                side.display = bool(self.choice.panes)
        yield QueuedLine()
        yield DecisionBanner()
        with Horizontal(id="write"):
            yield Static("> ", id="prompt", markup=False)
            yield Composer()
        yield KeyLine()
        yield Static(id="too-small", markup=False)

    async def furnish(self) -> None:
        """Put in what only a session fills; after the first paint, so that the prompt is there sooner."""
        conversation = await asyncio.to_thread(import_module, "tui.panes.conversation")
        await self.talk.mount(conversation.ConversationPane())
        await self._mount_pane("steps")
        await self._lay_out()

    async def on_resize(self, event: "events.Resize") -> None:
        """Lay out for another size."""
        layout = layout_of(*event.size)
        if layout != self.choice.layout or layout == "tiny":
            self.choice.layout = layout
            await self._lay_out()
        self.call_after_refresh(self._show_titles)

    async def start_over(self) -> None:
        """Empty the screen: another session takes over."""
        self._session = self._view = None
        self._stale.clear()
        self._new_below = 0
        self.choice = PaneChoice()
        self.remove_class("-talking")
        await self.recompose()
        self.composer.focus()

    async def take_session(self, session: "SessionLike") -> None:
        """Serve a session that is open now."""
        self._session = session
        await self._lay_out()

    def show(self, view: "RunView", parts: "Parts", now_s: float) -> None:
        """Show what changed; panes that are not visible are brought up to date when they are shown."""
        self._view = view
        self.header.show(view, now_s)
        if not self.has_class("-talking"):
            self.first.show_notices(view.notices.notices)
            if any(block.kind != "notice" for block in view.conversation.blocks):
                self._start_talk()
        self._stale |= parts
        self._refresh_panes()

    def tick(self, now_s: float) -> None:
        """Let running times grow."""
        if self._view is not None:
            self.header.show(self._view, now_s)
            steps = self.pane_of("steps")
            if steps is not None and "steps" in self.choice.visible:
                cast("StepsPane", steps).tick(now_s)

    def pane_of(self, pane_id: str) -> "Widget | None":
        """Return a pane that is mounted."""
        parent = self.talk if pane_id == "conversation" else self.side
        return next((pane for pane in parent.children if pane.id == pane_id), None)

    async def action_show_pane(self, pane_id: str) -> None:
        """Show a pane and give it focus; the pane that has focus gives it back to the composer."""
        pane = self.pane_of(pane_id)
        if pane is not None and pane.has_focus_within and pane_id in self.choice.visible:
            self.choice.choose("conversation")
            await self._lay_out()
            self.composer.focus()
            return
        self.choice.choose(pane_id)
        await self._lay_out()
        pane = self.pane_of(pane_id)
        if pane_id == "conversation" and not self.has_class("-talking"):
            pane = self.first
        focusable = next((widget for widget in _all_of(pane) if widget.focusable), None)
        if focusable is not None:
            focusable.focus()

    def show_findings(self, findings: "Findings") -> None:
        """Show what was found; without a model its keys are what one needs, so it takes focus."""
        self.first.show_findings(findings)
        if not findings.has_model and self.composer.is_empty and not self.has_class("-talking"):
            self.first.focus()

    @on(FullTextAsked)
    def show_full_text(self, message: FullTextAsked) -> None:
        """Show a text over the whole screen."""
        from tui.screens.text_view import TextViewScreen
        from tui.shown_lines import text_lines

        self.app.push_screen(TextViewScreen(message.title, text_lines(message.text)))

    @on(CopyAsked)
    def copy_text(self, message: CopyAsked) -> None:
        """Put a text on the clipboard."""
        self.app.copy_to_clipboard(message.text)
        self.notify(f"Copied {len(message.text)} characters.", markup=False, timeout=2)

    @on(CardAsked)
    async def show_card(self, message: CardAsked) -> None:
        """Show a row of the log in the conversation."""
        if "conversation" not in self.choice.visible:
            await self.action_show_pane("conversation")
        conversation = self.pane_of("conversation")
        if conversation is not None:
            cast("ConversationPane", conversation).reveal(message.n)

    @on(NewBelow)
    def show_new_below(self, message: NewBelow) -> None:
        """Say how much is below what is in view."""
        self._new_below = message.count
        self._show_titles()

    def _start_talk(self) -> None:
        had_focus = self.first.has_focus
        self.add_class("-talking")
        if had_focus:
            self.composer.focus()

    async def _lay_out(self) -> None:
        choice = self.choice
        for name in get_args(Layout):
            self.set_class(name == choice.layout, f"-{name}")
        if choice.layout == "tiny":
            has_decision = self._view is not None and bool(self._view.decisions.open)
            text = too_small_text(*self.size, has_decision=has_decision)
            self.query_one("#too-small", Static).update(Content(text))
        for pane_id in choice.panes:
            await self._mount_pane(pane_id)
        for pane in self.side.children:
            pane.set_class(pane.id in choice.panes, "-shown")
            pane.set_class(len(choice.panes) > 1 and pane.id != "steps", "-second")
        self.talk.display = "conversation" in choice.visible
        self.side.display = bool(choice.panes)
        self._refresh_panes()
        self.call_after_refresh(self._show_titles)

    async def _mount_pane(self, pane_id: str) -> None:
        if self.pane_of(pane_id) is not None or (self._session is None and pane_id != "steps"):
            return
        module, name = PANES[pane_id]
        pane_class = getattr(import_module(module), name)
        pane: Widget = pane_class(self._session) if pane_id == "memory" else pane_class()
        pane.id = pane_id
        await self.side.mount(pane)
        self._stale.add(pane_id)

    def _refresh_panes(self) -> None:
        if self._view is None:
            return
        for pane_id in self._stale & self.choice.visible:
            pane = self.pane_of(pane_id)
            if pane is not None:
                cast("Pane", pane).show(self._view)
                self._stale.discard(pane_id)

    def _show_titles(self) -> None:
        split = self.talk.size.width if self.choice.layout in ("two", "three") else 0
        self.titles.show(Shown(split, self.choice.visible, self._new_below))


def too_small_text(width_cells: int, height_cells: int, *, has_decision: bool) -> str:
    """Return what a screen that is too small says."""
    lines = [
        f"This window has {width_cells}x{height_cells} cells.",
        f"Handrail needs {MIN_WIDTH}x{MIN_HEIGHT}; 80x24 is good.",
    ]
    if has_decision:
        lines.append("A decision waits; nothing can be approved at this size.")
    return "\n".join(lines)


def _all_of(pane: "Widget | None") -> "list[Widget]":
    """Return a pane and all widgets in it."""
    return [] if pane is None else [pane, *pane.query(Widget)]
