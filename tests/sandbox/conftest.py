"""Real sandboxes of each kind, shared by the tests of a module."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from sandbox import privileges
from sandbox.api import Cage
from sandbox.choice import SandboxSettings
from sandbox.local import BubblewrapCage
from tests.support.opened_sandbox import OpenedSandbox

KINDS = [
    pytest.param("docker", marks=pytest.mark.docker),
    pytest.param("local", marks=pytest.mark.bubblewrap),
]
if privileges.is_root():  # who is not root cannot make it that way
    KINDS.append(pytest.param("root", marks=pytest.mark.bubblewrap))


def cage_as_root(settings: SandboxSettings) -> Sequence[Cage]:
    """The cage of bubblewrap as it is made where user namespaces cannot be used."""
    return [BubblewrapCage(settings.workspace, ways=["root"])]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def opened() -> AsyncIterator[dict[str, OpenedSandbox]]:
    """Sandboxes by kind, opened when first used and closed after the module."""
    sandboxes: dict[str, OpenedSandbox] = {}
    yield sandboxes
    for sandbox in sandboxes.values():
        await sandbox.manager.close()


async def _opened(
    kind: str, opened: dict[str, OpenedSandbox], folders: pytest.TempPathFactory
) -> OpenedSandbox:
    if kind not in opened:
        folder: Path = folders.mktemp(kind)
        if kind == "root":
            made = OpenedSandbox("local", folder, cage_as_root)
        else:
            made = OpenedSandbox("docker" if kind == "docker" else "local", folder)
        await made.manager.start()
        opened[kind] = made
    return opened[kind]


@pytest_asyncio.fixture(loop_scope="module", params=KINDS)
async def sandbox(
    request: pytest.FixtureRequest,
    requirements: None,
    opened: dict[str, OpenedSandbox],
    tmp_path_factory: pytest.TempPathFactory,
) -> OpenedSandbox:
    """A running sandbox of each kind; tests of one module share it, so they leave it as it was."""
    return await _opened(request.param, opened, tmp_path_factory)


@pytest_asyncio.fixture(loop_scope="module", params=KINDS[1:])
async def local_sandbox(
    request: pytest.FixtureRequest,
    requirements: None,
    opened: dict[str, OpenedSandbox],
    tmp_path_factory: pytest.TempPathFactory,
) -> OpenedSandbox:
    """A running sandbox of each kind that needs no engine."""
    return await _opened(request.param, opened, tmp_path_factory)
