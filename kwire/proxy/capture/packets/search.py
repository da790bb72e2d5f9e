"""Finds the next frame in bytes that begin somewhere: behind a gap, or before the file.

Every position can be the first of a frame. Those with a head that could be one are judged: a whole
frame has to decode without rest; one that goes on is believed where a segment begins, or where the
client id is the one that the connection has. Each byte is looked at once, and decoding has a
budget, so that the time is linear in the bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum
from struct import iter_unpack
from typing import Protocol

from kwire.errors import KwireError
from kwire.net.frames import FRAME_LIMIT, decode_request, decode_response
from kwire.proxy.capture.packets.framing import FilePairing
from kwire.proxy.flows.flow import Flow
from kwire.proxy.flows.heads import RESPONSE, SIZE, WHOLE, is_request

WAIT_LIMIT = 64 * 1024
"""Bytes of the longest frame that is waited for to judge it."""

_BUDGET, _JUDGED = 8, 32
"""Bytes that may be decoded for each byte that is searched; what judging one head counts as."""

_HEAD = re.compile(rb"(?=[\x00-\x06](?s:...)\x00[\x00-\x7f]\x00[\x00-\x1f](?s:....)[\x00\xff])")
_NAME = 4  # bytes of a client id by which a request is known
_LEAST_REQUEST = WHOLE.size - SIZE.size
_LEAST_RESPONSE = RESPONSE.size - SIZE.size


class Verdict(Enum):
    """YES: a frame begins here. LATER: more bytes will tell."""

    YES = "yes"
    NO = "no"
    LATER = "later"


class Candidates(Protocol):
    """The frames of one direction. least: bytes of a head."""

    least: int

    def positions(self, data: bytes) -> Iterable[int]:
        """Return the positions at which a whole head could be."""

    def judge(self, data: bytes, position: int, *, begins: bool) -> tuple[Verdict, int]:
        """Judge a head. begins: a segment does here.

        Returns how many bytes were decoded, too; with LATER, how many have to be there.
        """


class FrameSearch:
    """Searches in bytes as they come. passed_over: bytes before the frame, or so far."""

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates
        self._data = bytearray()
        self._begins: set[int] = set()
        self._need = 0
        self._budget = WAIT_LIMIT
        self.passed_over = 0

    def feed(self, data: bytes) -> bytes | None:
        """Return the bytes from the first frame on, None if there is none yet."""
        self._begins.add(len(self._data))
        self._data += data
        self._budget += _BUDGET * len(data)
        if len(self._data) < self._need:
            return None
        whole = bytes(self._data)
        for position in self._candidates.positions(whole):
            begins = position in self._begins
            if self._budget <= 0 and not begins:
                continue
            verdict, size = self._candidates.judge(whole, position, begins=begins)
            self._budget -= _JUDGED
            if verdict is Verdict.YES:
                self._drop(position)
                return whole[position:]
            if verdict is Verdict.LATER:
                self._drop(position)
                self._need = size
                return None
            self._budget -= size
        self._drop(max(len(whole) - self._candidates.least + 1, 0))
        return None

    def reset(self) -> None:
        """Forget the bytes: they do not go on."""
        self._drop(len(self._data))

    def _drop(self, size: int) -> None:
        self.passed_over += size
        del self._data[:size]
        self._begins = {place - size for place in self._begins if place >= size}
        self._need = 0


class Requests:
    """Requests of APIs and versions that exist, with a client id that can be one."""

    least = WHOLE.size

    def __init__(self) -> None:
        self.client_id: bytes = b""

    def positions(self, data: bytes) -> Iterable[int]:
        """Return the positions at which a whole head could be."""
        return (match.start() for match in _HEAD.finditer(data))

    def judge(self, data: bytes, position: int, *, begins: bool) -> tuple[Verdict, int]:
        """Judge a head."""
        if len(data) - position < WHOLE.size:
            return Verdict.LATER, WHOLE.size
        size, _, _, _, length = WHOLE.unpack_from(data, position)
        if (
            not _LEAST_REQUEST <= size <= FRAME_LIMIT
            or not -1 <= length <= size - _LEAST_REQUEST
            or not is_request(data, position)
        ):
            return Verdict.NO, 0
        client_id = data[position + WHOLE.size : position + WHOLE.size + max(length, 0)]
        if not _is_name(client_id):
            return Verdict.NO, 0
        known = bool(client_id) and client_id == self.client_id
        end = position + SIZE.size + size
        if end <= len(data):
            fits = (known and begins) or _decodes(data[position + SIZE.size : end])
            return Verdict.YES if fits else Verdict.NO, size
        # The packet may be cut within the client id.
        if known or (begins and 0 < min(length, _NAME) <= len(client_id)):
            return Verdict.YES, 0
        return (Verdict.LATER, end - position) if size <= WAIT_LIMIT else (Verdict.NO, 0)


class Responses:
    """Responses to requests that wait for one."""

    least = RESPONSE.size

    def __init__(self, pairing: FilePairing) -> None:
        self._pairing = pairing
        self._awaited: dict[int, Flow] = {}

    def positions(self, data: bytes) -> Iterable[int]:
        """Return the positions at which a whole head with an awaited id could be."""
        self._awaited = awaited = self._pairing.awaited_flows()
        if not awaited:
            return ()
        found, view = [], memoryview(data)
        for first in range(4):
            end = len(data) - (len(data) - first) % 4
            ids = iter_unpack(">i", view[first + SIZE.size : max(end, first + SIZE.size)])
            found += [first + 4 * place for place, (i,) in enumerate(ids) if i in awaited]
        return sorted(found)

    def judge(self, data: bytes, position: int, *, begins: bool) -> tuple[Verdict, int]:
        """Judge a head."""
        size, correlation_id = RESPONSE.unpack_from(data, position)
        flow = self._awaited.get(correlation_id)
        if flow is None or not _LEAST_RESPONSE <= size <= FRAME_LIMIT:
            return Verdict.NO, 0
        end = position + SIZE.size + size
        if end <= len(data):
            frame = data[position + SIZE.size : end]
            fits = _decodes(frame, (flow.key, flow.version)) or (begins and end == len(data))
            return Verdict.YES if fits else Verdict.NO, size
        if begins:
            return Verdict.YES, 0
        return (Verdict.LATER, end - position) if size <= WAIT_LIMIT else (Verdict.NO, 0)


def _is_name(client_id: bytes) -> bool:
    try:
        return client_id.decode().isprintable()
    except UnicodeDecodeError as cut:
        return cut.end == len(client_id) and len(client_id) - cut.start < 4


def _decodes(frame: bytes, of: tuple[int, int] | None = None) -> bool:
    """True if a frame is a whole request, or the response to one of this API and version."""
    try:
        return not (decode_request(frame) if of is None else decode_response(frame, *of)).left_over
    except KwireError:
        return False
