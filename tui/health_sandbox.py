"""Checks of what a sandbox could be made from: a container engine with its image, bubblewrap."""

import asyncio
from collections.abc import Sequence

from core.config import SandboxSettings
from sandbox.probe import BubblewrapFacts, EngineFacts, look
from tui.health import HealthRow

ENGINE, IMAGE, BUBBLEWRAP = "container engine", "image", "bubblewrap"


def sandbox_rows(settings: SandboxSettings) -> Sequence[HealthRow]:
    """Check both kinds of sandbox; one of them is enough unless the settings name one."""
    found = asyncio.run(look(settings.image))
    wants_engine, wants_cage = settings.kind == "docker", settings.kind == "local"
    return [
        _engine(found.engine, needed=wants_engine),
        _image(found.engine, needed=wants_engine),
        _bubblewrap(found.bubblewrap, needed=wants_cage),
    ]


def _engine(facts: EngineFacts, *, needed: bool) -> HealthRow:
    if not facts.answers:
        return HealthRow(
            name=ENGINE, ok=False, needed=needed, detail=facts.problem, hint=facts.hint
        )
    kind = ", rootless" if facts.rootless else ""
    detail = f"answers at {facts.address}, version {facts.version}{kind}"
    return HealthRow(name=ENGINE, ok=True, needed=needed, detail=detail)


def _image(facts: EngineFacts, *, needed: bool) -> HealthRow:
    if facts.has_image:
        return HealthRow(name=IMAGE, ok=True, needed=needed, detail=facts.image)
    detail = facts.problem if facts.answers else f"{facts.image}: no engine to ask"
    hint = facts.hint if facts.answers else ""
    return HealthRow(name=IMAGE, ok=False, needed=needed, detail=detail, hint=hint)


def _bubblewrap(facts: BubblewrapFacts, *, needed: bool) -> HealthRow:
    if facts.works:
        manner = f", {facts.manner}" if facts.manner else ""
        detail = f"{facts.path}, version {facts.version}{manner}"
        return HealthRow(name=BUBBLEWRAP, ok=True, needed=needed, detail=detail)
    return HealthRow(
        name=BUBBLEWRAP, ok=False, needed=needed, detail=facts.problem, hint=facts.hint
    )
