"""Follows the frames in the bytes that pass, one framer for each direction of a connection.

The state is how many bytes of the current frame are left, and its head where that came in pieces.
A frame is passed or tapped (copied). A framer changes no byte and delays none: each frame goes to
the FrameOutput of its direction, which writes it at once or holds it for filters.
"""

from __future__ import annotations

from typing import NamedTuple

from kwire.messages.registry import api_key, api_keys
from kwire.net.frames import FRAME_LIMIT
from kwire.proxy.data_path.copies import NO_ROOM, Copies, Copy
from kwire.proxy.data_path.moved import DirectionState, MovedFrames
from kwire.proxy.data_path.pairing import Pairing
from kwire.proxy.data_path.pass_through import FrameOutput
from kwire.proxy.flows.flow import Flow, NoticeKind, Outcome
from kwire.proxy.flows.heads import (
    REQUEST,
    RESPONSE,
    SIZE,
    WHOLE,
    More,
    describe_size,
    is_request,
    rest_of_head,
)
from kwire.proxy.flows.interest import Direction, Interest, Wants

_PRODUCE = api_key("Produce")
_SASL_HANDSHAKE, _SASL_AUTHENTICATE = api_key("SaslHandshake"), api_key("SaslAuthenticate")
_CAREFUL = api_keys("Produce", "ControlledShutdown", "SaslHandshake", "SaslAuthenticate")
"""APIs whose head is not enough: acks of Produce, no client id in ControlledShutdown v0, bare
tokens behind SaslHandshake v0, and what belongs to a login."""

# Constants, since `Struct.size` is made anew at each look-up, and these are needed for each frame.
_SIZE, _REQUEST_HEAD, _WHOLE_HEAD = SIZE.size, REQUEST.size, WHOLE.size
_RESPONSE_HEAD = RESPONSE.size
_LEAST_REQUEST = _REQUEST_HEAD - _SIZE
_LEAST_RESPONSE = _RESPONSE_HEAD - _SIZE
_LEAST_USUAL = _WHOLE_HEAD - _SIZE
_DELIVERED = (Outcome.ANSWERED, Outcome.LOST)
_NO_RESPONSE = Outcome.NO_RESPONSE
_SHORT_ID = 255

_TAP = Interest.TAP  # an enum's members are slow to look up
_REQUEST, _RESPONSE = Direction.REQUEST, Direction.RESPONSE


class Framing(NamedTuple):
    """Settings that the framers of a proxy share.

    wants: says which frames are copied, into the memory of `copies`. limit: bytes of the longest
    request that is believed to be one; a response may have any size if its correlation id is that
    of a request, since Kafka limits requests only.
    """

    wants: Wants
    copies: Copies
    limit: int = FRAME_LIMIT


