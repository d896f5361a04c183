"""The browser's life: started when needed, gone without a trace, missing with one clear line."""

import asyncio
import dataclasses
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from core.egress import EgressPolicy
from core.errors import BrowserError, BrowserUnavailableError, ToolFailedError
from core.surroundings import BrowserChanged
from tests.support.driving import Driving
from tests.support.fake_call import FakeCall
from tests.support.site_server import Site
from tools.browser.arguments import BrowserArguments
from tools.browser.leftovers import sweep
from tools.browser.tool import BrowserTool

REPOSITORY = Path(__file__).resolve().parents[3]
GO = BrowserArguments(action="go_to", url="http://127.0.0.1:1/")


def commands_with(text: str) -> list[str]:
    """Return the command lines of running processes that name `text`."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        command = " ".join(process.info["cmdline"] or ())
        if text in command and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(command)
    return found


def gone(text: str, within_s: float) -> bool:
    """Wait until no process names `text` any more."""
    end_s = time.monotonic() + within_s
    while commands_with(text):
        if time.monotonic() > end_s:
            return False
        time.sleep(
            0.05
        )  # the kernel tells nobody when the last of a tree of foreign processes has ended
    return True


async def test_nothing_starts_before_it_is_used(tmp_path: Path) -> None:
    tool = BrowserTool(tmp_path / "s", EgressPolicy())
    facts = await tool.facts(GO)
    assert facts.title == "open http://127.0.0.1:1/"
    with pytest.raises(BrowserError, match="No page is open"):
        await tool.facts(BrowserArguments(action="click", ref=1))
    assert not tool.session.running
    await tool.close()
    assert not (tmp_path / "s").exists()


async def test_switched_off_it_is_not_offered_and_does_nothing(tmp_path: Path) -> None:
    tool = BrowserTool(
        tmp_path, EgressPolicy(), off_reason="The browser is switched off (--no-browser)."
    )
    assert tool.unavailable() == "The browser is switched off (--no-browser)."
    with pytest.raises(ToolFailedError, match="switched off"):
        await tool.run(GO, FakeCall())


async def test_a_chromium_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    tool = BrowserTool(tmp_path / "s", EgressPolicy(), executable="/nowhere/chromium")
    assert "/nowhere/chromium is not a program that can be run" in tool.unavailable()
    call = FakeCall()
    with pytest.raises(BrowserUnavailableError):
        await tool.run(GO, call)
    states = [event.state for event in call.events if isinstance(event, BrowserChanged)]
    assert states == ["starting", "unavailable"]
    await tool.close()


async def test_a_chromium_that_does_not_start_is_one_clear_line(tmp_path: Path) -> None:
    broken = tmp_path / "chromium"
    broken.write_text("#!/bin/sh\necho 'no display here' >&2\nexit 3\n")
    broken.chmod(0o755)
    tool = BrowserTool(tmp_path / "s", EgressPolicy(), executable=str(broken))
    assert tool.unavailable() == ""
    with pytest.raises(BrowserUnavailableError, match="does not start") as caught:
        await tool.run(GO, FakeCall())
    assert "\n" not in caught.value.line()
    assert "does not start" in tool.unavailable()
    await tool.close()


@pytest.mark.chromium
async def test_starting_and_ending_are_told_and_leave_nothing(tmp_path: Path, site: Site) -> None:
    driving = Driving(tmp_path / "sessions" / "one", site)
    await driving.go("/form.html")
    states = [event.state for event in driving.call.events if isinstance(event, BrowserChanged)]
    assert states == ["starting", "ready"]
    folder = tmp_path / "sessions" / "one" / "browser"
    assert commands_with(str(folder))
    assert (folder / "profile").is_dir()
    await driving.tool.close()
    assert gone(str(folder), 3)
    assert not (folder / "profile").exists()
    assert list((folder / "pictures").iterdir())
    await driving.tool.close()


@pytest.mark.chromium
async def test_a_browser_that_was_killed_is_started_anew(tmp_path: Path, site: Site) -> None:
    driving = Driving(tmp_path / "sessions" / "one", site)
    try:
        await driving.go("/form.html")
        folder = str(tmp_path / "sessions" / "one" / "browser")
        closed = threading.Event()
        driving.tool.session.context.on("close", lambda _context: closed.set())
        main = [
            process
            for process in psutil.process_iter(["cmdline"])
            if folder in " ".join(process.info["cmdline"] or ())
            and "--type=" not in " ".join(process.info["cmdline"] or ())
        ]
        for process in main:
            process.kill()
        assert await asyncio.to_thread(closed.wait, 10)
        assert "Order form" in await driving.go("/form.html")
        states = [event.state for event in driving.call.events if isinstance(event, BrowserChanged)]
        assert states == ["starting", "ready", "starting", "ready"]
    finally:
        await driving.tool.close()


@pytest.mark.chromium
async def test_an_interrupted_action_leaves_the_page_usable(browser: Driving) -> None:
    await browser.go("/form.html")
    waiting = asyncio.ensure_future(browser.act("wait", wait_s=60))
    going = asyncio.ensure_future(browser.go("/held"))
    await asyncio.to_thread(browser.site.first.arrived.wait, 0.01)
    waiting.cancel()
    await asyncio.to_thread(browser.site.first.arrived.wait, 10)
    going.cancel()
    results = await asyncio.gather(waiting, going, return_exceptions=True)
    assert [type(result) for result in results] == [asyncio.CancelledError] * 2
    await browser.go("/kitchen.html")
    await browser.act("click", "plain")
    assert browser.title == "did plain"


CHILD = """
import asyncio, sys
from pathlib import Path
from core.egress import EgressPolicy
from tests.support.fake_call import FakeCall
from tools.browser.arguments import BrowserArguments
from tools.browser.tool import BrowserTool

async def main():
    tool = BrowserTool(Path(sys.argv[1]), EgressPolicy(), executable=sys.argv[2])
    await tool.run(BrowserArguments(action="go_to", url="about:blank"), FakeCall())
    print("ready", flush=True)
    if sys.argv[3] == "return":
        return
    await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.chromium
@pytest.mark.parametrize("ending", ["return", "SIGINT", "SIGKILL"])
def test_no_process_outlives_the_program(tmp_path: Path, chromium: Path, ending: str) -> None:
    folder = tmp_path / "sessions" / "one"
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder), str(chromium), ending],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "DEBUG": "pw:browser*"},
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    driver = psutil.Process(child.pid).children()
    if ending != "return":
        child.send_signal(getattr(signal, ending))
    _, stderr = child.communicate(timeout=20)
    assert gone(str(folder), 5)
    assert psutil.wait_procs(driver, timeout=5)[1] == []
    assert "pw:browser" not in stderr
    profile = folder / "browser" / "profile"
    assert profile.exists() is (ending == "SIGKILL")
    if ending == "SIGKILL":
        assert sweep(tmp_path / "sessions") == 1
        assert not profile.exists()


@pytest.mark.chromium
async def test_an_unused_browser_is_ended_and_keeps_its_profile(tmp_path: Path, site: Site) -> None:
    driving = Driving(tmp_path / "sessions" / "one", site)
    session = driving.tool.session
    session.setup = dataclasses.replace(session.setup, idle_s=1.5)
    try:
        await driving.go("/form.html")
        closed = threading.Event()
        session.context.on("close", lambda _context: closed.set())
        assert await asyncio.to_thread(closed.wait, 20)
        assert gone(str(tmp_path / "sessions"), 5)
        assert (tmp_path / "sessions" / "one" / "browser" / "profile").is_dir()
        assert "Order form" in await driving.go("/form.html")
    finally:
        await driving.tool.close()
