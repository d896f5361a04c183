"""An approval dialog on the screen, with keys at given times and what came of them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from textual.widgets import Static

from core.decision import ApprovalPrompt
from tests.support.dialog_host import DecidingSession, DialogHost, Hand, dialog_context
from tui.screens.approval import ApprovalScreen


@dataclass
class Shown:
    session: DecidingSession
    app: DialogHost
    dialog: ApprovalScreen
    hand: Hand
    decision_id: str

    @property
    def rows(self) -> list[str]:
        """The rows of the call."""
        return [self.dialog.body.row_text(row) for row in range(self.dialog.body.row_count)]

    @property
    def resolution(self) -> str:
        answer = self.session.answers.get(self.decision_id)
        return answer.resolution if answer else ""

    def says(self, part: str = "next") -> str:
        return str(self.dialog.query_one(f"#approval-{part}", Static).content)


@asynccontextmanager
async def shown(
    prompt: ApprovalPrompt,
    *others: ApprovalPrompt,
    size: tuple[int, int] = (80, 24),
    last_key_at_s: float | None = None,
    drafts: dict[str, str] | None = None,
) -> AsyncIterator[Shown]:
    session, app = DecidingSession(), DialogHost()
    async with app.run_test(size=size) as pilot:
        decision_id = await session.open(prompt)
        ids = [decision_id, *[await session.open(other) for other in others]]
        context = dialog_context(
            session, last_key_at_s=last_key_at_s, drafts={} if drafts is None else drafts
        )
        dialog = ApprovalScreen(session, decision_id, prompt, context=context)
        await app.show_dialog(dialog, pilot)
        yield Shown(session, app, dialog, Hand(pilot, session.clock), decision_id)
        for waiting in ids:
            await session.withdraw(waiting)