class Framer:
    """The framing that both directions have in common. _what: names a frame of this direction.

    passed: bytes so far. frames: how many have begun. lost: True once what passes are no frames; it
    is not looked at any more then.
    """

    _what: str

    def __init__(self, pairing: Pairing, framing: Framing, output: FrameOutput) -> None:
        self._pairing = pairing
        self._wants, self._copies, self._limit = framing
        self._output = output
        # Bound once: each is one look-up instead of two for every chunk.
        self._transparent, self._flush = output.transparent, output.flush
        self._head = bytearray()
        self._need = 0
        self._left = 0
        self._size = 0
        self._flow: Flow | None = None
        self._copy: Copy | None = None
        self.passed = 0
        self.frames = 0
        self.lost = False

    @property
    def unfinished(self) -> bool:
        """True if a frame has begun and not ended."""
        return self._left > 0 or len(self._head) > 0

    @property
    def can_be_moved(self) -> bool:
        """True if the loop in C can go on here: no head has come in part, no copy was dropped."""
        unanswered = self._flow is not None and self._flow.outcome is _NO_RESPONSE
        dropped = self._copy is not None and self._copy.dropped
        return not (self._head or self.lost or unanswered or dropped)

    @property
    def passing(self) -> Flow | None:
        """The flow whose frame is passing."""
        return self._flow if self._left else None

    @property
    def copies(self) -> bool:
        """True if the frame that is passing is copied."""
        return self._copy is not None

    @property
    def moved(self) -> MovedFrames:
        """The state for the loop in C."""
        copy = None if self._copy is None else self._copy.finish()
        return MovedFrames(self.passed, self.frames, self._left, self._size, copy)

    def give_up(self) -> None:
        """Give the room of a copy back that somebody else goes on with."""
        if self._copy is not None:
            self._copy.abandon()
        self._copy = None

    def wants(self, flow: Flow, direction: Direction) -> bool:
        """Return True if a flow's frame in this direction is to be copied."""
        return self._wants(flow.key, flow.version, direction) is _TAP

    def restore(self, state: DirectionState, flow: Flow | None, copy: bytes | None) -> None:
        """Go on where the loop in C has stopped.

        flow: the one whose frame is passing. copy: of that frame so far, None for none.
        """
        self.passed, self.frames = state.passed, state.frames
        self._left, self._size, self._flow = state.left, state.size, flow
        self._head[:] = state.head
        self._need = state.need
        if copy is not None:
            self._copy = Copy.begun(self._copies, copy)

    def feed(self, chunk: bytes, at: float, now: float) -> None:
        """Find the frames in received bytes, and have each of them sent on or held.

        at: Unix seconds; now: seconds of a steady clock.
        """
        position, end = 0, len(chunk)
        self.passed += end
        if self._transparent and not (self._left or self._head or self.lost):
            while position < end and (behind := self._pass_whole(chunk, position, end, at, now)):
                position = behind
            if position == end:
                self._flush(chunk)
                return
        while position < end and not self.lost:
            if self._left:
                position = self._advance(chunk, position, min(position + self._left, end))
            elif self._head:
                position = self._assemble(chunk, position, at, now)
            elif need := self._open(chunk, position, at, now):
                self._need = need
                self._head += chunk[position:]
                position = end
        if self.lost:
            self._pass_unframed(chunk, position)
        self._flush(chunk)

    def finish(self) -> None:
        """Discard an incomplete frame: no more bytes will come."""
        flow = self._flow
        if flow is not None:
            problem = f"{self._size - self._left} of the {self._what}'s {self._size} bytes came"
            held = self._output.holding
            self._give_up(flow, f"{problem}, and none was sent on" if held else problem)
        if self._copy is not None:
            self._copy.abandon()
        self._output.cut_short()
        self._head.clear()
        self._left, self._flow, self._copy = 0, None, None

    @property
    def held_size(self) -> int:
        """Bytes of the frame that is coming, if it takes up memory until it is whole; else 0."""
        return self._size if self._left and self._output.holding else 0

    @property
    def progress(self) -> str:
        """The bytes that came of the current frame, to add to "closed"; "" between frames."""
        if self.lost or not self.unfinished:
            return ""
        if not self._left:
            return f"after {len(self._head)} bytes of a {self._what}"
        api = "" if self._flow is None else f"{self._flow.api} "
        return f"after {self._size - self._left} of {self._size} bytes of its {api}{self._what}"

    def _pass_whole(self, chunk: bytes, start: int, stop: int, at: float, now: float) -> int:
        """Follow a usual frame that is whole in chunk[start:stop]; return its end, 0 for others.

        Small requests and their responses nearly always come like this. `_open`, `_advance` and
        the output would give the same flow, with half as many calls again.
        """
        raise NotImplementedError

    def _copied(self, chunk: bytes, start: int, end: int, flow: Flow) -> bytes | None:
        """Return the copy of a frame that is whole, None where there is no room."""
        copy = Copy(self._copies)
        copy.add(chunk, start, end)
        if copy.dropped:
            flow.problems.append(NO_ROOM)
        return copy.finish()

    def _open(self, chunk: bytes, start: int, at: float, now: float) -> int:
        """Begin the frame at `start`; return the bytes its head needs if some are missing, or 0."""
        raise NotImplementedError

    def _end(self, flow: Flow, copy: bytes | None) -> None:
        """End a flow's frame: its last byte has passed, or its fate is decided."""
        raise NotImplementedError

    def _give_up(self, flow: Flow, problem: str) -> None:
        """End a flow's frame whose rest will not come."""
        raise NotImplementedError

    def _advance(self, chunk: bytes, start: int, end: int) -> int:
        # Copied before it is handed on: a gate may decide, and end the flow, within `end_frame`.
        copy = self._copy
        if copy is not None:
            copy.add(chunk, start, end)
        self._left -= end - start
        self._output.add(chunk, start, end)
        if not self._left:
            flow, data = self._flow, None
            self._flow = self._copy = None
            if copy is not None:
                data = copy.finish()
                if copy.dropped and flow is not None:
                    flow.problems.append(NO_ROOM)
            self._output.end_frame(self._end, flow, data)
        return end

    def _pass_unframed(self, chunk: bytes, position: int) -> None:
        """Send on bytes that are no frames, the head before them included."""
        head = bytes(self._head)
        self._head.clear()
        self._output.add(head, 0, len(head))
        self._output.add(chunk, position, len(chunk))

    def _assemble(self, chunk: bytes, start: int, at: float, now: float) -> int:
        """Add to a head that came in pieces; begin its frame when the head is whole."""
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

    def _lose(self, size: int, at: float) -> None:
        """Look at no more bytes of this direction: a size that cannot be one has no end either."""
        self.lost = True
        self._pairing.report_lost(f"{describe_size(size)}, 1 to {self._limit} allowed", at)

    def _follow(self, size: int, flow: Flow | None, direction: Direction) -> None:
        self.frames += 1
        self._left = self._size = size + _SIZE
        self._flow = flow
        # Decided when the head is known, so that a frame that nobody wants is never copied.
        if flow is not None and self._wants(flow.key, flow.version, direction) is _TAP:
            self._copy = Copy(self._copies)
        self._output.begin(flow, size)


