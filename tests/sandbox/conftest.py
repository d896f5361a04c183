"""Real sandboxes of each kind, shared by the tests of a module."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.opened_sandbox import OpenedSandbox

KINDS = [
    pytest.param("docker", marks=pytest.mark.docker),
    pytest.param("local", marks=pytest.mark.bubblewrap),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opened() -> AsyncIterator[dict[str, OpenedSandbox]]:
    """Sandboxes by kind, opened when first used and closed after the module."""
    sandboxes: dict[str, OpenedSandbox] = {}
    yield sandboxes
    for sandbox in sandboxes.values():
        await sandbox.manager.close()


@pytest_asyncio.fixture(loop_scope="module", params=KINDS)
async def sandbox(
    request: pytest.FixtureRequest,
    requirements: None,
    opened: dict[str, OpenedSandbox],
    tmp_path_factory: pytest.TempPathFactory,
) -> OpenedSandbox:
    """A running sandbox of each kind; tests of one module share it, so they leave it as it was."""
    kind: str = request.param
    if kind not in opened:
        folder: Path = tmp_path_factory.mktemp(kind)
        made = OpenedSandbox("docker" if kind == "docker" else "local", folder)
        await made.manager.start()
        opened[kind] = made
    return opened[kind]
