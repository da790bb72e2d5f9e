"""Follows the frames in the bytes that pass, one framer for each direction of a connection.

The state is how many bytes of the current frame are left, and its head where that came in pieces.
A frame is passed or tapped. Without filters no byte is changed and none waits: what `feed` takes is
what it returns. Where there are filters a gate stands behind the framer and keeps the frames that
they want: `feed` then returns what may pass now.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kwire.messages.registry import api_key, api_keys
from kwire.net.frames import FRAME_LIMIT
from kwire.proxy.data_path.copies import Copies, Copy
from kwire.proxy.data_path.pairing import Pairing
from kwire.proxy.flows.flow import Ending, Flow, Kind
from kwire.proxy.flows.heads import REQUEST, RESPONSE, SIZE, WHOLE, More, is_request, strange, tail
from kwire.proxy.flows.interest import Direction, Interest, Wants

if TYPE_CHECKING:
    from kwire.proxy.data_path.gate import Gate
    from kwire.proxy.data_path.hold import Hold

_SASL_HANDSHAKE = api_key("SaslHandshake")
_CAREFUL = api_keys("Produce", "ControlledShutdown", "SaslHandshake")
_LEAST_REQUEST = REQUEST.size - SIZE.size
_LEAST_RESPONSE = RESPONSE.size - SIZE.size
_DELIVERED = (Ending.ANSWERED, Ending.LOST)
_NO_RESPONSE = Ending.NO_RESPONSE
_SHORT_ID = 255
_NO_ROOM = "not copied: the memory for copies is used up"


_TAP = Interest.TAP  # an enum's members are slow to look up
_REQUEST, _RESPONSE = Direction.REQUEST, Direction.RESPONSE


class Framer:
    """The framing that both directions have in common. _what: names a frame of this direction.

    passed: bytes so far. frames: how many have begun. lost: whether what passes are no frames; it
    is not looked at any more then.
    """

    _what: str

    def __init__(
        self, pairing: Pairing, wants: Wants, copies: Copies, limit: int = FRAME_LIMIT
    ) -> None:
        self._pairing = pairing
        self._wants = wants
        self._copies = copies
        self._limit = limit
        self._head = bytearray()
        self._need = 0
        self._left = 0
        self._size = 0
        self._flow: Flow | None = None
        self._copy: Copy | None = None
        self._hold: Hold | None = None
        self._gate: Gate | None = None
        self.passed = 0
        self.frames = 0
        self.lost = False

    @property
    def unfinished(self) -> bool:
        """Whether a frame has begun and not ended."""
        return self._left > 0 or len(self._head) > 0

    def feed(self, chunk: bytes, at: float, now: float) -> bytes:
        """Bytes have come; returns those to send on. at: Unix seconds; now: of a steady clock."""
        position, end = 0, len(chunk)
        self.passed += end
        between = not (self._left or self._head or self.lost)
        if between and self._gate is None and self._pass_one(chunk, at, now):
            return chunk
        while position < end and not self.lost:
            if self._left:
                position = self._advance(chunk, position, min(position + self._left, end))
            elif self._head:
                position = self._assemble(chunk, position, at, now)
            elif need := self._open(chunk, position, at, now):
                self._need = need
                self._head += chunk[position:]
                position = end
        return chunk if self._gate is None else self._let_through(self._gate, chunk, position)

    def finish(self) -> None:
        """Give up the frame that has not come whole: no more bytes will come."""
        flow = self._flow
        if flow is not None:
            problem = f"{self._size - self._left} of the {self._what}'s {self._size} bytes came"
            held = self._gate is not None and self._gate.holding
            self._give_up(flow, f"{problem}, and none was sent on" if held else problem)
        if self._copy is not None:
            self._copy.abandon()
        if self._gate is not None:
            self._gate.cut_short()
        self._head.clear()
        self._left, self._flow, self._copy = 0, None, None

    @property
    def progress(self) -> str:
        """Tell how much of the current frame has come, to add to "closed"; "" between frames."""
        if self.lost or not self.unfinished:
            return ""
        if not self._left:
            return f"after {len(self._head)} bytes of a {self._what}"
        api = "" if self._flow is None else f"{self._flow.api} "
        return f"after {self._size - self._left} of {self._size} bytes of its {api}{self._what}"

    def hold(self, hold: Hold) -> None:
        """Let filters see what they want; before the first byte."""
        raise NotImplementedError

    def _pass_one(self, chunk: bytes, at: float, now: float) -> bool:
        """The common case, for speed: the chunk is one usual frame, and passes as it is."""
        raise NotImplementedError

    def _copied(self, chunk: bytes, flow: Flow) -> bytes | None:
        """The copy of a chunk that is one frame, where there is room."""
        copy = Copy(self._copies)
        copy.add(chunk, 0, len(chunk))
        if copy.dropped:
            flow.problems.append(_NO_ROOM)
        return copy.finish()

    def _open(self, chunk: bytes, start: int, at: float, now: float) -> int:
        """A frame begins at `start`: the bytes its head needs if they are not all there, or 0."""
        raise NotImplementedError

    def _end(self, flow: Flow, copy: bytes | None) -> None:
        """The last byte of a flow's frame has passed."""
        raise NotImplementedError

    def _give_up(self, flow: Flow, problem: str) -> None:
        """The rest of a flow's frame will not come."""
        raise NotImplementedError

    def _advance(self, chunk: bytes, start: int, end: int) -> int:
        if self._copy is not None:
            self._copy.add(chunk, start, end)
        self._left -= end - start
        if self._hold is not None:
            self._advance_held(self._hold, chunk, start, end)
        elif not self._left and self._flow is not None:
            self._finish(self._flow)
        return end

    def _advance_held(self, hold: Hold, chunk: bytes, start: int, end: int) -> None:
        """The same where there are filters: behind a frame what they want to send has its turn."""
        assert self._gate is not None
        self._gate.add(chunk, start, end)
        if not self._left:
            if self._flow is not None:
                self._finish(self._flow)
            self._gate.ended()
            hold.answer_in_turn()

    def _let_through(self, gate: Gate, chunk: bytes, position: int) -> bytes:
        """What the gate lets pass of a chunk; what is no frame passes it whole."""
        if self.lost:
            head = bytes(self._head)
            self._head.clear()
            gate.add(head, 0, len(head))
            gate.add(chunk, position, len(chunk))
        return gate.take()

    def _assemble(self, chunk: bytes, start: int, at: float, now: float) -> int:
        missing = self._need - len(self._head)
        piece = chunk[start : start + missing]
        self._head += piece
        if len(piece) == missing:
            head = bytes(self._head)
            self._need = self._open(head, 0, at, now)
            if not self._need and not self.lost:
                self._head.clear()
                self._advance(head, 0, len(head))
        return start + len(piece)

    def _finish(self, flow: Flow) -> None:
        copy = self._copy
        self._flow = self._copy = None
        if copy is not None and copy.dropped:
            flow.problems.append(_NO_ROOM)
        data = None if copy is None else copy.finish()
        if self._gate is not None and self._gate.holding:
            self._gate.whole(partial(self._end, flow, data))
        else:
            self._end(flow, data)

    def _lose(self, size: int, at: float) -> None:
        self.lost = True
        text = f"{strange(size)}, 1 to {self._limit} allowed; from here on bytes only pass"
        self._pairing.unreadable(text, at)

    def _follow(self, size: int, flow: Flow | None, direction: Direction) -> None:
        self.frames += 1
        self._left = self._size = size + SIZE.size
        self._flow = flow
        if flow is not None and self._wants(flow.key, flow.version, direction) is _TAP:
            self._copy = Copy(self._copies)
        if self._gate is not None:
            self._gate.begin(flow, size)