class RequestFramer(Framer):
    """The direction from the client to the node."""

    _what = "request"
    _last_client_id = (b"", "")  # a client sends the same one each time: it is decoded once
    _tokens_passed = 0
    _login_frames = -1  # `frames` as long as the last one was of a login
    _login_began = 0.0

    @property
    def login_began(self) -> float | None:
        """The steady clock's time of the first SaslHandshake, if no other request has come since.

        Of later ones no time is taken: librdkafka renews sessions of connections that it does not
        use, too (KIP-368).
        """
        return self._login_began if self._login_frames == self.frames else None

    def _open(self, chunk: bytes, start: int, at: float, now: float) -> int:
        stop = len(chunk)
        if stop - start >= _WHOLE_HEAD:
            flow = self._usual(chunk, start, self._limit, at, now)
            if flow is not None:
                self._follow(flow.request_size, flow, _REQUEST)
                return 0
        if stop - start < _SIZE:
            return _SIZE
        (size,) = SIZE.unpack_from(chunk, start)
        # A token may be empty, and as short as no request: it has to be asked for first.
        if self._pairing.tokens and 0 <= size <= self._limit:
            return self._open_token(chunk, start, size, at, now)
        if not 0 < size <= self._limit:
            self._lose(size, at)
        elif size < _LEAST_REQUEST:
            text = f"a request of {size} bytes, {_LEAST_REQUEST} needed"
            self._pairing.report_unreadable(text, at)
            self._follow(size, None, _REQUEST)
        else:
            return self._open_request(chunk, start, at, now)
        return 0

    def _pass_whole(self, chunk: bytes, start: int, stop: int, at: float, now: float) -> int:
        if stop - start < _WHOLE_HEAD:
            return 0
        flow = self._usual(chunk, start, stop - start - _SIZE, at, now)
        if flow is None:
            return 0
        end = start + _SIZE + flow.request_size
        self.frames += 1
        if self._wants(flow.key, flow.version, _REQUEST) is _TAP:
            flow.request_copy = self._copied(chunk, start, end, flow)
        return end

    def _usual(self, chunk: bytes, start: int, most: int, at: float, now: float) -> Flow | None:
        """Return the flow of a request whose head is whole and usual, else None.

        Usual: it has a client id, is of no API that needs more care, and of `most` bytes at most.
        """
        size, key, version, correlation_id, length = WHOLE.unpack_from(chunk, start)
        begin = start + _WHOLE_HEAD
        if (
            not _LEAST_USUAL <= size <= most
            or size > self._limit
            or not 0 <= length <= size - _LEAST_USUAL
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
        return self._pairing.begin_request(head, self._last_client_id[1], size, at, now)

    def _open_request(self, chunk: bytes, start: int, at: float, now: float) -> int:
        if len(chunk) - start < _REQUEST_HEAD:
            return _REQUEST_HEAD
        size, key, version, correlation_id = REQUEST.unpack_from(chunk, start)
        try:
            client_id, acks, problem = rest_of_head(chunk, start, len(chunk), size, key, version)
        except More as more:
            return more.need
        head = (key, version, correlation_id)
        flow = self._pairing.begin_request(head, client_id, size, at, now, answered=acks != 0)
        if problem:
            flow.problems.append(problem)
        if problem or (key == _PRODUCE and acks is None):
            self._pairing.doubt()  # it may be one that is not answered
        if key == _SASL_HANDSHAKE and version == 0:
            # Kafka before KIP-152: the tokens follow as bare frames, without a request header.
            self._pairing.tokens = True
            # A request that looks like none is taken for a token, and its answer for another's.
            self._pairing.doubt()
        if key == _SASL_HANDSHAKE and self._login_frames < 0:
            self._login_began, self._login_frames = now, self.frames
        self._follow(size, flow, _REQUEST)
        if key in (_SASL_HANDSHAKE, _SASL_AUTHENTICATE):
            self._count_for_login()
        return 0

    def _count_for_login(self) -> None:
        """Take note that the frame that has begun belongs to a login, if one is under way."""
        # Counted here and not with each request: those of logins are few.
        if self._login_frames == self.frames - 1:
            self._login_frames = self.frames

    def _open_token(self, chunk: bytes, start: int, size: int, at: float, now: float) -> int:
        """Begin a frame behind SaslHandshake v0: a bare token, or the first request after them.

        Tokens are secrets, and never read.
        """
        if size >= _LEAST_REQUEST:
            if len(chunk) - start < _REQUEST_HEAD:
                return _REQUEST_HEAD
            if is_request(chunk, start):
                self._pairing.tokens = False
                self._pairing.token_responses = 0
                text = f"{self._tokens_passed} bare tokens passed unread after SaslHandshake v0"
                self._pairing.notify(NoticeKind.SASL_TOKENS, text, at)
                return self._open_request(chunk, start, at, now)
        self._pairing.token_responses += 1
        self._tokens_passed += 1
        self._follow(size, None, _REQUEST)
        self._count_for_login()
        return 0

    def _end(self, flow: Flow, copy: bytes | None) -> None:
        # A node may answer, or pass over, a request whose last byte has not come. The flow has
        # gone to the sinks then, and gave back the room of its copies without this one.
        if flow.outcome in _DELIVERED:
            self._copies.give_back(len(copy or b""))
            return
        flow.request_copy = copy
        if flow.outcome is _NO_RESPONSE:
            self._pairing.end(flow)

    def _give_up(self, flow: Flow, problem: str) -> None:
        if flow.outcome is _NO_RESPONSE:
            self._pairing.lose(flow, problem)
        elif flow.outcome not in _DELIVERED:
            flow.problems.append(problem)


class ResponseFramer(Framer):
    """The direction from the node to the client."""

    _what = "response"

    def _pass_whole(self, chunk: bytes, start: int, stop: int, at: float, now: float) -> int:
        if stop - start < _RESPONSE_HEAD:
            return 0
        size: int
        size, correlation_id = RESPONSE.unpack_from(chunk, start)
        end = start + _SIZE + size
        if end > stop or size < _LEAST_RESPONSE or self._pairing.awaits_token:
            return 0
        self.frames += 1
        flow = self._pairing.begin_response(correlation_id, size, at, now)
        if flow is not None:
            if self._wants(flow.key, flow.version, _RESPONSE) is _TAP:
                flow.response_copy = self._copied(chunk, start, end, flow)
            self._pairing.end(flow)
        return end

    def _open(self, chunk: bytes, start: int, at: float, now: float) -> int:
        stop = len(chunk)
        if stop - start < _SIZE:
            return _SIZE
        (size,) = SIZE.unpack_from(chunk, start)
        # An answer to a token has no correlation id to read.
        if self._pairing.awaits_token and 0 <= size <= self._limit:
            self._pairing.token_responses -= 1
            self._follow(size, None, _RESPONSE)
        elif size <= 0:
            self._lose(size, at)
        elif size < _LEAST_RESPONSE:
            text = f"a response of {size} bytes, {_LEAST_RESPONSE} needed"
            self._pairing.report_unreadable(text, at)
            self._follow(size, None, _RESPONSE)
        elif stop - start < _RESPONSE_HEAD:
            return _RESPONSE_HEAD
        else:
            _, correlation_id = RESPONSE.unpack_from(chunk, start)
            if size > self._limit and correlation_id not in self._pairing.awaited:
                self._lose(size, at)
                return 0
            flow = self._pairing.begin_response(correlation_id, size, at, now)
            self._follow(size, flow, _RESPONSE)
        return 0

    def _end(self, flow: Flow, copy: bytes | None) -> None:
        flow.response_copy = copy
        self._pairing.end(flow)

    def _give_up(self, flow: Flow, problem: str) -> None:
        self._pairing.put_back(flow, problem)
