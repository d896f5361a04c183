import json
from pathlib import Path

import pytest

from core.budget import Limits
from core.context.scoring import read_scores
from core.memory_events import MemoryScored
from core.messages import ModelReply, ModelRequest
from core.session import Session
from tests.support.fake_tools import EchoTool
from tests.support.opened import Opening, events_of
from tests.support.scripted_model import ScriptedModel, call, text


@pytest.mark.parametrize(
    ("answer", "scores"),
    [
        ('{"u1": 0.5, "u2": 1}', {"u1": 0.5, "u2": 1.0}),
        ('Here:\n```json\n{"u1": 7, "u2": -3}\n```', {"u1": 1.0, "u2": 0.0}),
        ('{"u1": "high", "u2": true, "u3": 0.2}', {"u3": 0.2}),
        ("u1: 0.5", {}),
        ("[1, 2]", {}),
        ("{", {}),
        ("", {}),
    ],
)
def test_scores_are_read_from_whatever_a_model_writes(
    answer: str, scores: dict[str, float]
) -> None:
    assert read_scores(answer) == scores


class JudgingModel(ScriptedModel):
    """Echoes twelve times; says of memory what the test wants."""

    def __init__(self, verdict: str) -> None:
        super().__init__(*[self._next] * 60)
        self.verdict = verdict
        self.steps = 0
        self.asked: list[ModelRequest] = []

    def _next(self, request: ModelRequest) -> ModelReply:
        if not request.tools:
            self.asked.append(request)
            shown = [
                line[1 : line.index("]")]
                for line in request.messages[0].text.split("\n")
                if line.startswith("[u")
            ]
            return text(
                self.verdict
                or json.dumps({name: 0.1 if n % 2 else 0.9 for n, name in enumerate(shown)})
            )
        self.steps += 1
        return text("done") if self.steps > 12 else call("echo", {"text": f"words {self.steps}"})


async def judged(folder: Path, model: JudgingModel, threshold: float = 0.5) -> Session:
    opening = Opening(folder, model, [EchoTool()])
    opening.relevance_threshold, opening.limits = threshold, Limits(max_steps=0)
    session = opening.session()
    assert (await session.run("The task")).answer == "done"
    return session


def scored(session: Session) -> list[MemoryScored]:
    return [event for event in events_of(session) if isinstance(event, MemoryScored)]


async def test_units_below_the_threshold_are_left_out_whole_and_the_order_is_kept(
    tmp_path: Path,
) -> None:
    model = JudgingModel("")
    session = await judged(tmp_path, model)
    left_out = {name for event in scored(session) for name in event.left_out}
    assert len(left_out) >= 3
    rows = session.next_request().rows
    assert {row.unit_id for row in rows if "unfit" in row.flags} == left_out
    assert "a model gave it 0.10" in next(row.why for row in rows if "unfit" in row.flags)
    sent = [message.text for message in model.requests[-1].messages]
    texts = [int(words.split()[-1]) for words in sent if words.startswith("words")]
    assert texts == sorted(texts)
    assert sent[0] == "The task"
    await session.close()


async def test_each_unit_is_scored_once_and_several_at_a_time(tmp_path: Path) -> None:
    model = JudgingModel("")
    session = await judged(tmp_path, model)
    names = [name for event in scored(session) for name in event.scores]
    assert len(names) == len(set(names))
    assert len(model.asked) <= 3
    await session.close()


async def test_the_newest_units_and_pins_are_never_judged(tmp_path: Path) -> None:
    model = JudgingModel("")
    session = await judged(tmp_path, model)
    newest = {unit.unit_id for unit in session.memory.units[-4:]}
    assert not newest & {name for event in scored(session) for name in event.scores}
    unfit = next(unit for unit in session.memory.units if unit.is_unfit)
    session.edit_memory("pin", unfit.unit_id)
    row = next(row for row in session.next_request().rows if row.unit_id == unfit.unit_id)
    assert row.sent
    await session.close()


@pytest.mark.parametrize("verdict", ["I cannot say.", "all"], ids=["no scores", "nothing passes"])
async def test_everything_is_kept_where_nothing_passes_or_no_scores_come(
    tmp_path: Path, verdict: str
) -> None:
    model = JudgingModel("" if verdict == "all" else verdict)
    session = await judged(tmp_path, model, threshold=1.0 if verdict == "all" else 0.5)
    events = scored(session)
    assert events
    assert all(event.problem and not event.left_out for event in events)
    assert all(row.sent for row in session.next_request().rows)
    await session.close()


async def test_nothing_is_asked_unless_the_profile_wants_it(tmp_path: Path) -> None:
    model = JudgingModel("")
    session = await judged(tmp_path, model, threshold=0.0)
    assert model.asked == []
    assert scored(session) == []
    await session.close()
