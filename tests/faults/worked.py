"""A session that worked the plan off, in this process, for tests of what then happens to its journal."""

from collections.abc import Callable
from pathlib import Path

from core.journal import Journal
from core.session import Session
from tests.faults.victim import Answering, Order, opened_session


def plan_session(
    folder: Path, seed: int = 1, open_journal: Callable[[Path], Journal] = Journal
) -> Session:
    """Open a session that will work the plan off; the person answers everything."""
    workspace = folder / "workspace"
    workspace.mkdir(parents=True, exist_ok=True)
    (workspace / "given.txt").write_text("given\n", encoding="utf-8")
    session = opened_session(Order(folder=folder, seed=seed), open_journal)
    Answering(session)
    return session


async def worked(folder: Path, seed: int = 1) -> Path:
    """Work the plan off and close; return the folder of the session."""
    session = plan_session(folder, seed)
    ended = await session.run("Go on.")
    assert ended.reason == "answered"
    await session.close()
    return folder / "session"
