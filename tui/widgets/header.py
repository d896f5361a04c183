"""The first line: whose run it is, how far it got, what it costs, and what it waits for."""

from typing import TYPE_CHECKING, Final

from textual.content import Content
from textual.widget import Widget

from tui.call_text import clock, dollars
from tui.safe_text import safe_text

if TYPE_CHECKING:
    from core.run_view import RunView
    from core.view.header import HeaderView

MIN_TITLE_CELLS: Final = 12
"""The title gives way to the facts down to this width; then facts are left out."""
_MODES: Final = {
    "read": "$text-success",
    "ask": "$text-primary",
    "auto": "$text-warning",
    "full": "$text-error",
}
_SEPARATOR: Final = Content(" · ").stylize("$text-muted")
_LEFT_OUT_FIRST: Final = ("profile", "model", "tokens", "time", "cost", "step")
"""Facts in the order in which they give way on a narrow screen; mode and why stay."""


class HeaderLine(Widget):
    """One line over the whole width."""

    DEFAULT_CSS = "HeaderLine { height: 1; background: $panel; color: $text; padding: 0 1; }"

    def __init__(self) -> None:
        """Make a header that says that the session opens."""
        super().__init__(id="header")
        self._title = ""
        self._facts: dict[str, Content] = {"why": Content("opening the session")}
        self._scripted = False

    def show(self, view: "RunView", now_s: float) -> None:
        """Show the newest state.

        Args:
            view: The reduced log.
            now_s: The time now, on the clock of the records.
        """
        facts = header_facts(view, now_s)
        title = safe_text(view.header.title, single_line=True)
        if (facts, title, view.header.scripted) != (self._facts, self._title, self._scripted):
            self._facts, self._title, self._scripted = facts, title, view.header.scripted
            self.refresh()

    def render(self) -> Content:
        """Return the line for the width there is."""
        return header_line(
            self._title, self._facts, self.content_size.width, scripted=self._scripted
        )


def header_facts(view: "RunView", now_s: float) -> dict[str, Content]:
    """Return the facts in the order they are shown."""
    header = view.header
    facts = {
        "profile": Content(safe_text(header.profile, single_line=True)),
        "model": Content(safe_text(header.model, single_line=True) or "no model").truncate(
            24, ellipsis=True
        ),
        "mode": Content(header.mode.upper()).stylize(f"bold {_MODES[header.mode]}"),
    }
    if header.runs:
        facts["step"] = Content(
            f"step {header.step}/{header.max_steps}" if header.max_steps else f"step {header.step}"
        )
    if header.context_window:
        facts["tokens"] = Content(f"ctx {header.context_tokens * 100 // header.context_window}%")
    if cost := cost_fact(header):
        facts["cost"] = Content(cost)
    if header.runs:
        is_open = header.phase in ("running", "paused")
        facts["time"] = Content(
            clock(now_s - header.started_mono_s if is_open else header.duration_s)
        )
    why = safe_text(view.why_at(now_s), single_line=True)
    style = "$text-warning" if view.decisions.open or header.phase == "paused" else ""
    facts["why"] = Content(f"why: {why}" if header.phase == "running" else why).stylize(style)
    return facts


def cost_fact(header: "HeaderView") -> str:
    """Return what the run cost, beside its limit; a price that is not known is never shown as nothing."""
    if not header.is_cost_known:
        return "price unknown" if header.unpriced else ""
    limit = f"/{header.max_cost_usd:.2f}" if header.max_cost_usd else ""
    more = "+?" if header.unpriced else ""
    return f"{dollars(header.cost_usd)}{more}{limit}"


def header_line(
    title: str, facts: dict[str, Content], width_cells: int, *, scripted: bool = False
) -> Content:
    """Lay the facts out at the right of the title; what does not fit is left out, the least telling first."""
    name = Content.assemble(
        ("handrail", "bold $text-accent"), *([("  scripted tour", "bold")] if scripted else [])
    )
    shown = {key: fact for key, fact in facts.items() if fact.plain}
    room = width_cells - name.cell_length - 4
    title_cells = min(len(title), MIN_TITLE_CELLS)
    for key in _LEFT_OUT_FIRST:
        if _width(shown) + title_cells <= room:
            break
        shown.pop(key, None)
    right = _SEPARATOR.join(shown.values()).truncate(max(room, 4), ellipsis=True)
    room = max(width_cells - name.cell_length - right.cell_length - 4, 0)
    middle = Content(title).truncate(room, ellipsis=True) if room else Content("")
    gap = max(width_cells - name.cell_length - middle.cell_length - right.cell_length - 2, 1)
    return name + Content("  ") + middle + Content(" " * gap) + right


def _width(facts: dict[str, Content]) -> int:
    return sum(fact.cell_length for fact in facts.values()) + 3 * max(len(facts) - 1, 0)
