"""Models without tool calling of their own work step by step (`core.chat.stepwise`): what the loop knows of it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Protocol, runtime_checkable

from core.events import ModelAdapted, ReasoningStreamed, TextStreamed
from core.messages import ModelReply
from core.model_piece import ModelPiece
from core.ports import EventSink, Model


@runtime_checkable
class StepCapable(Protocol):
    """A model that can work step by step where its server does not call tools."""

    @property
    def by_steps(self) -> bool:
        """Whether it does so now."""
        ...

    def prove(self) -> AsyncGenerator[ModelPiece, None]:
        """Find out whether its server calls tools, where that is not known; yields what happens.

        Raises:
            ModelError: It cannot be used.
        """
        ...

    def work_by_steps(self) -> ModelAdapted | None:
        """Work so from now on; None when it does already, or may not."""
        ...


def works_by_steps(model: Model | None) -> bool:
    """Return whether a model works step by step now."""
    return model is not None and isinstance(model, StepCapable) and model.by_steps


def change_to_steps(model: Model) -> ModelAdapted | None:
    """Let a model work step by step from now on; None when that is no way out."""
    return model.work_by_steps() if isinstance(model, StepCapable) else None


async def prove_tools(model: Model, record: EventSink) -> None:
    """Find out before the first request of a run whether tools are called, where that is not known.

    Raises:
        ModelError: The model cannot be used.
    """
    if not isinstance(model, StepCapable):
        return
    async with aclosing(model.prove()) as pieces:
        async for piece in pieces:
            if not isinstance(piece, ModelReply | TextStreamed | ReasoningStreamed):
                record(piece)
