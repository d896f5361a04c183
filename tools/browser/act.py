"""An action under way, and what Playwright's errors mean in our words."""

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeAlias

from core.errors import BrowserError
from tools.browser.arguments import BrowserArguments
from tools.browser.faults import first_line, page_faults
from tools.browser.session import BrowserSession
from tools.browser.settle import race_dialog
from tools.browser.tab import Tab

ACT_LIMIT_S = 8.0


@dataclass(frozen=True, slots=True)
class Act:
    """One action under way."""

    session: BrowserSession
    tab: Tab
    wish: BrowserArguments

    async def on_page(self, work: Coroutine[Any, Any, Any], limit_s: float = ACT_LIMIT_S) -> Any:
        """Do something on the page unless a dialog opens first; Playwright's errors become ours."""
        try:
            return await race_dialog(self.tab, work, limit_s)
        except page_faults() as error:
            raise explained(error) from error


Doer: TypeAlias = Callable[[Act], Awaitable[str]]


def explained(error: BaseException) -> BrowserError:
    """Turn what Playwright says into one line with a stable code."""
    blockers = [
        line.strip() for line in str(error).splitlines() if "intercepts pointer events" in line
    ]
    if blockers:
        blocker = blockers[-1].lstrip("- ").replace(" intercepts pointer events", "")[:160]
        return BrowserError(
            f"Another element covers it: {blocker}.",
            hint="Close or act on that one first.",
            code="covered",
        )
    text = str(error)
    if "crashed" in text:
        return BrowserError(
            "The page crashed.", hint="Open it again with go_to.", code="tab_crashed"
        )
    if "has been closed" in text:
        return BrowserError(
            "The tab or the browser was closed.", hint="Use go_to.", code="browser_gone"
        )
    if "Timeout" in text:
        reason = _last_reason(text)
        return BrowserError(
            f"It could not be done in time{reason}.",
            hint="Use read to see the page.",
            code="timeout",
        )
    return BrowserError(f"The browser answered: {first_line(error)}.", code="browser")


def _last_reason(text: str) -> str:
    reasons = [line.strip(" -") for line in text.splitlines() if "element is not" in line]
    return f": {reasons[-1]}" if reasons else ""
