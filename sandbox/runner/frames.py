"""The wire between host and runner: frames of a kind, a channel and a payload, both ways.

frame   = length of the payload (4 bytes, big endian), kind (1 byte), channel (4 bytes), payload
channel = number of a command or file operation, 0 for the connection itself
"""

from __future__ import annotations

import json
import struct
from enum import IntEnum
from typing import Any

HEADER = struct.Struct(">IBI")
_LENGTH = struct.Struct(">I")
VERSION = 1
"""Of this wire; the runner says it in HELLO."""
WINDOW_BYTES = 1 << 20
"""Output of one command that may be on its way without being acknowledged."""
MAX_PAYLOAD_BYTES = 64 << 20
"""A longer frame means that the stream is garbage."""


class Kind(IntEnum):
    """What a frame is."""

    RUN = 1
    """Host: begin a command; JSON."""
    ACK = 2
    """Host: this many bytes of output were taken in; 4 bytes."""
    STOP = 3
    """Host: end the command."""
    FILE = 4
    """Host: a file operation; JSON and data (`join`)."""
    PING = 5
    """Host: are you there? Answered by PONG."""
    HELLO = 65
    """Runner: ready; JSON."""
    OUT = 66
    """Runner: a piece of stdout."""
    ERR = 67
    """Runner: a piece of stderr."""
    EXIT = 68
    """Runner: the command ended; JSON; nothing more comes on its channel."""
    FILE_REPLY = 69
    """Runner: the result of a file operation; JSON and data (`join`)."""
    PONG = 70
    """Runner: I am."""


class GarbledStreamError(Exception):
    """What came is not a frame."""


def encode(kind: int, channel: int, payload: bytes = b"") -> bytes:
    """Return a frame."""
    return HEADER.pack(len(payload), kind, channel) + payload


def encode_json(kind: int, channel: int, value: Any) -> bytes:
    """Return a frame that holds JSON."""
    return encode(kind, channel, json.dumps(value).encode())


def join(head: Any, data: bytes) -> bytes:
    """Return a payload of JSON and data behind it."""
    text = json.dumps(head).encode()
    return _LENGTH.pack(len(text)) + text + data


def part(payload: bytes) -> tuple[Any, bytes]:
    """Return the JSON and the data of a payload made by `join`."""
    (length,) = _LENGTH.unpack_from(payload)
    end = _LENGTH.size + length
    return json.loads(payload[_LENGTH.size : end]), payload[end:]


def encode_count(kind: int, channel: int, count: int) -> bytes:
    """Return a frame that holds one number."""
    return encode(kind, channel, _LENGTH.pack(count))


def count_of(payload: bytes) -> int:
    """Return the number of a frame made by `encode_count`."""
    return int(_LENGTH.unpack(payload)[0])


class Decoder:
    """Cuts a stream into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[tuple[int, int, bytes]]:
        """Take bytes in and return the frames that are now whole, as (kind, channel, payload).

        Raises:
            GarbledStreamError: These are no frames; the stream cannot be used any more.
        """
        self._buffer += data
        frames = []
        offset = 0
        while len(self._buffer) - offset >= HEADER.size:
            length, kind, channel = HEADER.unpack_from(self._buffer, offset)
            if length > MAX_PAYLOAD_BYTES:
                raise GarbledStreamError(f"a frame of {length} bytes")
            start = offset + HEADER.size
            if len(self._buffer) - start < length:
                break
            frames.append((kind, channel, bytes(self._buffer[start : start + length])))
            offset = start + length
        del self._buffer[:offset]
        return frames
