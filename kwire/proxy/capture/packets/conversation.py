"""The RPCs in the bytes of one TCP connection.

1. The client is the side that sent the SYN; without one, the side whose bytes are requests.
2. A connection that began before the file is read from its first request on.
3. Behind a gap the frame that has begun goes on, if it is longer; else the next one is searched.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kwire.net.address import Address
from kwire.proxy.capture.packets.framing import FilePairing, RequestGapFramer, ResponseGapFramer
from kwire.proxy.capture.packets.search import FrameSearch, Requests, Responses
from kwire.proxy.data_path.copies import Copies
from kwire.proxy.flows.flow import ClientConnection, Event, Notice, NoticeKind

_ANY_FRAME = 1 << 40  # bytes; longer than the rest of any frame
_JOINED = "the connection began before the packets"


class Content(Enum):
    """The subject of a connection, as its bytes tell it."""

    KAFKA = "Kafka"
    TLS = "TLS"
    OTHER = "not Kafka"
    EMPTY = "without data"


@dataclass(slots=True)
class PacketDirection:
    """One direction of a conversation. framer: None as long as the client is not known.

    search: there while it is not known where the next frame begins. read: bytes that came. gaps,
    missing: how often bytes were not in the file, and how many; cut: those of them that packets
    were cut by. passed_over: bytes that no frame was found in. untold: missing bytes of which no
    notice has told. is_late: the first bytes are not in the file.
    """

    framer: RequestGapFramer | ResponseGapFramer | None = None
    search: FrameSearch | None = None
    read: int = 0
    gaps: int = 0
    missing: int = 0
    cut: int = 0
    passed_over: int = 0
    untold: int = 0
    is_late: bool = False

    @property
    def has_frames(self) -> bool:
        """True if a frame was found."""
        return self.framer is not None and self.framer.frames > 0

    def stop_search(self, *, found: bool = False) -> None:
        """End the search, or forget the bytes that do not go on."""
        if self.search is None:
            return
        if not found:
            self.search.reset()
        self.passed_over += self.search.passed_over
        self.search.passed_over = 0
        self.search = None if found else self.search


class Conversation:
    """Takes the bytes of both sides of a connection; makes flows and notices of them.

    ends: of side 0 and 1. client: the side of the client, None until it is known. is_encrypted: its
    bytes are TLS, and none was decrypted yet. is_unread: they are not decrypted.
    """

    def __init__(
        self, connection: ClientConnection, ends: tuple[Address, Address], client: int | None
    ) -> None:
        self.connection = connection
        self._ends = ends
        self.client: int | None = None
        self.directions = (PacketDirection(), PacketDirection())
        self._events: list[Event] = []
        self._copies = Copies()
        self.pairing = FilePairing(connection, self._events.append, self._copies)
        self._requests = Requests()
        self._now = 0.0
        self.is_encrypted = self.is_unread = False
        for direction in self.directions:
            direction.search = FrameSearch(self._requests)
        if client is not None:
            self._find_client(client)

    def open(self, at: float) -> None:
        """Begin with the first byte of both sides: their SYNs are in the file."""
        for direction in self.directions:
            direction.search = None
        self.tell(NoticeKind.OPENED, f"{self.connection.client} opened", at)

    def data(self, side: int, data: bytes, at: float) -> None:
        """Take the next bytes of a side."""
        self._now = max(self._now, at)
        direction = self.directions[side]
        direction.read += len(data)
        if direction.search is None:
            self._tell_gap(side, at)
            self._frame(side, data, at)
        elif found := self._search(side, data):
            self._tell_join(side, at)
            self._tell_gap(side, at)
            self._frame(side, found, at)

    def gap(self, side: int, size: int, at: float, *, cut: bool, is_exact: bool = True) -> None:
        """Take note of bytes that are not in the file. is_exact: there may be a few less."""
        direction = self.directions[side]
        first_cut = cut and not direction.cut
        direction.gaps += 1
        direction.missing += size
        direction.cut += size if cut else 0
        rest = size
        if direction.search is not None:
            direction.stop_search()
            self._miss(side)
        elif direction.framer is not None and not direction.framer.lost:
            rest = direction.framer.skip(size if is_exact else _ANY_FRAME, at, self._now)
            if rest or direction.framer.headless:
                direction.framer.headless = False
                self._miss(side)
            if rest:
                self._begin_search(side)
        if first_cut:
            text = (
                f"packets of the {self._name(side)} are cut in the file, the first by {size} bytes"
            )
            self.tell(NoticeKind.NOT_CAPTURED, text, at)
        elif rest or not cut:
            direction.untold += size

    def begin_late(self, side: int, at: float) -> None:
        """Take note that the first bytes of a side are not in the file, nor how many they are."""
        self.directions[side].is_late = True
        self._miss(side)
        self._begin_search(side)
        text = f"the first bytes of the {self._name(side)} are not in the file"
        self.tell(NoticeKind.NOT_CAPTURED, text, at)

    def end(self, reason: str, at: float, *, complete: bool) -> None:
        """End the connection. complete: all that the node sent is in the file, or told as a gap."""
        for side, direction in enumerate(self.directions):
            direction.stop_search()
            if direction.framer is not None:
                direction.framer.finish()
            self._tell_gap(side, at)
        self.pairing.finish(reason, unknown=not complete)
        content = self.content
        if self.client is None and content is Content.OTHER:
            size = sum(direction.read for direction in self.directions)
            self.tell(NoticeKind.UNREADABLE, f"not Kafka: no request in {size} bytes", at)
        self.tell(NoticeKind.CLOSED, reason, at)

    def tell(self, kind: NoticeKind, text: str, at: float) -> None:
        """Send a notice of this connection."""
        notice = Notice(connection=self.connection, at=at, kind=kind, text=text)
        self._events.append(notice)

    def tell_unread(self, reason: str, at: float) -> None:
        """Tell that what follows is encrypted, and why it is not decrypted."""
        self.is_unread = True
        self.tell(NoticeKind.UNREADABLE, reason, at)

    def take_events(self) -> list[Event]:
        """Return the flows and notices since the last call."""
        events = self._events.copy()
        self._events.clear()
        return events

    @property
    def waits(self) -> bool:
        """True if a response is still to come, or the rest of a frame."""
        framers = (direction.framer for direction in self.directions)
        return self.pairing.waits or any(framer and framer.unfinished for framer in framers)

    @property
    def has_no_frames(self) -> bool:
        """True if no frame was found."""
        return not any(direction.has_frames for direction in self.directions)

    @property
    def has_data(self) -> bool:
        """True if bytes came."""
        return any(direction.read for direction in self.directions)

    @property
    def content(self) -> Content:
        """The subject, as far as it is known."""
        if not self.has_no_frames:
            return Content.KAFKA
        if self.is_encrypted or self.is_unread:
            return Content.TLS
        sizes = (direction.read + direction.missing for direction in self.directions)
        return Content.OTHER if any(sizes) else Content.EMPTY

    @property
    def is_refused(self) -> bool:
        """True if the first bytes are not Kafka's."""
        framers = (direction.framer for direction in self.directions)
        return self.content is Content.OTHER and any(framer and framer.lost for framer in framers)

    def _find_client(self, side: int) -> None:
        """Frame the bytes of both sides from now on: the client is known."""
        self.client = side
        self.connection.client = str(self._ends[side])
        self.connection.upstream = str(self._ends[1 - side])
        requests, responses = self.directions[side], self.directions[1 - side]
        requests.framer = RequestGapFramer(self.pairing, self._copies)
        responses.framer = ResponseGapFramer(self.pairing, self._copies)
        responses.stop_search()
        responses.search = FrameSearch(Responses(self.pairing))

    def _begin_search(self, side: int) -> None:
        candidates = self._requests if side == self.client else Responses(self.pairing)
        self.directions[side].search = FrameSearch(candidates)

    def _search(self, side: int, data: bytes) -> bytes:
        """Return the bytes from the first frame on, none if it was not found."""
        direction = self.directions[side]
        assert direction.search is not None
        self._requests.client_id = (self.connection.client_id or "").encode()
        found = direction.search.feed(data)
        if found is None:
            return b""
        direction.stop_search(found=True)
        if self.client is None:
            self._find_client(side)
        if side == self.client and not direction.has_frames:
            # Those before the file, and those that are written in it behind later ones.
            self.pairing.miss_requests()
            self.pairing.miss_responses()
        assert direction.framer is not None
        direction.framer.resumed = True
        return found

    def _frame(self, side: int, data: bytes, at: float) -> None:
        framer = self.directions[side].framer
        assert framer is not None
        if framer.lost:
            self.directions[side].passed_over += len(data)
            return
        while data and (rest := framer.feed_on(data, at, self._now)):
            self._miss(side)
            self._begin_search(side)
            data = self._search(side, rest)

    def _miss(self, side: int) -> None:
        if side == self.client:
            self.pairing.miss_requests()
        else:
            self.pairing.miss_responses()

    def _name(self, side: int) -> str:
        if self.client is None:
            return str(self._ends[side])
        return "client" if side == self.client else "node"

    def _tell_join(self, side: int, at: float) -> None:
        """Tell that the connection began before the file, at its first request."""
        direction = self.directions[side]
        if side != self.client or direction.has_frames or direction.is_late or direction.gaps:
            return
        size = direction.passed_over
        skipped = f": {size} bytes up to its first request are passed over" if size else ""
        self.tell(NoticeKind.NOT_CAPTURED, f"{_JOINED}{skipped}", at)

    def _tell_gap(self, side: int, at: float) -> None:
        direction = self.directions[side]
        if not direction.untold:
            return
        text = f"{direction.untold} bytes of the {self._name(side)} are not in the file"
        direction.untold = 0
        self.tell(NoticeKind.NOT_CAPTURED, text, at)
