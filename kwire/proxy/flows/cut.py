"""Decodes the beginning of a frame that was copied up to a limit inside its record batches.

1. Decode. Where the bytes run out, the error names the field.
2. If that field is `records`, shorten its length to what is there, add zeros for what follows, and
   decode again: every field behind the records then has the value that zeros give.
3. Take the elements behind the field's own out of each array on its path, since zeros made them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from kwire.errors import DecodeError
from kwire.net.frames import RequestFrame, ResponseFrame, decode_request, decode_response
from kwire.proxy.flows.walk import RECORDS_FIELDS

ZEROS = bytes(64 * 1024)
"""Stands for the elements behind the cut; more of them than fit are not decoded."""

_STEP = re.compile(r"(\w+)(?:\[(\d+)\])?")

F = TypeVar("F", RequestFrame, ResponseFrame)


def decode_cut_request(copy: bytes) -> RequestFrame:
    """Return the request that begins with these bytes.

    Raises DecodeError if more than records is missing.
    """
    return _decode(copy, decode_request)


def decode_cut_response(copy: bytes, key: int, version: int) -> ResponseFrame:
    """Return the response that begins with these bytes. Raises like decode_cut_request."""
    return _decode(copy, lambda frame: decode_response(frame, key, version))


def _decode(copy: bytes, decode: Callable[[bytes], F]) -> F:
    try:
        return decode(copy)
    except DecodeError as error:
        if error.path.rpartition(".")[2] not in RECORDS_FIELDS:
            raise
        frame = decode(_mended(copy, error))
        _prune(frame.body, error.path)
        return frame


def _mended(copy: bytes, error: DecodeError) -> bytes:
    """Write the length that is left at the error's offset, in as many bytes as before."""
    start = error.offset
    compact = _is_compact(error)
    width = _varint_width(copy, start) if compact else 4
    size = max(len(copy) - start - width, 0)
    length = _varint(size + 1, width) if compact else size.to_bytes(4, "big")
    return copy[:start] + length + copy[start + width :] + ZEROS


def _is_compact(error: DecodeError) -> bool:
    from kwire.messages.registry import message

    return error.version in message(error.message).flexible


def _varint_width(data: bytes, start: int) -> int:
    width = 1
    while start + width <= len(data) and data[start + width - 1] & 0x80:
        width += 1
    return width


def _varint(value: int, width: int) -> bytes:
    """Return an unsigned varint of exactly `width` bytes, padded with empty groups."""
    groups = [value >> shift & 0x7F for shift in range(0, 7 * width, 7)]
    return bytes(group | 0x80 for group in groups[:-1]) + bytes(groups[-1:])


def _prune(body: Any, path: str) -> None:
    for name, index in _STEP.findall(path):
        value = getattr(body, name)
        if not index:
            return
        del value[int(index) + 1 :]
        body = value[int(index)]
