"""What the conversation shows before anything was said: what was found on this machine, and the key that mends it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from tui.safe_text import safe_text
from tui.wrapping import wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events

    from core.errors import HandrailError
    from core.view.decisions import Notice
    from tui.session_port import Finding, Findings, OpenSession

TOUR_KEY: Final = "t"
_MARKS: Final = {
    "ok": ("✓", "$text-success"),
    "missing": ("✗", "$text-error"),
    "partly": ("!", "$text-warning"),
}
_NOTICE_MARKS: Final = {
    "info": ("· ", "$text-muted"),
    "warning": ("! ", "$text-warning"),
    "error": ("✗ ", "$text-error"),
}
MAX_NOTICES: Final = 3
_NAME_CELLS: Final = 18
_BLANK: Final = Content("")
_WELCOME: Final = "Say what should be done. Nothing risky happens without your key press."
_LOOKING: Final = "Looking at what is here …"
_NO_MODEL: Final = "Without a model no task can be done yet."
_KEYS_AWAY: Final = "Tab leads here: what you type goes to the line below."
_TOUR: Final = "a scripted tour: the real loop, tools and dialogs, no model needed"


class FirstPane(Widget, can_focus=True):
    """Rows of findings; each missing one names one key."""

    DEFAULT_CSS = "FirstPane { height: 1fr; padding: 1 2; overflow-y: auto; }"

    @dataclass
    class FixChosen(Message):
        """The person pressed the key of a row."""

        finding: "Finding"

    @dataclass
    class TourChosen(Message):
        """The person wants the tour."""

        open_session: "OpenSession"

    @dataclass
    class Written(Message):
        """The person writes instead of pressing the key of a row."""

        text: str

    def __init__(self) -> None:
        """Make it before anything is known."""
        super().__init__(id="first")
        self._is_writing = False
        """Whether a text was begun here and the composer has yet to take focus."""
        self._findings: Findings | None = None
        self._problem: HandrailError | None = None
        self._notices: tuple[Notice, ...] = ()

    def show_notices(self, notices: "Sequence[Notice]") -> None:
        """Show what the person should know before anything is said."""
        if len(notices) != len(self._notices):
            self._notices = tuple(notices)
            self.refresh(layout=True)

    @property
    def has_model(self) -> bool:
        """Whether a model was found when it was last looked for."""
        return self._findings is not None and self._findings.has_model

    def show_problem(self, error: "HandrailError") -> None:
        """Show why there is no session."""
        self._problem = error
        self.refresh(layout=True)

    def show_findings(self, findings: "Findings") -> None:
        """Show what was found."""
        self._findings = findings
        self.refresh(layout=True)

    def render(self) -> Content:
        """Return what was found, and what can be done."""
        width = self.content_size.width or 80
        said = notice_rows(self._notices, width)
        content = first_content(self._findings, self._problem, width, takes_keys=self.has_focus)
        return Content("\n").join([*said, content]) if said else content

    def on_key(self, event: "events.Key") -> None:
        """Act on the key of a row; any other letter begins a text, so all that follow belong to it."""
        chosen = None if self._is_writing else self._chosen(event.key)
        if chosen is not None:
            event.stop()
            self.post_message(chosen)
        elif event.is_printable and event.character:
            event.stop()
            self._is_writing = True
            self.post_message(self.Written(event.character))

    def on_paste(self, event: "events.Paste") -> None:
        """Pass a pasted text on."""
        event.stop()
        self.post_message(self.Written(event.text))

    def on_focus(self) -> None:
        """Take the keys of the rows again."""
        self._is_writing = False
        self.refresh(layout=True)

    def on_blur(self) -> None:
        """Say that the keys of the rows go elsewhere."""
        self.refresh(layout=True)

    def _chosen(self, key: str) -> Message | None:
        findings = self._findings
        if findings is None:
            return None
        if key == TOUR_KEY and findings.tour is not None:
            return self.TourChosen(findings.tour)
        rows = (row for row in findings.rows if row.key == key and row.act is not None)
        row = next(rows, None)
        return None if row is None else self.FixChosen(row)


def notice_rows(notices: "Sequence[Notice]", width_cells: int) -> list[Content]:
    """Return the newest notices as rows, with a blank row behind them."""
    rows: list[Content] = []
    for notice in notices[-MAX_NOTICES:]:
        mark, style = _NOTICE_MARKS[notice.level]
        rows += _hanging(mark, style, safe_text(notice.text), "", width_cells)
        if notice.hint:
            rows += _hanging("  ", "", safe_text(notice.hint), "$text-muted", width_cells)
    return [*rows, _BLANK] if rows else []


def first_content(
    findings: "Findings | None",
    problem: "HandrailError | None" = None,
    width_cells: int = 80,
    *,
    takes_keys: bool = True,
) -> Content:
    """Return the first screen as text.

    Args:
        findings: What was found, None while it is looked for.
        problem: Why there is no session.
        width_cells: Cells of a row.
        takes_keys: Whether the keys of the rows arrive here, else it is said how they do.
    """
    rows = [*_hanging("", "", _WELCOME, "bold", width_cells), _BLANK]
    if problem is not None:
        rows += _hanging(
            "✗ ", "$text-error", safe_text(problem.message), "$text-error", width_cells
        )
        rows += _hanging("  ", "", safe_text(problem.hint), "", width_cells) if problem.hint else []
        rows.append(_BLANK)
    if findings is None:
        return Content("\n").join(
            [*rows, *([] if problem else [Content(_LOOKING).stylize("$text-muted")])]
        )
    for finding in findings.rows:
        rows += _finding_rows(finding, width_cells)
    rows.append(_BLANK)
    if not findings.has_model:
        rows += _hanging("", "", _NO_MODEL, "$text-warning", width_cells)
    if findings.tour is not None:
        rows += _hanging(f"{TOUR_KEY}  ", "bold $text-accent", _TOUR, "", width_cells)
    has_keys = findings.tour is not None or any(row.act is not None for row in findings.rows)
    if has_keys and not takes_keys:
        rows += _hanging("", "", _KEYS_AWAY, "$text-muted", width_cells)
    return Content("\n").join(rows)


def _finding_rows(finding: "Finding", width: int) -> list[Content]:
    mark, style = _MARKS[finding.state]
    label = f"{mark} {safe_text(finding.name, single_line=True):<{_NAME_CELLS}}"
    rows = _hanging(label, style, safe_text(finding.text, single_line=True), "", width)
    if finding.fix:
        label = " " * (_NAME_CELLS + 2) + (f"{finding.key}  " if finding.key else "")
        rows += _hanging(
            label, "bold $text-accent", safe_text(finding.fix, single_line=True), "", width
        )
    return rows


def _hanging(label: str, label_style: str, text: str, style: str, width: int) -> list[Content]:
    """Return a text beside its label; its further rows begin under its first one."""
    blank, first = Content(" " * len(label)), Content(label).stylize(label_style)
    wrapped = wrap(Content(text).stylize(style), max(width - len(label), 10))
    return [(blank if at else first) + row for at, row in enumerate(wrapped)]
