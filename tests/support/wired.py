"""Sessions wired from real parts on a scripted model server, with nothing in place of anything but the model."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from core.config_layers import Override
from core.config_load import load_configuration
from core.decision import DecisionOpened
from core.ports import Answer
from core.record import Record
from core.session import Session
from tests.support.model_server import ModelServer
from tui.wiring import Wiring

USUAL = {"model.name": "scripted", "sandbox.kind": "none", "browser.enabled": False}


def wiring(
    server: ModelServer,
    workspace: Path,
    *,
    on_screen: bool = False,
    folder: Path | None = None,
    **settings: object,
) -> Wiring:
    """Return the wiring of a session on `server`; settings are named with __ for the dot."""
    values = {**USUAL, "model.base_url": server.base_url}
    values |= {key.replace("__", "."): value for key, value in settings.items()}
    overrides = [Override(key=key, value=value, option="--test") for key, value in values.items()]
    return Wiring(
        load_configuration(overrides),
        workspace,
        attended=True,
        on_screen=on_screen,
        folder=folder,
    )


def approve(opened: DecisionOpened) -> Answer:
    """Approve whatever is asked."""
    return Answer(
        resolution="approved", decided_by="person", digest=getattr(opened.prompt, "digest", "")
    )


@contextmanager
def deciding(
    session: Session, decide: Callable[[DecisionOpened], Answer] = approve
) -> Iterator[list[DecisionOpened]]:
    """Answer each decision of a session, those that are open too; gives them all."""
    seen: list[DecisionOpened] = []

    def take(record: Record) -> None:
        if isinstance(record.event, DecisionOpened):
            seen.append(record.event)
            answer = decide(record.event)
            asyncio.get_running_loop().call_soon(session.answer, record.event.decision_id, answer)

    for record in session.log.records:
        take(record)
    session.log.follow(take)
    yield seen
