"""What a model yields while it answers."""

from typing import TypeAlias

from core.events import (
    ModelAdapted,
    ModelRequested,
    ModelRetried,
    ReasoningStreamed,
    TextStreamed,
)
from core.messages import ModelReply
from core.model_events import ModelDowngraded

ModelPiece: TypeAlias = (
    ModelRequested
    | TextStreamed
    | ReasoningStreamed
    | ModelRetried
    | ModelAdapted
    | ModelDowngraded
    | ModelReply
)
"""`ModelRequested` comes before each try is sent, the reply last and once."""
