"""The Conversation pane: the transcript, drawn by lines; it follows its end only while the end is in view."""

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from textual.content import Content

from tui.block_rows import Look, block_text, draw_block, estimated_height, is_spaced
from tui.keys import CONVERSATION_KEYS
from tui.pane_messages import CopyAsked, FullTextAsked, NewBelow
from tui.widgets.block_view import BlockView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.binding import BindingType

    from core.run_view import RunView
    from core.view.conversation import Block
    from tui.markdown_rows import MarkdownRows

FOLDING: Final = frozenset({"call", "reasoning"})
"""Kinds of blocks that can be folded; they start so."""
_BLANK: Final = Content("")


@dataclass(slots=True)
class OpenText:
    """The rows of the text that streams now."""

    block: int
    rows: "MarkdownRows"
    first_changed: int = 0
    """The first row that changed since it was asked for last."""


class ConversationPane(BlockView):
    """What was said, called, asked and answered."""

    PANE_ID: ClassVar = "conversation"
    PANE_TITLE: ClassVar = "Conversation"
    BINDINGS: ClassVar["list[BindingType]"] = [*CONVERSATION_KEYS]

    def __init__(self) -> None:
        """Make an empty transcript."""
        super().__init__(id="conversation")
        self._blocks: Sequence[Block] = ()
        self._settled = 0
        self._unfolded: set[int] = set()
        self._all_unfolded = False
        self._open_text: OpenText | None = None
        self._seen = 0
        """Blocks that were there when the end was in view last."""
        self._told = 0

    def show(self, view: "RunView") -> None:
        """Show the newest state."""
        talk = view.conversation
        self._blocks = talk.blocks
        self.update_blocks(self._settled)
        self._settled = min(talk.settled, len(self._heights))
        self._tell_new()

    def reveal(self, n: int) -> None:
        """Bring the block of record `n`, or the one before it, into view and choose it."""
        found = [at for at, block in enumerate(self._blocks) if block.n <= n]
        if found and self.block_width:
            self.choose(found[-1])

    def count_blocks(self) -> int:
        """Return the number of blocks."""
        return len(self._blocks)

    def stamp(self, block: int) -> int:
        """Return a number that changes with the block and with its fold."""
        return self._blocks[block].revision * 2 + self._is_folded(block)

    def estimate(self, block: int, width_cells: int) -> int:
        """Return about how many rows the block takes, the blank one above it included."""
        look = Look(width_cells, is_folded=self._is_folded(block))
        height = estimated_height(self._blocks[block], look)
        return height + self._is_spaced(block) if height else 0

    def draw_rows(self, block: int, width_cells: int) -> "Sequence[Content]":
        """Draw the block; the text that streams keeps the rows that are done."""
        shown = self._blocks[block]
        if shown.kind == "text" and shown.is_open:
            rows = self._stream_rows(block, shown.text, width_cells)
        else:
            rows = draw_block(shown, Look(width_cells, is_folded=self._is_folded(block)))
        return [_BLANK, *rows] if rows and self._is_spaced(block) else rows

    def first_changed_row(self, block: int) -> int:
        """Return from where on the text that streams changed."""
        stream = self._open_text
        if stream is None or stream.block != block:
            return 0
        first, stream.first_changed = stream.first_changed, sys.maxsize
        return min(first, len(stream.rows.rows))

    def rebuild(self) -> None:
        """Draw everything anew."""
        self._open_text = None
        super().rebuild()
        self._tell_new()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Tell how much is below."""
        super().watch_scroll_y(old_value, new_value)
        self._tell_new()

    def on_click(self, event: "events.Click") -> None:
        """Choose a block; a click on the first line of a card folds it."""
        found = self.block_at(self.scroll_offset.y + event.y)
        if found is None or event.x >= self.row_width:
            return
        block, row = found
        self.choose(block)
        if row == self._is_spaced(block):
            self.action_toggle_fold()

    def action_choose_block(self, step: int) -> None:
        """Choose the next or the previous block that is shown, beginning at what is in view."""
        count, in_view = len(self._heights), self.block_at(self.scroll_offset.y)
        start = count if step < 0 else (in_view[0] - 1 if in_view else -1)
        block = (start if self.chosen is None else self.chosen) + step
        while 0 <= block < count and not self._heights.height(block):
            block += step
        if 0 <= block < count:
            self.choose(block)

    def action_toggle_fold(self) -> None:
        """Fold or unfold the chosen block."""
        block = self.chosen
        if block is None or self._blocks[block].kind not in FOLDING:
            return
        self._unfolded ^= {block}
        self.update_blocks(block)
        self.choose(block)

    def action_fold_all(self) -> None:
        """Fold everything, or unfold everything."""
        self._all_unfolded = not self._all_unfolded
        self._unfolded.clear()
        self.rebuild()

    def action_view_full(self) -> None:
        """Ask for the full text of the chosen block."""
        if self.chosen is not None:
            block = self._blocks[self.chosen]
            title = block.call.name if block.kind == "call" else block.kind
            self.post_message(FullTextAsked(title, block_text(block)))

    def action_copy_block(self) -> None:
        """Copy the chosen block, else the last answer."""
        chosen = self.chosen if self.chosen is not None else len(self._blocks) - 1
        if 0 <= chosen < len(self._blocks):
            self.post_message(CopyAsked(block_text(self._blocks[chosen])))

    def _is_folded(self, block: int) -> bool:
        return (block in self._unfolded) == self._all_unfolded

    def _is_spaced(self, block: int) -> bool:
        return is_spaced(self._blocks[block], self._blocks[block - 1] if block else None)

    def _stream_rows(self, block: int, text: str, width_cells: int) -> "Sequence[Content]":
        stream = self._open_text
        if stream is None or stream.block != block:
            from tui.markdown_rows import MarkdownRows  # the parser stays off the start path

            stream = self._open_text = OpenText(block, MarkdownRows(width_cells))
        stream.first_changed = min(stream.first_changed, stream.rows.set_text(text))
        return stream.rows.rows

    def _tell_new(self) -> None:
        if not self.block_width:
            return
        if self.end_in_view:
            self._seen = len(self._blocks)
        count = len(self._blocks) - self._seen
        if count != self._told:
            self._told = count
            self.post_message(NewBelow(count))
