"""Rows of many blocks, found quickly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.widgets.block_heights import GROUP, BlockHeights

HEIGHTS = st.lists(st.integers(0, 5), min_size=1, max_size=3 * GROUP)


def filled(heights: list[int]) -> BlockHeights:
    found = BlockHeights()
    for height in heights:
        found.append(height)
    return found


@given(HEIGHTS)
def test_each_row_belongs_to_the_block_that_covers_it(heights: list[int]) -> None:
    found = filled(heights)
    expected = [(block, row) for block, height in enumerate(heights) for row in range(height)]
    assert found.total == len(expected)
    assert [found.locate(row) for row in range(found.total)] == expected


@given(HEIGHTS, st.data())
def test_a_new_height_moves_what_is_below(heights: list[int], data: st.DataObject) -> None:
    found = filled(heights)
    block = data.draw(st.integers(0, len(heights) - 1))
    height = data.draw(st.integers(0, 9))
    assert found.set(block, height) == height - heights[block]
    heights[block] = height
    assert found.total == sum(heights)
    assert [found.start(at) for at in range(len(heights) + 1)] == [
        sum(heights[:at]) for at in range(len(heights) + 1)
    ]


def test_heights_are_estimates_until_they_are_set() -> None:
    found = filled([2, 2])
    found.set(1, 3)
    assert [found.is_exact(block) for block in range(2)] == [False, True]
    found.replace([4, 4])
    assert [found.is_exact(block) for block in range(2)] == [False, False]
    assert (len(found), found.total) == (2, 8)


def test_a_row_below_the_last_one_is_an_error_of_the_caller() -> None:
    with pytest.raises(IndexError):
        filled([1]).locate(1)
