"""The host: late opening, early texts, one run at a time, a clean end."""

import asyncio

import pytest

from core.errors import ConfigError, HandrailError
from core.events import RunEnded
from tests.support.app import FakeSession
from tests.support.waiting import DEADLINE_S
from tui.session_host import SessionHost


class Reports:
    """Takes what went wrong; a test waits for it."""

    def __init__(self) -> None:
        self.errors: asyncio.Queue[HandrailError] = asyncio.Queue()

    def append(self, error: HandrailError) -> None:
        self.errors.put_nowait(error)

    async def next(self) -> HandrailError:
        return await asyncio.wait_for(self.errors.get(), DEADLINE_S)


async def opened(session: FakeSession, reports: Reports | None = None) -> SessionHost:
    host = SessionHost(lambda change: None, (reports or Reports()).append)

    async def open_session() -> FakeSession:
        return session

    await host.open(open_session)
    return host


async def turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_what_is_sent_before_the_session_is_open_is_kept_and_sent_in_order() -> None:
    session = FakeSession()
    host = SessionHost(lambda change: None, Reports().append)
    host.send("first")
    host.send("second")

    async def open_session() -> FakeSession:
        return session

    await host.open(open_session)
    await turns()
    assert session.asked == ["steer second", "run first"] or session.asked == [
        "run first",
        "steer second",
    ]
    await host.close()


async def test_a_text_during_a_run_steers_it_and_after_it_starts_the_next() -> None:
    session = FakeSession()
    host = await opened(session)
    host.send("one")
    await turns()
    host.send("two")
    session.end_run()
    await turns()
    host.send("three")
    await turns()
    assert session.asked == ["run one", "steer two", "run three"]
    await host.close()


async def test_what_was_said_to_a_run_is_queued_until_it_enters() -> None:
    session = FakeSession()
    host = await opened(session)
    session.running = True
    host.send("one")
    host.send("two")
    assert host.queued == ["one", "two"]
    host.note_entered(1)
    assert host.queued == ["two"]
    host.note_entered(2)
    assert host.queued == []


async def test_pause_goes_on_and_off_and_does_nothing_without_a_run() -> None:
    session = FakeSession()
    host = await opened(session)
    host.toggle_pause()
    session.running = True
    host.toggle_pause()
    host.toggle_pause()
    assert session.asked == ["pause", "resume"]


async def test_a_single_step_pauses_a_run_that_goes_on_and_steps_one_that_waits() -> None:
    session = FakeSession()
    host = await opened(session)
    session.running = True
    host.step_once()
    host.step_once()
    assert session.asked == ["pause", "step_once"]


async def test_the_mode_key_goes_round_without_ever_reaching_full() -> None:
    session = FakeSession()
    host = await opened(session)
    modes = []
    for _ in range(4):
        host.next_mode()
        modes.append(session.mode)
    assert modes == ["auto", "read", "ask", "auto"]


async def test_the_mode_key_leads_out_of_full() -> None:
    session = FakeSession()
    host = await opened(session)
    session.mode = "full"
    host.next_mode()
    assert session.log.records[-1].fields()["mode"] == "read"


async def test_interrupt_says_whether_there_was_anything_to_stop() -> None:
    session = FakeSession()
    host = await opened(session)
    assert not host.interrupt()
    session.running = True
    assert host.interrupt()
    assert session.asked == ["interrupt"]


async def test_closing_ends_the_session_once_and_leaves_no_task() -> None:
    session = FakeSession()
    host = await opened(session)
    host.send("task")
    await turns()
    await host.close()
    await host.close()
    await turns()
    assert session.asked == ["run task", "close quit"]
    assert [task for task in asyncio.all_tasks() if task.get_name() in ("run", "pump")] == []


class BrokenSession(FakeSession):
    """Fails as no session should."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error

    async def run(self, text: str) -> RunEnded:
        raise self.error


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ConfigError("The key is wrong.", hint="Check it."), "The key is wrong. Check it."),
        (ValueError("boo"), "Internal error: ValueError"),
    ],
)
async def test_a_run_that_breaks_is_reported_and_the_host_goes_on(
    error: Exception, line: str
) -> None:
    session, reports = BrokenSession(error), Reports()
    host = await opened(session, reports)
    host.send("task")
    assert (await reports.next()).line().startswith(line)
    await turns()
    host.send("again")
    assert (await reports.next()).line().startswith(line)
    await host.close()


async def test_a_session_that_cannot_be_opened_is_told_and_texts_are_kept() -> None:
    host = SessionHost(lambda change: None, Reports().append)
    host.send("task")

    async def fail() -> FakeSession:
        raise ConfigError("No model.")

    with pytest.raises(ConfigError):
        await host.open(fail)
    assert host.session is None
    session = FakeSession()

    async def open_session() -> FakeSession:
        return session

    await host.open(open_session)
    await turns()
    assert session.asked == ["run task"]
    await host.close()
