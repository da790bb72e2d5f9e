"""Reads a frame as the answer to a request, as strictly as a check must."""

from __future__ import annotations

import struct

from kwire.conform.reaction import Reaction
from kwire.errors import EncodeError, UnsupportedVersion, WireError
from kwire.net.frames import decode_response, encode_response
from kwire.text.untrusted import harmless

_CORRELATION_ID = struct.Struct(">i")
_SHOWN = 8
"""Bytes from the first that differs on."""


_OTHERS = {
    b"HTTP": "HTTP, not Kafka's protocol",
    b"SSH-": "SSH, not Kafka's protocol",
    b"\x15\x03": "a TLS alert: the port wants TLS",
    b"\x16\x03": "a TLS handshake: the port wants TLS",
}
"""Beginnings of other protocols, and what they mean."""


def no_frame_text(data: bytes) -> str:
    """Return a text for bytes that begin with no size of a frame."""
    for start, meaning in _OTHERS.items():
        if data.startswith(start):
            return meaning
    if len(data) > 4 and data[:64].isascii():
        return f"the text {harmless(data[:64].decode()).strip()!r}"
    return f"the size {int.from_bytes(data[:4], 'big', signed=True)} in front of it"


def part_text(data: bytes) -> str:
    """Return a text for the beginning of a frame, its size included as far as it came."""
    if len(data) < 4:
        return f"{len(data)} of the 4 bytes of its size"
    return f"{len(data) - 4} of its {int.from_bytes(data[:4], 'big')} bytes"


def read_answer(frame: bytes, key: int, version: int, correlation_id: int) -> Reaction:
    """Read a frame as the answer to a request; `problem` says where it is none.

    1. The correlation id is the request's.
    2. The body can be read, and nothing is left over.
    3. It can be written again. Other bytes with the same meaning are legal (KIP-482: a sender may
       write a tagged field that has its default), and `own_encoding` says where.
    """
    # 1.
    if len(frame) < _CORRELATION_ID.size:
        return Reaction(frame=frame, problem=f"its {len(frame)} bytes have no correlation id")
    (number,) = _CORRELATION_ID.unpack_from(frame)
    if number != correlation_id:
        return Reaction(frame=frame, problem=f"correlation id {number}, not {correlation_id}")
    # 2.
    try:
        decoded = decode_response(frame, key, version)
    except (WireError, UnsupportedVersion) as error:
        return Reaction(frame=frame, problem=str(error))
    if decoded.left_over:
        text = f"{decoded.left_over} bytes left over at its end"
        return Reaction(frame=frame, decoded=decoded, problem=text)
    # 3.
    try:
        again = encode_response(decoded.body, decoded.version, correlation_id=number)[4:]
    except EncodeError as error:
        return Reaction(frame=frame, decoded=decoded, problem=str(error))
    is_own = again != frame and not decoded.header.unknown_tags
    text = _difference(frame, again) if is_own else ""
    return Reaction(frame=frame, decoded=decoded, own_encoding=text)


def _difference(frame: bytes, again: bytes) -> str:
    """Return where two encodings of an answer part: `0001 from byte 12 on, where Kafka has 01`."""
    pairs = enumerate(zip(frame, again, strict=False))
    at = next((at for at, pair in pairs if pair[0] != pair[1]), min(len(frame), len(again)))
    came, kafka = (data[at : at + _SHOWN].hex() or "nothing" for data in (frame, again))
    return f"{came} from byte {at} on, where Kafka has {kafka}"
