"""What the keys of the first screen do: take a model server that was found, install Chromium."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable

from core.config_layers import CONFIG_NAME, config_dir
from core.errors import BrowserUnavailableError
from core.probe import LocalServer

Fix = Callable[[], Awaitable[str]]
"""Does it and returns a line for the person."""
INSTALL_TIMEOUT_S = 300.0
MANUAL_HINT = "Install Chromium with the system's packages, or name one with HANDRAIL_CHROME."


def use_server(server: LocalServer, model: str) -> Fix:
    """Return the fix that writes a server and one of its models into the settings."""

    async def fix() -> str:
        await asyncio.to_thread(_write_server, server.base_url, model)
        return f"{model} from {server.label} is set in {config_dir() / CONFIG_NAME}."

    return fix


async def install_chromium() -> str:
    """Have Playwright fetch its own Chromium.

    Raises:
        BrowserUnavailableError: It could not, or takes too long.
    """
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "playwright", "install", "chromium"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "NODE_NO_WARNINGS": "1"},
    )
    try:
        _, said = await asyncio.wait_for(process.communicate(), INSTALL_TIMEOUT_S)
    except TimeoutError as error:
        raise BrowserUnavailableError(
            "Chromium took too long to load.", hint=MANUAL_HINT
        ) from error
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode:
        last = next(iter(reversed(said.decode(errors="replace").strip().splitlines())), "")
        raise BrowserUnavailableError(f"Chromium was not installed: {last[:200]}", hint=MANUAL_HINT)
    return "Chromium is installed."


def _write_server(base_url: str, model: str) -> None:
    from core.config_edit import set_value

    path = config_dir() / CONFIG_NAME
    set_value(path, "model.base_url", base_url)
    set_value(path, "model.name", model)
