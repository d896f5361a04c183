from pathlib import Path

from core.budget import Limits
from core.memory_events import CompactionEnded
from core.messages import ModelReply, ModelRequest
from core.run_view import RunView, reduce_all
from core.session import Session
from tests.support.fake_tools import EchoTool
from tests.support.opened import Opening, events_of
from tests.support.scripted_model import ScriptedModel, call, text

WORDS = "a line of words that is short enough to be kept whole "


class WorkingModel(ScriptedModel):
    """Echoes until it has done so `steps` times; gives a summary whenever it is asked for one."""

    window = 3000

    def __init__(self, steps: int, summary: ModelReply) -> None:
        super().__init__(*[self._next] * (steps + 40))
        self.steps = steps
        self.summary = summary
        self.done = 0

    def _next(self, request: ModelRequest) -> ModelReply:
        if not request.tools:
            return self.summary
        self.done += 1
        if self.done > self.steps:
            return text("done")
        return call("echo", {"text": f"{self.done} {WORDS * 3}"})


def summaries(session: Session) -> list[CompactionEnded]:
    return [event for event in events_of(session) if isinstance(event, CompactionEnded)]


async def worked(opening: Opening, model: WorkingModel) -> Session:
    opening.model, opening.tools = model, [EchoTool()]
    opening.limits = Limits(max_steps=0)
    session = opening.session()
    ended = await session.run("The task")
    assert ended.answer == "done"
    return session


async def test_a_long_run_goes_on_with_summaries_and_never_passes_the_window(
    tmp_path: Path,
) -> None:
    model = WorkingModel(120, text("Lines were echoed; nothing is open."))
    session = await worked(Opening(tmp_path, model), model)
    made = summaries(session)
    assert 2 <= len(made) <= 12
    limit = session.next_request().limit
    counted = [request for request in model.requests if request.tools]
    assert max(request.plain_tokens for request in counted) <= limit
    assert all(request.messages[0].text == "The task" for request in counted)
    cost = 0.001 * len(model.requests)
    view = RunView()
    reduce_all(view, session.log.records)
    assert round(view.header.session_cost_usd, 6) == round(cost, 6)
    await session.close()


async def test_without_a_summary_the_run_goes_on_all_the_same(tmp_path: Path) -> None:
    model = WorkingModel(80, ModelReply(outcome="empty"))
    session = await worked(Opening(tmp_path, model), model)
    tried = summaries(session)
    assert tried
    assert not any(event.summary for event in tried)
    assert len(tried) < 10
    await session.close()


async def test_a_resumed_session_asks_with_the_same_bytes_and_can_take_the_summary_back(
    tmp_path: Path,
) -> None:
    model = WorkingModel(60, text("Lines were echoed; nothing is open."))
    opening = Opening(tmp_path, model)
    session = await worked(opening, model)
    rows = [(row.unit_id, row.flags, row.text) for row in session.next_request().rows]
    assert any("summary" in flags for _, flags, _ in rows)
    await session.close()
    again = opening.session()
    assert [(row.unit_id, row.flags, row.text) for row in again.next_request().rows] == rows
    assert again.edit_memory("undo", "")
    flags = [flag for row in again.next_request().rows for flag in row.flags]
    assert flags.count("summary") == [f for _, fs, _ in rows for f in fs].count("summary") - 1
    await again.close()


async def test_the_screen_is_told_of_a_summary_with_before_and_after(tmp_path: Path) -> None:
    model = WorkingModel(60, text("Lines were echoed; nothing is open."))
    session = await worked(Opening(tmp_path, model), model)
    view = RunView()
    reduce_all(view, session.log.records)
    notice = next(one for one in view.notices.notices if one.code == "memory_summary")
    assert "units summarised" in notice.text
    assert view.memory.summaries == len(summaries(session))
    row = next(row for row in session.next_request().rows if "summary" in row.flags)
    assert row.stands_for > 1
    assert "a line of words" in row.original
    await session.close()
