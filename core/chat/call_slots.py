"""Puts the pieces of streamed calls together: which piece belongs to which call.

Servers disagree on indexes and ids (missing, all zero, starting at 1, repeated, one a piece), so a piece is routed by
what is known of it: id first, then index, then whether the call before it is complete.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from core.chat.argument_repair import plain_object
from core.chat.json_shape import kept_value, mapping_of, text_of
from core.chat.tool_names import ToolNames
from core.messages import JsonValue

_OWN_KEYS = frozenset(("index", "id", "type", "function", "name", "arguments"))
Piece = Mapping[str, object]


@dataclass(slots=True)
class CallSlot:
    """One call while its pieces come in."""

    id: str = ""
    name: str = ""
    parts: list[str] = field(default_factory=list)
    """Pieces of the arguments."""
    extra: dict[str, JsonValue] = field(default_factory=dict)
    """What the server added to the call, kept as it is."""

    @property
    def arguments(self) -> str:
        """The arguments so far."""
        return "".join(self.parts)

    def is_closed(self) -> bool:
        """Return whether the arguments are a whole object."""
        if not self.parts or self.parts[-1].rstrip()[-1:] not in ("", "}"):
            return False  # told from the last piece: joining all of them for each one would take ever longer
        return plain_object(self.arguments) is not None

    def is_open(self) -> bool:
        """Return whether the arguments have begun and are no whole object yet."""
        return bool(self.parts) and not self.is_closed()


class CallSlots:
    """All calls of one reply.

    Args:
        names: Tells when a name that comes in pieces is complete.
    """

    def __init__(self, names: ToolNames) -> None:
        self._names = names
        self._by_id: dict[str, CallSlot] = {}
        self._by_index: dict[object, CallSlot] = {}
        self.slots: list[CallSlot] = []
        """In the order they began."""

    def add(self, piece: Piece) -> None:
        """Take one entry of `tool_calls`."""
        function = mapping_of(piece.get("function")) or piece
        name = text_of(function.get("name"))
        arguments = _argument_text(function.get("arguments"))
        slot = self._slot(piece, name, arguments)
        self._learn(slot, piece, name)
        if arguments:
            slot.parts.append(arguments)

    def add_legacy(self, function_call: Piece) -> None:
        """Take a piece of the old `function_call` field, of which a reply has one."""
        if function_call:
            self.add({"index": "function_call", "function": function_call})

    def _slot(self, piece: Piece, name: str, arguments: str) -> CallSlot:
        call_id, index = text_of(piece.get("id")), _index(piece.get("index"))
        known = self._by_id.get(call_id) if call_id else None
        if known is not None and not self._reuses_id(known, index, name):
            return known
        if index is not None and index in self._by_index:
            owner = self._by_index[index]
            return self._new(index) if self._begins_new(owner, call_id, name, arguments) else owner
        last = self.slots[-1] if self.slots else None
        if index is not None:
            if last is not None and not call_id and not name and last.is_open():
                self._by_index[index] = last
                return last
            return self._new(index)
        if last is None or call_id or self._begins_new(last, "", name, arguments):
            return self._new(None)
        return last

    def _begins_new(self, owner: CallSlot, call_id: str, name: str, arguments: str) -> bool:
        """Return whether a piece on the place of `owner` is the start of another call."""
        if call_id and owner.id and call_id != owner.id:
            # Some servers give every piece an id of its own: a nameless tail goes on with an open call.
            return bool(name) or not owner.is_open()
        if not name:
            return False
        if self._is_another(owner, name):
            return not owner.is_open()
        return arguments.lstrip().startswith("{") and owner.is_closed()

    def _reuses_id(self, known: CallSlot, index: object, name: str) -> bool:
        """Return whether a known id stands on another call: another name, or a place of its own."""
        if not name or known.is_open():
            return False
        elsewhere = (
            index is not None and self._by_index.get(index) is not known and known.is_closed()
        )
        return elsewhere or self._is_another(known, name)

    def _is_another(self, slot: CallSlot, name: str) -> bool:
        """Return whether both names are whole and mean different tools."""
        known, other = self._names.find(slot.name), self._names.find(name)
        return known is not None and other is not None and known.spec is not other.spec

    def _new(self, index: object) -> CallSlot:
        slot = CallSlot()
        self.slots.append(slot)
        if index is not None:
            self._by_index[index] = slot
        return slot

    def _learn(self, slot: CallSlot, piece: Piece, name: str) -> None:
        call_id = text_of(piece.get("id"))
        if call_id:
            slot.id = slot.id or call_id
            self._by_id.setdefault(call_id, slot)
        if name:
            slot.name = self._joined_name(slot, name)
        for key, value in piece.items():
            if key not in _OWN_KEYS and value is not None:
                slot.extra[key] = kept_value(value)

    def _joined_name(self, slot: CallSlot, piece: str) -> str:
        so_far = slot.name
        if not so_far or piece.startswith(so_far):
            return piece
        joined = so_far + piece
        if self._names.knows(joined):
            return joined
        # A whole name is not joined with anything: what follows is a repeat.
        return so_far if self._names.find(so_far) is not None else joined


def _index(value: object) -> object:
    """Return the place a piece names, None where it is nothing that can name one."""
    return value if isinstance(value, str | int | float) else None


def _argument_text(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)
