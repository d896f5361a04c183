"""Runs without the screen on the real session, with doubles for model, tools and policy."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from core.decision import DecisionClosed
from core.errors import ConfigError, ModelRefusedError
from core.events import ErrorInfo, Event, ModelRetried, RunEnded, ToolEnded
from core.guard_events import LoopNoticed
from core.ports import Model, Places, Tool
from core.record import Record
from core.session import Session, SessionParts, SessionSettings
from tests.support.fake_tools import EchoTool, FakePolicy, HangingTool
from tests.support.scripted_model import HangingModel, ScriptedModel, call, text
from tools.ask_human import AskHuman
from tui.answers import PreparedAnswer, PreparedAnswers
from tui.crash import explained_crash
from tui.headless import HeadlessRun, NobodyThere
from tui.run_report import JsonReport, TextReport


class KeptReport:
    """Keeps what it is given."""

    reader_gone = False

    def __init__(self, on_record: Callable[[Record], None] | None = None) -> None:
        self.records: list[Record] = []
        self.on_record = on_record

    def take(self, record: Record) -> None:
        self.records.append(record)
        if self.on_record:
            self.on_record(record)

    def close(self, timeout_s: float | None = None) -> None:
        pass

    def of(self, kind: type) -> list[Record]:
        return [record for record in self.records if isinstance(record.event, kind)]

    @property
    def ended(self) -> RunEnded:
        event = self.records[-1].event
        assert isinstance(event, RunEnded)
        return event


class Opener:
    """Opens a session of doubles."""

    def __init__(
        self, folder: Path, model: Model | None, *tools: Tool, attended: bool = True
    ) -> None:
        self.folder = folder
        self.model = model
        self.tools = tools
        self.attended = attended
        self.policy = FakePolicy()
        self.session: Session | None = None

    async def __call__(self) -> Session:
        (self.folder / "workspace").mkdir(exist_ok=True)
        self.session = Session(
            SessionParts(
                settings=SessionSettings(session_id="s", version="0", system="Be brief."),
                places=Places(workspace=self.folder / "workspace", session=self.folder / "session"),
                model=self.model,
                tools=self.tools,
                policy=self.policy,
                attended=self.attended,
                explain_defect=explained_crash,
            )
        )
        return self.session


async def play(report: KeptReport, opener: Opener, answers: PreparedAnswers | None = None) -> int:
    responder = NobodyThere(answers or PreparedAnswers())
    return await HeadlessRun(report, responder).play(opener, "do it")


async def test_an_answer_is_exit_code_0_and_the_last_event(tmp_path: Path) -> None:
    report = KeptReport()
    opener = Opener(
        tmp_path, ScriptedModel(call("echo", {"text": "hi"}), text("Done.")), EchoTool()
    )
    assert await play(report, opener) == 0
    assert report.ended.answer == "Done."
    assert [record.n for record in report.records] == list(range(1, len(report.records) + 1))
    assert report.records[0].fields()["kind"] == "session_opened"


@pytest.mark.parametrize("attended", [True, False])
async def test_an_approval_is_refused_and_the_run_goes_on(tmp_path: Path, attended: bool) -> None:
    report = KeptReport()
    opener = Opener(
        tmp_path,
        ScriptedModel(call("echo", {"text": "hi"}), text("Could not.")),
        EchoTool(),
        attended=attended,
    )
    opener.policy.verdicts["echo"] = ("ask", "R2")
    assert await play(report, opener) == 0
    [ended] = report.of(ToolEnded)
    assert isinstance(ended.event, ToolEnded)
    assert (ended.event.outcome, ended.event.decided_by) == ("denied", "nobody")
    assert report.ended.answer == "Could not."


async def test_a_prepared_answer_answers_questions_but_approves_nothing(tmp_path: Path) -> None:
    report = KeptReport()
    model = ScriptedModel(
        call("ask_human", {"question": "Which colour?"}), call("echo", {"text": "x"}), text("Red.")
    )
    opener = Opener(tmp_path, model, AskHuman(), EchoTool())
    opener.policy.verdicts["echo"] = ("ask_strong", "R3")
    answers = PreparedAnswers([PreparedAnswer(match="", answer="red")])
    assert await play(report, opener, answers) == 0
    closed = [record.event for record in report.of(DecisionClosed)]
    assert [
        (one.resolution, one.decided_by) for one in closed if isinstance(one, DecisionClosed)
    ] == [
        ("answered", "answers_file"),
        ("denied", "nobody"),
    ]
    first = report.of(ToolEnded)[0].event
    assert isinstance(first, ToolEnded)
    assert first.output == "red"


async def test_a_question_without_an_answer_is_left_to_the_model(tmp_path: Path) -> None:
    report = KeptReport()
    model = ScriptedModel(call("ask_human", {"question": "Which colour?"}), text("Blue."))
    assert await play(report, Opener(tmp_path, model, AskHuman())) == 0
    ended = report.of(ToolEnded)[0].event
    assert isinstance(ended, ToolEnded)
    assert ended.outcome == "denied"


async def test_a_signal_stops_the_run_and_the_end_comes_last(tmp_path: Path) -> None:
    def on_record(record: Record) -> None:
        if record.fields()["kind"] == "call_intended":
            os.kill(os.getpid(), signal.SIGTERM)

    report = KeptReport(on_record)
    tool = HangingTool()
    opener = Opener(tmp_path, ScriptedModel(call("hang", {"text": "x"})), tool)
    assert await play(report, opener) == 130
    assert report.ended.reason == "stopped"
    assert tool.cancelled == 1
    assert len(report.of(ToolEnded)) == 1


async def test_a_signal_while_the_model_thinks_stops_the_run(tmp_path: Path) -> None:
    def on_record(record: Record) -> None:
        if record.fields()["kind"] == "text_streamed":
            os.kill(os.getpid(), signal.SIGINT)

    report = KeptReport(on_record)
    assert await play(report, Opener(tmp_path, HangingModel())) == 130
    assert report.ended.exit_code == 130


async def test_a_signal_before_the_session_is_open_ends_it_all_the_same(tmp_path: Path) -> None:
    async def open_session() -> Session:
        os.kill(os.getpid(), signal.SIGTERM)
        return await HangingOpener().wait()

    report = KeptReport()
    code = await HeadlessRun(report, NobodyThere()).play(open_session, "x")
    assert code == 130
    assert report.ended.reason == "stopped"


class HangingOpener:
    async def wait(self) -> Session:
        import asyncio

        await asyncio.Event().wait()
        raise AssertionError("nothing sets that event")


async def test_without_a_model_the_run_fails_with_exit_code_2(tmp_path: Path) -> None:
    report = KeptReport()
    assert await play(report, Opener(tmp_path, None)) == 2
    assert report.ended.reason == "failed"
    assert report.ended.error is not None
    assert report.ended.error.code == "no_model"


async def test_a_model_that_refuses_is_exit_code_4(tmp_path: Path) -> None:
    report = KeptReport()
    refused = ModelRefusedError("The key was refused.", hint="Check it.", code="bad_key")
    assert await play(report, Opener(tmp_path, ScriptedModel(refused))) == 4
    assert report.ended.error is not None
    assert (report.ended.error.code, report.ended.error.hint) == ("bad_key", "Check it.")


async def test_a_session_that_does_not_open_still_ends_with_run_ended(tmp_path: Path) -> None:
    async def open_session() -> Session:
        raise ConfigError("No.", hint="Do.", code="no_key")

    report = KeptReport()
    assert await HeadlessRun(report, NobodyThere()).play(open_session, "x") == 2
    assert report.records[-1].n == 1
    assert report.ended.error is not None
    assert report.ended.error.code == "no_key"


class BrokenPolicy(FakePolicy):
    def note(self, record: Record) -> None:
        if record.fields()["kind"] == "step_started":
            raise ZeroDivisionError("a bug")


async def test_a_bug_becomes_one_line_and_a_file_without_values(tmp_path: Path, home: Path) -> None:
    report = KeptReport()
    opener = Opener(tmp_path, ScriptedModel(text("x")))
    opener.policy = BrokenPolicy()
    assert await play(report, opener) == 1
    assert report.ended.error is not None
    assert report.ended.error.code == "internal"
    assert "ZeroDivisionError" in report.ended.error.message
    [crash] = (home / "state").glob("crash-*.log")
    assert "Traceback" in crash.read_text(encoding="utf-8")
    assert crash.stat().st_mode & 0o077 == 0


def test_json_lines_are_utf8(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    report = JsonReport()
    event = RunEnded(reason="answered", exit_code=0, answer="日本\ud800")
    report.take(Record(n=1, at_utc="", mono_s=0, run_id="", step=0, event=event))
    report.close()
    [line] = capfdbinary.readouterr().out.splitlines()
    assert "日本".encode() in line
    assert json.loads(line)["answer"] == "日本\ud800"


def test_the_text_form_prints_the_answer_alone_on_stdout(capfd: pytest.CaptureFixture[str]) -> None:
    report = TextReport()
    ended = ToolEnded(call_id="c", name="shell", outcome="failed", error="exit\x1b[2J code 1")
    answer = RunEnded(reason="answered", exit_code=0, answer="47", files=("a.py",), steps=2)
    events: tuple[Event, ...] = (ended, answer)
    for n, event in enumerate(events, 1):
        report.take(Record(n=n, at_utc="", mono_s=0, run_id="", step=1, event=event))
    report.close()
    out, err = capfd.readouterr()
    assert out == "47\n"
    assert "\x1b" not in err
    assert "shell" in err
    assert "files  a.py" in err


def test_the_text_form_tells_tries_circles_and_an_unknown_price(
    capfd: pytest.CaptureFixture[str],
) -> None:
    report = TextReport()
    slow = ErrorInfo(code="rate_limited", message="Slow down.")
    stopped = ErrorInfo(code="limit", message="Today's limit of $1.00 would be passed.")
    events: tuple[Event, ...] = (
        ModelRetried(error=slow, attempt=1, wait_s=7, limit=4),
        LoopNoticed(stage="counted", what="shell ls", count=2, limit=3),
        RunEnded(reason="limit", exit_code=3, limit="cost_per_day", error=stopped),
    )
    for n, event in enumerate(events, 1):
        report.take(Record(n=n, at_utc="", mono_s=0, run_id="", step=1, event=event))
    report.close()
    out, err = capfd.readouterr()
    assert out == ""
    tried, counted, why, end = err.splitlines()
    assert tried == "model  try 1 of 4 failed: Slow down. Waiting 7.0 s."
    assert counted == "step 1  same call 2 of 3: shell ls"
    assert why == "handrail: Today's limit of $1.00 would be passed."
    assert "cost unknown" in end
