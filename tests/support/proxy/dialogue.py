"""Conversations for the tests of the data path: bytes in at either end, bytes and events out."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from kwire.codec.declaration import Request, Response
from kwire.net.frames import encode_request, encode_response
from kwire.proxy import ClientConnection, Copies, Event, Flow, Notice, Wants, tap_everything
from kwire.proxy.data_path.framer import Framer, Framing, RequestFramer, ResponseFramer
from kwire.proxy.data_path.pairing import Pairing
from kwire.proxy.data_path.pass_through import FrameOutput, PassThrough


def connection() -> ClientConnection:
    """A connection to node 3000."""
    return ClientConnection(number=1, node_id=3000, client="127.0.0.1:50000", upstream="", at=0.0)


@dataclass
class Dialogue:
    """A client and a node that talk through two framers, second by second.

    at_node, at_client: what has arrived at either end.
    """

    wants: Wants = tap_everything
    copies: Copies = field(default_factory=Copies)
    limit: int = 100 * 1024 * 1024
    events: list[Event] = field(default_factory=list)
    now: float = 0.0
    at_node: bytes = b""
    at_client: bytes = b""

    def __post_init__(self) -> None:
        self.connection = connection()
        self.pairing = Pairing(self.connection, self.events.append, self.copies)
        self.frame(PassThrough(self.write_to_node), PassThrough(self.write_to_client))

    def frame(self, requests: FrameOutput, responses: FrameOutput) -> None:
        """Put framers in front of these outputs."""
        framing = Framing(self.wants, self.copies, self.limit)
        self.requests = RequestFramer(self.pairing, framing, requests)
        self.responses = ResponseFramer(self.pairing, framing, responses)

    def write_to_node(self, data: bytes) -> None:
        """Let bytes arrive at the node."""
        self.at_node += data

    def write_to_client(self, data: bytes) -> None:
        """Let bytes arrive at the client."""
        self.at_client += data

    def ask(self, *chunks: bytes) -> bytes:
        """Send from the client; return what reaches the node of it."""
        before = len(self.at_node)
        self._feed(self.requests, chunks)
        return self.at_node[before:]

    def answer(self, *chunks: bytes) -> bytes:
        """Send from the node; return what reaches the client of it."""
        before = len(self.at_client)
        self._feed(self.responses, chunks)
        return self.at_client[before:]

    def hang_up(self) -> None:
        """The connection is gone."""
        self.no_more()
        self.pairing.close("the connection ended: the client closed")

    def no_more(self) -> None:
        """No more bytes will come from either end."""
        self.requests.finish()
        self.responses.finish()

    def _feed(self, framer: Framer, chunks: Iterable[bytes]) -> None:
        for chunk in chunks:
            self.now += 1.0
            framer.feed(chunk, 1_000_000.0 + self.now, self.now)

    @property
    def flows(self) -> list[Flow]:
        """The flows that have ended."""
        return [event for event in self.events if isinstance(event, Flow)]

    @property
    def notices(self) -> list[Notice]:
        """The notices given."""
        return [event for event in self.events if isinstance(event, Notice)]


def asked(body: Request, version: int, correlation_id: int, client_id: str | None = "me") -> bytes:
    """A request frame."""
    return encode_request(body, version, correlation_id=correlation_id, client_id=client_id)


def answered(body: Response, version: int, correlation_id: int) -> bytes:
    """A response frame."""
    return encode_response(body, version, correlation_id=correlation_id)


def pieces(data: bytes, cuts: Iterable[int]) -> list[bytes]:
    """The data cut at these places, wherever they are."""
    marks = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
    return [data[a:b] for a, b in pairwise(marks)]