class RequestFramer(Framer):
    """The direction from the client to the node."""

    _what = "request"
    _last_client_id = (b"", "")
    _tokens_passed = 0

    def hold(self, hold: Hold) -> None:
        """Let filters see what they want; before the first byte."""
        self._hold, self._gate = hold, hold.requests

    def _open(self, chunk: bytes, start: int, at: float, now: float) -> int:
        stop = len(chunk)
        if stop - start >= WHOLE.size and (flow := self._usual(chunk, start, at, now)) is not None:
            self._follow(flow.request_size, flow, _REQUEST)
            return 0
        if stop - start < SIZE.size:
            return SIZE.size
        (size,) = SIZE.unpack_from(chunk, start)
        if self._pairing.tokens and 0 <= size <= self._limit:
            return self._open_token(chunk, start, size, at, now)
        if not 0 < size <= self._limit:
            self._lose(size, at)
        elif size < _LEAST_REQUEST:
            self._pairing.unreadable(f"a request of {size} bytes, {_LEAST_REQUEST} needed", at)
            self._follow(size, None, _REQUEST)
        else:
            return self._open_request(chunk, start, at, now)
        return 0

    def _pass_one(self, chunk: bytes, at: float, now: float) -> bool:
        stop = len(chunk)
        if stop < WHOLE.size or SIZE.unpack_from(chunk)[0] + SIZE.size != stop:
            return False
        flow = self._usual(chunk, 0, at, now)
        if flow is None:
            return False
        self.frames += 1
        if self._wants(flow.key, flow.version, _REQUEST) is _TAP:
            flow.request_copy = self._copied(chunk, flow)
        return True

    def _usual(self, chunk: bytes, start: int, at: float, now: float) -> Flow | None:
        """The flow of a request whose head is whole, has a client id, and needs no more care."""
        size, key, version, correlation_id, length = WHOLE.unpack_from(chunk, start)
        begin = start + WHOLE.size
        if (
            not WHOLE.size - SIZE.size <= size <= self._limit
            or not 0 <= length <= size - WHOLE.size + SIZE.size
            or length > _SHORT_ID
            or begin + length > len(chunk)
            or key in _CAREFUL
            or self._pairing.tokens
        ):
            return None
        raw = chunk[begin : begin + length]
        if raw != self._last_client_id[0]:
            self._last_client_id = (raw, raw.decode("utf-8", "backslashreplace"))
        head = (key, version, correlation_id)
        return self._pairing.ask(head, self._last_client_id[1], size, at, now)

    def _open_request(self, chunk: bytes, start: int, at: float, now: float) -> int:
        if len(chunk) - start < REQUEST.size:
            return REQUEST.size
        size, key, version, correlation_id = REQUEST.unpack_from(chunk, start)
        try:
            client_id, acks, problem = tail(chunk, start, len(chunk), size, key, version)
        except More as more:
            return more.need
        head = (key, version, correlation_id)
        flow = self._pairing.ask(head, client_id, size, at, now, answered=acks != 0)
        if problem:
            flow.problems.append(problem)
        if key == _SASL_HANDSHAKE and version == 0:
            self._pairing.tokens = True
        self._follow(size, flow, _REQUEST)
        return 0

    def _open_token(self, chunk: bytes, start: int, size: int, at: float, now: float) -> int:
        """Bare SASL tokens follow SaslHandshake v0 until a request does: secrets, never read."""
        if size >= _LEAST_REQUEST:
            if len(chunk) - start < REQUEST.size:
                return REQUEST.size
            if is_request(chunk, start):
                self._pairing.tokens = False
                self._pairing.token_responses = 0
                text = f"{self._tokens_passed} bare tokens passed unread after SaslHandshake v0"
                self._pairing.tell(Kind.SASL_TOKENS, text, at)
                return self._open_request(chunk, start, at, now)
        self._pairing.token_responses += 1
        self._tokens_passed += 1
        self._follow(size, None, _REQUEST)
        return 0

    def _end(self, flow: Flow, copy: bytes | None) -> None:
        if flow.ending in _DELIVERED:  # before its request was whole: nobody waits for the copy
            self._copies.give_back(len(copy or b""))
            return
        flow.request_copy = copy
        if flow.ending is _NO_RESPONSE:
            self._pairing.end(flow)

    def _give_up(self, flow: Flow, problem: str) -> None:
        if flow.ending is _NO_RESPONSE:
            self._pairing.lose(flow, problem)
        elif flow.ending not in _DELIVERED:
            flow.problems.append(problem)


