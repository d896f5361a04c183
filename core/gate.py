"""Open decisions: approvals and questions that wait for a person.

The only thing that resolves one is `answer`; a call that goes away withdraws its own; with nobody there they are
refused at once. Nothing here knows keys, dialogs or time.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from core.decision import ApprovalPrompt, DecisionClosed, DecisionOpened, QuestionPrompt
from core.ports import Answer, EventSink

APPROVALS = frozenset({"approved", "edited", "denied", "denied_pause"})
"""Resolutions that fit an approval."""
REPLIES = frozenset({"answered", "declined"})
"""Resolutions that fit a question."""
NOBODY = Answer(resolution="denied", decided_by="nobody", text="Nobody is there to decide.")
"""The answer to an approval when nobody is there."""
NOBODY_REPLIES = Answer(resolution="declined", decided_by="nobody", text="")
"""The answer to a question when nobody is there."""


@dataclass(slots=True)
class OpenDecision:
    """A decision that waits."""

    decision_id: str
    prompt: ApprovalPrompt | QuestionPrompt
    future: asyncio.Future[Answer]


class Gate:
    """Holds open decisions by id, in the order they were opened."""

    def __init__(self, record: EventSink, *, attended: bool, asked_before: int = 0) -> None:
        """Make a gate.

        Args:
            record: Takes the facts.
            attended: Whether a person can answer; if not, each decision is refused at once.
            asked_before: Decisions of earlier parts of the session, so that no id comes twice.
        """
        self._record = record
        self._attended = attended
        self._open: dict[str, OpenDecision] = {}
        self._opened = asked_before

    @property
    def open(self) -> Mapping[str, OpenDecision]:
        """Open decisions by id, oldest first."""
        return self._open

    async def ask(self, prompt: ApprovalPrompt | QuestionPrompt) -> Answer:
        """Open a decision and wait until it is resolved; cancelling withdraws it."""
        self._opened += 1
        decision_id = f"d{self._opened}-{prompt.call_id}"
        self._record(DecisionOpened(decision_id=decision_id, prompt=prompt))
        if not self._attended:
            answer = NOBODY if isinstance(prompt, ApprovalPrompt) else NOBODY_REPLIES
            self._close(decision_id, answer)
            return answer
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._open[decision_id] = OpenDecision(decision_id, prompt, future)
        try:
            return await future
        except asyncio.CancelledError:
            self._close(decision_id, Answer(resolution="withdrawn", decided_by=""))
            raise
        finally:
            self._open.pop(decision_id, None)

    def answer(self, decision_id: str, answer: Answer) -> bool:
        """Resolve an open decision.

        Args:
            decision_id: From `DecisionOpened`.
            answer: An approval must carry the digest that was shown.

        Returns:
            False when it is not open any more, or the answer does not fit what was asked.
        """
        waiting = self._open.get(decision_id)
        if waiting is None or waiting.future.done() or not self._fits(waiting.prompt, answer):
            return False
        self._close(decision_id, answer)
        waiting.future.set_result(answer)
        return True

    @staticmethod
    def _fits(prompt: ApprovalPrompt | QuestionPrompt, answer: Answer) -> bool:
        if isinstance(prompt, QuestionPrompt):
            return answer.resolution in REPLIES
        if (answer.arguments is not None) != (answer.resolution == "edited"):
            return False
        if answer.resolution == "edited" and not prompt.editable:
            return False
        if answer.resolution == "approved":
            return answer.digest == prompt.digest
        return answer.resolution in APPROVALS

    def _close(self, decision_id: str, answer: Answer) -> None:
        self._record(
            DecisionClosed(
                decision_id=decision_id,
                resolution=answer.resolution,
                decided_by=answer.decided_by,
                text=answer.text,
                arguments=answer.arguments,
                digest=answer.digest,
                key=answer.key,
            )
        )
