"""One browser and one site for all modules here; each test begins with a fresh tab."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.driving import Driving
from tests.support.site_server import Site

BLOCKED = bool(os.environ.get("HANDRAIL_BLOCK_BROWSER_USE"))
"""Set it to run these tests as on a machine without browser-use."""
if BLOCKED:
    sys.modules["browser_use"] = None  # type: ignore[assignment]


@pytest.fixture(scope="package")
def with_dom() -> bool:
    """Whether browser-use adds to the lists."""
    return not BLOCKED


@pytest.fixture
def browser_use() -> None:
    """Requires browser-use not to be blocked."""
    if BLOCKED:
        pytest.skip("browser-use is blocked by HANDRAIL_BLOCK_BROWSER_USE.")


@pytest.fixture(scope="package")
def site() -> Iterator[Site]:
    with Site() as running:
        yield running


@pytest.fixture(scope="package")
def shared_browser(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driving]:
    driving = Driving(tmp_path_factory.mktemp("sessions") / "one", site)
    yield driving
    driving.tool.close_now()


@pytest.fixture
async def browser(shared_browser: Driving, chromium: Path) -> Driving:
    """The shared browser with one fresh tab."""
    await shared_browser.reset()
    return shared_browser
