"""What is known of a request that failed."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedFor:
    """What is known of the request that failed."""

    parameters: frozenset[str] = frozenset()
    """Top-level fields of its body."""
    has_images: bool = False
    estimated_tokens: int = 0
    window: int = 0
    """0 where unknown."""
    learned: Mapping[str, str] = field(default_factory=dict)
    """Flags learned before; the same refusal twice is final."""
