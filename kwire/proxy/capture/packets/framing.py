"""The proxy's framers and pairing, for bytes of which some are missing.

What became of a request is only known if its response could have been seen: a response that is not
in the file is never called "no response".
"""

from __future__ import annotations

from kwire.proxy.data_path.copies import Copies
from kwire.proxy.data_path.framer import Framer, Framing, RequestFramer, ResponseFramer
from kwire.proxy.data_path.pairing import PENDING_LIMIT, Pairing
from kwire.proxy.data_path.pass_through import DISCARD
from kwire.proxy.flows.flow import ClientConnection, Flow, Outcome, Sink
from kwire.proxy.flows.heads import REQUEST, SIZE
from kwire.proxy.flows.interest import Direction, tap_everything


class FilePairing(Pairing):
    """Pairs the requests and responses that are in the file.

    requests_missing: some requests are not, so that responses may be nobody's. orphans: such
    responses. unanswered: requests whose response may have been sent.
    """

    __slots__ = ("_ending", "_last_asked", "_unsure", "orphans", "requests_missing", "unanswered")

    def __init__(self, connection: ClientConnection, sink: Sink, copies: Copies) -> None:
        super().__init__(connection, sink, copies)
        self.requests_missing = False
        self.orphans = self.unanswered = 0
        self._unsure = False
        self._last_asked: Flow | None = None
        self._ending = ""

    def miss_requests(self) -> None:
        """Take note that frames of the client are not in the file."""
        self.doubt()
        self.requests_missing = True
        self.tokens, self.token_responses = False, 0

    def miss_responses(self) -> None:
        """Take note that frames of the node are not in the file."""
        self.doubt()
        self.token_responses = 0
        self._unsure = True
        self._last_asked = self._pending[-1] if self._pending else None

    @property
    def waits(self) -> bool:
        """True if a response is still to come."""
        return bool(self._pending)

    def awaited_flows(self) -> dict[int, Flow]:
        """Return the flows whose responses are still to come, by correlation id."""
        return {flow.correlation_id: flow for flow in reversed(self._pending)}

    def begin_response(self, correlation_id: int, size: int, at: float, now: float) -> Flow | None:
        """Return the flow that a response belongs to, None if its request is not in the file."""
        first = self.first
        is_next = first is not None and first.correlation_id == correlation_id
        if self.requests_missing and not is_next and correlation_id not in self.awaited:
            self.orphans += 1
            return None
        return super().begin_response(correlation_id, size, at, now)

    def lose(self, flow: Flow, reason: str) -> None:
        """End a flow without a response, which was not sent or is not in the file."""
        too_many = len(self._pending) >= PENDING_LIMIT
        unknown = too_many or self._unsure or self._ending
        if flow.outcome is Outcome.NO_RESPONSE:
            flow.problems.append(reason)
            self.end(flow)
        elif unknown:
            flow.problems.append(f"the response is not in the file{self._ending}")
            self.end(flow)
            flow.outcome = Outcome.PENDING
            self.unanswered += 1
        else:
            super().lose(flow, reason)

    def end(self, flow: Flow) -> None:
        """Hand a flow to the sink; responses are known again from one that was asked later on."""
        if flow is self._last_asked:
            self._last_asked = None
        elif self._last_asked is None and flow.answered is not None:
            self._unsure = False
        super().end(flow)

    def finish(self, reason: str, *, unknown: bool) -> None:
        """End what waits. unknown: a response may have come that is not in the file."""
        if unknown:
            self._ending = f": {reason}"
        self.close(f"the connection ended: {reason}")


class _GapFramer(Framer):
    """A framer that can pass over bytes. absent: those of the current frame.

    headless: a frame passed whose head is not in the file. resumed: framing began at a frame that
    was found by search, which can have been none.
    """

    _direction: Direction
    _absent = 0
    _unframed = b""
    headless = False
    resumed = False

    def feed_on(self, chunk: bytes, at: float, now: float) -> bytes:
        """Find the frames in bytes; return those behind the last frame if the rest are none.

        Only after a search: what is no frame from the beginning on is never looked at again.
        """
        self.feed(chunk, at, now)
        rest = b""
        if self.lost and self.resumed:
            rest, self._unframed, self.lost = self._unframed, b"", False
        return rest

    def _lose(self, size: int, at: float) -> None:
        if self.resumed:
            self.lost = True
        else:
            super()._lose(size, at)

    def _pass_unframed(self, chunk: bytes, position: int) -> None:
        if self.resumed:
            self._unframed = bytes(self._head) + chunk[position:]
        super()._pass_unframed(chunk, position)

    def skip(self, size: int, at: float, now: float) -> int:
        """Pass over bytes that are not in the file; return how many are behind the known frame.

        The frame that has begun goes on behind them if it is longer.
        """
        if self._head and not self._begin_cut(at, now):
            self._head.clear()
            return size
        inside = min(size, self._left)
        if inside:
            if self._copy is not None:
                self._copy.cut()
            self._absent += inside
            self._left -= inside
            if not self._left:
                self._advance(b"", 0, 0)
        return size - inside

    def _begin_cut(self, at: float, now: float) -> bool:
        """Begin the frame whose head is not whole; return False if its size is not known."""
        head = bytes(self._head)
        if len(head) < SIZE.size:
            return False
        (size,) = SIZE.unpack_from(head)
        if not len(head) - SIZE.size <= size <= self._limit or not size:
            return False
        self._head.clear()
        flow = self._flow_of(head, size, at, now)
        self.headless = self.headless or flow is None
        self._follow(size, flow, self._direction)
        self._advance(head, 0, len(head))
        return True

    def _flow_of(self, head: bytes, size: int, at: float, now: float) -> Flow | None:
        """Return the flow of a frame by its first bytes, None if they do not tell."""
        return None

    def _advance(self, chunk: bytes, start: int, end: int) -> int:
        if self._absent and end - start == self._left:
            if self._flow is not None:
                self._flow.problems.append(self._cut_text(self._absent))
            self._absent = 0
        return super()._advance(chunk, start, end)

    def _cut_text(self, absent: int) -> str:
        return f"{absent} of the {self._what}'s {self._size} bytes are not in the file"

    def finish(self) -> None:
        """Discard an incomplete frame: no more bytes will come."""
        self._left += self._absent  # they did not come
        self._absent = 0
        super().finish()


class RequestGapFramer(_GapFramer, RequestFramer):
    """The direction from the client."""

    _direction = Direction.REQUEST

    def __init__(self, pairing: FilePairing, copies: Copies) -> None:
        super().__init__(pairing, Framing(tap_everything, copies), DISCARD)

    def _flow_of(self, head: bytes, size: int, at: float, now: float) -> Flow | None:
        if len(head) < REQUEST.size:
            return None
        _, key, version, correlation_id = REQUEST.unpack_from(head)
        return self._pairing.begin_request((key, version, correlation_id), None, size, at, now)


class ResponseGapFramer(_GapFramer, ResponseFramer):
    """The direction from the node."""

    _direction = Direction.RESPONSE

    def __init__(self, pairing: FilePairing, copies: Copies) -> None:
        super().__init__(pairing, Framing(tap_everything, copies), DISCARD)
