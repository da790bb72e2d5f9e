"""The state of a connection as the loop in C is given it, and as it gives it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

from kwire.proxy.flows.flow import ClientConnection, Flow

if TYPE_CHECKING:
    from kwire.proxy.data_path.native._relay import _FlowTuple, _FramesTuple, _ReturnedTuple


NS = 1e9
"""Nanoseconds of a second."""

MovedFlow = tuple[int, int, int, int, float, int, bytes | None]
"""Key, version, correlation id, size, Unix seconds and nanoseconds of a request, and its copy."""


class MovedFrames(NamedTuple):
    """One direction: bytes that have passed, frames, bytes left of the last one, and its size.

    Sizes are with the four bytes of the size itself. copy: of that frame so far, without its size;
    None for none.
    """

    passed: int
    frames: int
    left: int
    size: int
    copy: bytes | None


class Moved(NamedTuple):
    """A connection as it is given to the loop.

    client, node: descriptors of its sockets, which the loop owns from then on. identified: True if
    no request can tell more of who the client is. pending: the flows that wait for a response.
    answering: the flow whose response is passing since `answered`, in nanoseconds. asking: the
    place of the flow whose request is passing among those that wait, -2 if it is `answering`, -1
    for none.
    """

    client: int
    node: int
    client_id: bytes
    identified: bool
    requests: MovedFrames
    responses: MovedFrames
    pending: list[MovedFlow]
    asking: int
    answering: MovedFlow | None
    answered: int


class AskedFlow(NamedTuple):
    """A flow without a response so far.

    at: Unix seconds; asked: steady nanoseconds. copy: of the request, None for none. no_room: True
    if a copy of the flow was given up.
    """

    key: int
    version: int
    correlation_id: int
    size: int
    at: float
    asked: int
    copy: bytes | None
    no_room: bool

    def flow(self, connection: ClientConnection) -> Flow:
        """Return the flow of a connection."""
        head = (self.key, self.version, self.correlation_id, connection.client_id)
        return Flow(connection, *head, self.at, self.asked / NS, self.size, request_copy=self.copy)


class AnsweredFlow(NamedTuple):
    """A flow whose response is passing. answered: nanoseconds; copy: of the response so far."""

    flow: AskedFlow
    answered: int
    copy: bytes | None


class SocketState(NamedTuple):
    """One of the two sockets. error: errno if it broke, else 0. unsent: what waits for its peer.

    ended: True if the peer's end has been passed on. progress: when a frame last went on.
    """

    descriptor: int
    error: int
    ended: bool
    unsent: bytes
    progress: int


class DirectionState(NamedTuple):
    """The frame that passes in one direction: bytes left of it, and its size with that of the size.

    passed: bytes of all frames; frames: how many have begun. head: of a frame whose head came in
    pieces; need: bytes that the head needs.
    """

    left: int
    size: int
    passed: int
    frames: int
    head: bytes
    need: int


class FramesState(NamedTuple):
    """The frames of a connection, as far as the loop has followed them.

    pending: flows that wait for their responses. asking: the flow whose request is passing: its
    place among them, -1 for the one whose response is passing, or itself if none will come.
    """

    requests: DirectionState
    responses: DirectionState
    pending: tuple[AskedFlow, ...]
    asking: int | AskedFlow | None
    answering: AnsweredFlow | None

    @classmethod
    def of(cls, state: _FramesTuple) -> Self:
        """Return the state by names, as the extension gives it without."""
        requests, responses, pending, asking, answering = state
        return cls(
            requests=DirectionState(*requests),
            responses=DirectionState(*responses),
            pending=tuple(AskedFlow(*flow) for flow in pending),
            asking=AskedFlow(*asking) if isinstance(asking, tuple) else asking,
            answering=None if answering is None else _answering(*answering),
        )


def _answering(flow: _FlowTuple, answered: int, copy: bytes | None) -> AnsweredFlow:
    return AnsweredFlow(AskedFlow(*flow), answered, copy)


class ReturnedConnection(NamedTuple):
    """Everything of a connection that has left the loop in C; whoever has it owns the sockets.

    rest: bytes that were received from the client, or from the node, and are not followed yet.
    moved: nanoseconds of the last byte.
    """

    client: SocketState
    node: SocketState
    frames: FramesState
    rest: bytes
    rest_is_request: bool
    moved: int

    @classmethod
    def of(cls, state: _ReturnedTuple) -> Self:
        """Return the state by names, as the extension gives it without."""
        _, client, node, frames, rest_from, rest, moved, _ = state
        return cls(
            client=SocketState(*client),
            node=SocketState(*node),
            frames=FramesState.of(frames),
            rest=rest,
            rest_is_request=rest_from == 0,
            moved=moved,
        )
