"""Checks of what is installed here: this program, the terminal, the workspace, Chromium, bubblewrap."""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from core.errors import BrowserUnavailableError
from tui.health import HealthRow
from tui.version import version

PACKAGES = ("core", "tools", "sandbox", "themes", "tui")
SMALLEST = (60, 16)
"""Columns and rows below which the app shows a notice only."""
PROGRAM_TIMEOUT_S = 5.0


def installation() -> Sequence[HealthRow]:
    """Check that the five packages lie beside the launcher, so that nobody else's run in their place."""
    home = Path(__file__).resolve().parent.parent
    elsewhere = [name for name in PACKAGES if _home_of(name) != home]
    launcher = (home / "handrail.py").is_file()
    ok = launcher and not elsewhere
    detail = f"handrail {version()} in {home}, Python {sys.version.split()[0]}"
    if elsewhere:
        detail = f"other code is found in place of: {', '.join(elsewhere)}"
    elif not launcher:
        detail = f"handrail.py is not in {home}"
    hint = (
        "" if ok else "Install Handrail into an environment of its own: `uv tool install handrail`."
    )
    return [HealthRow(name="installation", ok=ok, needed=True, detail=detail, hint=hint)]


def terminal() -> Sequence[HealthRow]:
    """Check that the app could draw here; a run without the screen needs none."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return [
            HealthRow(
                name="terminal",
                ok=False,
                detail="this is no terminal",
                hint="The app needs one; `handrail run` does not.",
            )
        ]
    size = shutil.get_terminal_size()
    kind = os.environ.get("TERM", "")
    large = size.columns >= SMALLEST[0] and size.lines >= SMALLEST[1]
    ok = large and kind not in ("", "dumb")
    hint = "" if ok else f"Use at least {SMALLEST[0]}x{SMALLEST[1]} and a terminal that can draw."
    detail = f"{size.columns}x{size.lines}, TERM={kind or 'not set'}"
    return [HealthRow(name="terminal", ok=ok, detail=detail, hint=hint)]


def workspace(path: Path) -> Sequence[HealthRow]:
    """Check that the agent could work in the folder."""
    ok = path.is_dir() and os.access(path, os.R_OK | os.W_OK | os.X_OK)
    detail = str(path) if ok else f"{path} is not there or cannot be written"
    hint = "" if ok else "Give a folder that can be written with --workspace."
    return [HealthRow(name="workspace", ok=ok, needed=True, detail=detail, hint=hint)]


def chromium(executable: str, *, enabled: bool) -> Sequence[HealthRow]:
    """Check that there is a Chromium that runs."""
    if not enabled:
        return [HealthRow(name="chromium", ok=True, detail="switched off in the settings")]
    from tools.browser.chromium import find_chromium

    try:
        path = find_chromium(executable, os.environ)
    except BrowserUnavailableError as error:
        return [HealthRow(name="chromium", ok=False, detail=error.message, hint=error.hint)]
    said = program_output([path, "--version"])
    if not said:
        hint = "Install it again, or name another with HANDRAIL_CHROME."
        return [HealthRow(name="chromium", ok=False, detail=f"{path} does not run", hint=hint)]
    return [HealthRow(name="chromium", ok=True, detail=f"{said} at {path}")]


def program_output(words: Sequence[str]) -> str:
    """Run a program and return the first line it prints, "" when it fails or takes too long."""
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=PROGRAM_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    first = next(iter(done.stdout.strip().splitlines()), "")
    return first.strip() if done.returncode == 0 else ""


def _home_of(package: str) -> Path | None:
    spec = importlib.util.find_spec(package)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return Path(folders[0]).resolve().parent if folders else None
