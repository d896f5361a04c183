"""Screenshots, kept as files of the session that only its owner can read."""

import hashlib
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from core.errors import BrowserError
from core.messages import Image
from tools.browser.clean import clean_line
from tools.browser.driver import VIEWPORT
from tools.browser.faults import page_faults
from tools.browser.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import Page

QUALITY = 60
TIMEOUT_MS = 3000
ADDRESS_CHARACTERS = 120
"""As much of an address stands in the words for a picture."""
HIDE_SECRETS = """
input[autocomplete~="one-time-code" i], input[autocomplete~="current-password" i],
input[autocomplete~="new-password" i], input[autocomplete*="cc-" i], input[name*="otp" i], input[id*="otp" i],
input[name*="cvv" i], input[name*="cvc" i], input[name*="passw" i], input[name*="passcode" i],
input[name*="cardnumber" i] { -webkit-text-security: disc !important; }
"""
"""Style for the moment of the picture: codes and card numbers are drawn as dots, as passwords are."""


async def photograph(tab: Tab, folder: Path) -> Image | None:
    """Save a picture of the viewport.

    Args:
        tab: What to photograph.
        folder: Made when missing, mode 0700.

    Returns:
        The JPEG file, 1280x800 at most 100 KB or so; None when the page gives no picture.
    """
    try:
        data = await _jpeg(tab.page)
    except page_faults():
        return None
    picture = save_picture(data, folder / f"{tab.name}-{tab.snapshots:05d}.jpg")
    return replace(picture, shows=f"the page described here, at {_place(tab.page.url)}")


def _place(url: str) -> str:
    """Return an address without its query; the title stays where the page's own words are marked as such."""
    parts = urlsplit(url)
    return clean_line(f"{parts.scheme}://{parts.hostname or ''}{parts.path}")[:ADDRESS_CHARACTERS]


async def _jpeg(page: "Page") -> bytes:
    return await page.screenshot(
        type="jpeg", quality=QUALITY, scale="css", style=HIDE_SECRETS, timeout=TIMEOUT_MS
    )


async def png(tab: Tab) -> bytes:
    """Return a picture of the viewport as a PNG.

    Raises:
        BrowserError: The page gives none (code no_picture).
    """
    try:
        return await tab.page.screenshot(
            type="png", scale="css", style=HIDE_SECRETS, timeout=TIMEOUT_MS
        )
    except page_faults() as error:
        raise BrowserError("The page gives no picture.", code="no_picture") from error


def save_picture(data: bytes, path: Path) -> Image:
    """Write a picture with mode 0600, in a folder of mode 0700, and describe it.

    Raises:
        OSError: It cannot be written.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(
        path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
    )
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    return Image(
        path=str(path),
        media_type="image/png" if path.suffix == ".png" else "image/jpeg",
        width=VIEWPORT[0],
        height=VIEWPORT[1],
        sha256=hashlib.sha256(data).hexdigest(),
    )
