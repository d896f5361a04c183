"""Models in order: the first one answers, and the next takes over where it cannot be used.

A run begins with the first model, whatever happened in the run before. What failed is not asked again in that run. The
next model is asked only after the request to the one before it has ended, and never in the middle of an answer: the
loop builds its request anew, for the window of the model that answers now.
"""

from collections.abc import AsyncGenerator, Sequence

from core.chat.model import ChatModel
from core.errors import (
    ConfigError,
    ModelError,
    ModelOverloadedError,
    ModelRefusedError,
    ModelStreamError,
    ModelUnreachableError,
)
from core.messages import ModelRequest, Usage
from core.model_events import ModelSwitched
from core.model_piece import ModelPiece
from core.ports import Model
from core.tokens import TokenCounter

USELESS_CODES = frozenset(("auth", "quota", "model_not_found"))
"""Refusals that mean the model, not the request."""


class SwitchingCounter(TokenCounter):
    """Estimates tokens for several models, one at a time; each keeps what was learned of it."""

    def __init__(self) -> None:
        super().__init__()
        self._learned: dict[int, tuple[float, int]] = {}
        self._number = 0

    def count_for(self, number: int) -> None:
        """Count for the model of this number from now on."""
        self._learned[self._number] = (self._factor, self._reports)
        self._number = number
        self._factor, self._reports = self._learned.get(number, (1.0, 0))


class FallbackModel:
    """Implements `core.ports.Model` with the first of its models that can be used.

    Args:
        models: In the order in which they are asked, at least one; all count with `counter`.
        counter: Estimates tokens.
        left_out: Why further models cannot stand in.
    """

    def __init__(
        self,
        models: Sequence[ChatModel],
        counter: SwitchingCounter,
        left_out: Sequence[ConfigError] = (),
    ) -> None:
        if not models:
            raise ValueError("no model at all")
        self._models = tuple(models)
        self.left_out = tuple(left_out)
        """Why further models cannot stand in, for people."""
        self._at = 0
        self.counter = counter
        """Estimates tokens for the model that answers."""

    @property
    def models(self) -> Sequence[ChatModel]:
        """All models, in order."""
        return self._models

    @property
    def current(self) -> ChatModel:
        """The model that answers now."""
        return self._models[self._at]

    @property
    def name(self) -> str:
        """Name of the model that answers now."""
        return self.current.name

    @property
    def window(self) -> int:
        """Its context window in tokens, 0 where unknown."""
        return self.current.window

    def body(self, request: ModelRequest) -> bytes:
        """Return the exact bytes that `reply` would send for this request now."""
        return self.current.body(request)

    def reply(self, request: ModelRequest) -> AsyncGenerator[ModelPiece, None]:
        """Ask the model that answers now, see `core.chat.model.ChatModel.reply`."""
        return self.current.reply(request)

    def cost_usd(self, usage: Usage) -> float | None:
        """Return the price of a request to the model that answers now, None where it is not known."""
        return self.current.cost_usd(usage)

    async def warm(self) -> None:
        """Load what the first request needs, off the event loop."""
        await self.current.warm()

    async def close(self) -> None:
        """Close all connections of all models."""
        for model in self._models:
            await model.close()

    def fall_back(self, error: ModelError) -> ModelSwitched | None:
        """Let the next model answer from now on.

        Args:
            error: Why the one that answers now cannot be used; nothing of it runs any more.

        Returns:
            What changed; None when there is no next model, or another model cannot help.
        """
        if self._at + 1 >= len(self._models) or not _is_models_fault(error):
            return None
        before = self.name
        self._go_to(self._at + 1)
        return ModelSwitched(
            before=before,
            model=self.name,
            label=self.current.options.provider.label,
            code=error.code,
            reason=error.message,
        )

    def start_over(self) -> None:
        """Let the first model answer again."""
        self._go_to(0)

    def _go_to(self, number: int) -> None:
        if number != self._at:
            self._at = number
            self.counter.count_for(number)


def fall_back(model: Model, error: ModelError) -> ModelSwitched | None:
    """Let the next of several models answer; None where there is none or none can help."""
    return model.fall_back(error) if isinstance(model, FallbackModel) else None


def start_over(model: Model | None) -> None:
    """Let the first of several models answer again."""
    if isinstance(model, FallbackModel):
        model.start_over()


def _is_models_fault(error: ModelError) -> bool:
    """Return whether another model may answer where this one did not; a request nobody can read is none."""
    if isinstance(error, ModelRefusedError):
        return error.code in USELESS_CODES
    return isinstance(error, ModelUnreachableError | ModelOverloadedError | ModelStreamError)