class ResponseFramer(Framer):
    """The direction from the node to the client."""

    _what = "response"

    def hold(self, hold: Hold) -> None:
        """Let filters see what they want; before the first byte."""
        self._hold, self._gate = hold, hold.responses

    def _pass_one(self, chunk: bytes, at: float, now: float) -> bool:
        if len(chunk) < RESPONSE.size:
            return False
        size, correlation_id = RESPONSE.unpack_from(chunk)
        if not len(chunk) == size + SIZE.size <= self._limit or self._pairing.awaits_token:
            return False
        self.frames += 1
        flow = self._pairing.answer(correlation_id, size, at, now)
        if flow is not None:
            if self._wants(flow.key, flow.version, _RESPONSE) is _TAP:
                flow.response_copy = self._copied(chunk, flow)
            self._pairing.end(flow)
        return True

    def _open(self, chunk: bytes, start: int, at: float, now: float) -> int:
        stop = len(chunk)
        if stop - start < SIZE.size:
            return SIZE.size
        (size,) = SIZE.unpack_from(chunk, start)
        if self._pairing.awaits_token and 0 <= size <= self._limit:
            self._pairing.token_responses -= 1
            self._follow(size, None, _RESPONSE)
        elif not 0 < size <= self._limit:
            self._lose(size, at)
        elif size < _LEAST_RESPONSE:
            self._pairing.unreadable(f"a response of {size} bytes, {_LEAST_RESPONSE} needed", at)
            self._follow(size, None, _RESPONSE)
        elif stop - start < RESPONSE.size:
            return RESPONSE.size
        else:
            _, correlation_id = RESPONSE.unpack_from(chunk, start)
            flow = None if self._hold is None else self._hold.own(correlation_id, size, now)
            if flow is None:
                flow = self._pairing.answer(correlation_id, size, at, now)
            self._follow(size, flow, _RESPONSE)
        return 0

    def _end(self, flow: Flow, copy: bytes | None) -> None:
        flow.response_copy = copy
        self._pairing.end(flow)

    def _give_up(self, flow: Flow, problem: str) -> None:
        if self._hold is None or not self._hold.owns(flow):
            self._pairing.put_back(flow, problem)
