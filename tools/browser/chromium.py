"""Where Chromium is, and how it is started."""

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from core.errors import BrowserUnavailableError

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
    "chrome",
    "brave-browser",
    "microsoft-edge",
)
"""Programs on PATH that speak Chromium's debugging protocol, best first."""
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Brave Browser.app/Contents/MacOS/Brave Browser",
)
BUILDS = (
    "chromium-*/chrome-linux*/chrome",
    "chromium-*/chrome-mac*/*.app/Contents/MacOS/*",
    "chromium-*/chrome-win*/chrome.exe",
    "chromium_headless_shell-*/chrome-*/*headless*shell",
)
"""Where Playwright's installer puts Chromium below its folder. Source: playwright 1.65, registry/index."""
HINT = (
    "Install it with `playwright install chromium` or the system's package, or set HANDRAIL_CHROME."
)

ARGUMENTS = (
    "--disable-gpu",
    # Without these two a page could reach hosts past the proxy: QUIC and WebRTC are UDP.
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    # The sign-in service would be asked at each start; port 9 answers nothing.
    "--gaia-url=http://127.0.0.1:9/",
    "--disable-domain-reliability",
    "--no-pings",
)
"""Added to Playwright's own switches. No --disable-features: the last one wins and would drop Playwright's list."""


def find_chromium(chosen: str, environment: Mapping[str, str]) -> str:
    """Return the path of a Chromium.

    Args:
        chosen: Path from the configuration, "" when none is set.
        environment: HANDRAIL_CHROME, PLAYWRIGHT_BROWSERS_PATH and PATH are read.

    Raises:
        BrowserUnavailableError: There is none, or the chosen one cannot be run.
    """
    named = chosen or environment.get("HANDRAIL_CHROME", "")
    if named:
        found = shutil.which(named, path=environment.get("PATH"))
        if found:
            return found
        raise BrowserUnavailableError(
            f"{named} is not a program that can be run.",
            hint="Correct HANDRAIL_CHROME or browser.executable.",
        )
    for candidate in _candidates(environment):
        if os.access(candidate, os.X_OK) and candidate.is_file():
            return str(candidate)
    raise BrowserUnavailableError("No Chromium was found.", hint=HINT)


def _candidates(environment: Mapping[str, str]) -> Iterator[Path]:
    folder = _playwright_folder(environment)
    for pattern in BUILDS:
        # The highest build number is the newest.
        yield from sorted(folder.glob(pattern), key=_build_number, reverse=True)
    for name in NAMES:
        if found := shutil.which(name, path=environment.get("PATH")):
            yield Path(found)
    yield from map(Path, PLACES)


def _playwright_folder(environment: Mapping[str, str]) -> Path:
    if named := environment.get("PLAYWRIGHT_BROWSERS_PATH", "").strip("0"):
        return Path(named)
    home = Path(environment.get("HOME", "/"))
    if sys.platform == "darwin":
        return home / "Library/Caches/ms-playwright"
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA", str(home))) / "ms-playwright"
    return Path(environment.get("XDG_CACHE_HOME") or home / ".cache") / "ms-playwright"


def _build_number(path: Path) -> int:
    digits = next(
        (part.rpartition("-")[2] for part in path.parts if part.startswith("chromium")), ""
    )
    return int(digits) if digits.isdigit() else 0
