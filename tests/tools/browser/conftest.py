"""One browser and one site for all modules here; each test begins with a fresh tab."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.driving import Driving
from tests.support.site_server import Site


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
