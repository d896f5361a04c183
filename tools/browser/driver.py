"""Starts and ends the browser process: Playwright's driver and Chromium over a pipe, both kept off the terminal."""

import asyncio
import contextlib
import logging
import os
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.errors import BrowserUnavailableError
from tools.browser.chromium import ARGUMENTS, HINT
from tools.browser.faults import ignoring_faults, page_faults

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Playwright

VIEWPORT = (1280, 800)
"""Width and height of a page in pixels."""
START_TIMEOUT_S = 30.0
CLOSE_TIMEOUT_S = 5.0
ACTION_TIMEOUT_MS = 5000
LOG_LIMIT_BYTES = 1 << 20
NOT_FOR_THE_DRIVER = frozenset({"DEBUG", "DEBUGP", "PWDEBUG", "NODE_OPTIONS", "PW_TEST_DEBUG"})
"""Variables that make the node driver talk, open windows or run other code."""

_log_descriptor: ContextVar[int | None] = ContextVar("driver_log", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchPlan:
    """All that is needed to start one browser."""

    executable: str
    folder: Path
    """Own folder of this browser: profile, downloads, log. Made when missing, mode 0700."""
    proxy_port: int
    os_sandbox: bool = True
    """Chromium's own sandbox; it cannot work for root."""

    @property
    def profile(self) -> Path:
        """Chromium's user data folder."""
        return self.folder / "profile"

    @property
    def downloads(self) -> Path:
        """Where downloads wait for a decision."""
        return self.folder / "downloads"


class Driver:
    """One running browser. Belongs to the browser's own event loop."""

    def __init__(self, playwright: "Playwright", context: "BrowserContext") -> None:
        """Take over what `start_driver` started."""
        self._playwright = playwright
        self.context = context

    async def close(self) -> None:
        """End Chromium and the node driver, at most 5 s each, even while being cancelled."""
        for ending in (self.context.close, self._playwright.stop):
            # A browser that is gone already, or hangs, must not keep the app from ending.
            with contextlib.suppress(*page_faults(), asyncio.CancelledError):
                async with asyncio.timeout(CLOSE_TIMEOUT_S):
                    await asyncio.shield(asyncio.ensure_future(ending()))


async def start_driver(plan: LaunchPlan) -> Driver:
    """Start Chromium with its own profile and the egress proxy as its only way out.

    Raises:
        BrowserUnavailableError: It does not start; the message holds the first line of the reason.
    """
    for folder in (plan.folder, plan.profile, plan.downloads):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    playwright = await _start_playwright(plan.folder / "driver.log")
    try:
        async with asyncio.timeout(START_TIMEOUT_S):
            context = await playwright.chromium.launch_persistent_context(
                plan.profile, **_launch_options(plan)
            )
    except BaseException as error:
        with ignoring_faults():
            await playwright.stop()
        if isinstance(error, page_faults()):
            raise _cannot_start(error, plan) from error
        raise
    context.set_default_timeout(ACTION_TIMEOUT_MS)
    return Driver(playwright, context)


def _launch_options(plan: LaunchPlan) -> dict[str, Any]:
    return {
        "executable_path": plan.executable,
        "headless": True,
        "chromium_sandbox": plan.os_sandbox and os.geteuid() != 0,
        "handle_sigint": False,
        "handle_sigterm": False,
        "handle_sighup": False,
        "viewport": {"width": VIEWPORT[0], "height": VIEWPORT[1]},
        "accept_downloads": True,
        "downloads_path": plan.downloads,
        # A service worker could answer for a page without any connection being seen.
        "service_workers": "block",
        "proxy": {"server": f"http://127.0.0.1:{plan.proxy_port}", "bypass": "<-loopback>"},
        "args": list(ARGUMENTS),
        "env": _quiet_environment(),
    }


def _quiet_environment() -> dict[str, str | float | bool]:
    """Return the environment for the driver and Chromium: no debug switches, no proxy but ours."""
    quiet: dict[str, str | float | bool] = {"NODE_NO_WARNINGS": "1"}
    for name, value in os.environ.items():
        if name not in NOT_FOR_THE_DRIVER and not name.lower().endswith("_proxy"):
            quiet[name] = value
    return quiet


def _cannot_start(error: BaseException, plan: LaunchPlan) -> BrowserUnavailableError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = " ".join(lines)
    if "sandbox" in text.lower() and plan.os_sandbox and os.geteuid() != 0:
        return BrowserUnavailableError(
            "Chromium cannot use its own sandbox on this system.",
            hint="Allow user namespaces, or set browser.os_sandbox to false if you trust the pages you open.",
        )
    first = lines[0][:200] if lines else "it did not answer in time"
    return BrowserUnavailableError(
        f"Chromium ({plan.executable}) does not start: {first}.", hint=HINT
    )


async def _start_playwright(log: Path) -> "Playwright":
    from playwright.async_api import async_playwright

    # Without a handler, what it logs would be written to the terminal.
    logging.getLogger("playwright").addHandler(logging.NullHandler())
    _redirect_driver_output()
    descriptor = _open_log(log)
    token = _log_descriptor.set(descriptor)
    try:
        async with asyncio.timeout(START_TIMEOUT_S):
            return await async_playwright().start()
    except page_faults() as error:
        raise BrowserUnavailableError(
            f"Playwright's driver does not start: {str(error).splitlines()[0] if str(error) else 'no answer'}.",
            hint="Reinstall the playwright package.",
        ) from error
    finally:
        _log_descriptor.reset(token)
        os.close(descriptor)


def _open_log(log: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    if log.exists() and log.stat().st_size > LOG_LIMIT_BYTES:
        flags |= os.O_TRUNC
    return os.open(log, flags, 0o600)


def _redirect_driver_output() -> None:
    """Point the driver's stderr to our log and clean its environment.

    Playwright gives its node process our descriptor 2, which is the terminal, and has no option for it. The two
    functions it asks are replaced; where a later version has neither, the driver's rare output is not caught.
    """
    from playwright._impl import transport

    own: dict[str, Callable[..., Any]] = {
        "_get_stderr_fileno": _log_descriptor.get,
        "get_driver_env": _driver_environment,
    }
    for name, replacement in own.items():
        if hasattr(transport, name):
            setattr(transport, name, replacement)


def _driver_environment() -> dict[str, Any]:
    from playwright._impl._driver import get_driver_env

    usual: dict[str, Any] = get_driver_env()
    return {name: value for name, value in usual.items() if name not in NOT_FOR_THE_DRIVER} | {
        "NODE_NO_WARNINGS": "1"
    }
