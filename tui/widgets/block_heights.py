"""Heights of many blocks under each other: exact where they were drawn, estimated elsewhere."""

from collections.abc import Iterable
from typing import Final

GROUP: Final = 128
"""Blocks whose heights are summed together, so that finding a row among 100,000 takes about 1,000 additions."""


class BlockHeights:
    """Maps rows to blocks and back."""

    def __init__(self) -> None:
        """Start without blocks."""
        self._heights: list[int] = []
        self._exact = bytearray()
        self._sums: list[int] = []

    def __len__(self) -> int:
        """Return the number of blocks."""
        return len(self._heights)

    @property
    def total(self) -> int:
        """Rows of all blocks."""
        return sum(self._sums)

    def replace(self, estimates: Iterable[int]) -> None:
        """Start again with these estimated heights."""
        self._heights = list(estimates)
        self._exact = bytearray(len(self._heights))
        groups = range(0, len(self._heights), GROUP)
        self._sums = [sum(self._heights[at : at + GROUP]) for at in groups]

    def append(self, estimate: int) -> None:
        """Add a block at the end."""
        if len(self._heights) % GROUP == 0:
            self._sums.append(0)
        self._heights.append(estimate)
        self._exact.append(0)
        self._sums[-1] += estimate

    def set(self, block: int, height: int, *, is_exact: bool = True) -> int:
        """Give a block another height; returns by how much it grew."""
        grown = height - self._heights[block]
        self._heights[block] = height
        self._exact[block] = is_exact
        self._sums[block // GROUP] += grown
        return grown

    def height(self, block: int) -> int:
        """Return the height of a block."""
        return self._heights[block]

    def is_exact(self, block: int) -> bool:
        """Return whether the height is known, not estimated."""
        return bool(self._exact[block])

    def start(self, block: int) -> int:
        """Return the first row of a block; for the number of blocks, the row after the last one."""
        group = block // GROUP
        return sum(self._sums[:group]) + sum(self._heights[group * GROUP : block])

    def locate(self, row: int) -> tuple[int, int]:
        """Return the block that a row is part of, and the number of the row in it.

        Args:
            row: From 0, below `total`.
        """
        left, group = row, 0
        while left >= self._sums[group]:
            left -= self._sums[group]
            group += 1
        block = group * GROUP
        while left >= self._heights[block]:
            left -= self._heights[block]
            block += 1
        return block, left
