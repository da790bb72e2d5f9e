"""The C extension: frames.c follows frames, loop.c moves bytes.

Times of the steady clock are nanoseconds, those named `at` Unix seconds. Interests: 1 count, 2
pass, 3 tap, as in `Interest`; a pair of API key and version that none was set for is copied. The
tuples are the named ones of kwire.proxy.data_path.moved, without the names.
"""

from typing import final

from kwire.proxy.data_path.moved import Moved

SOURCES: str
"""The state of the C files it was built from, as hatch_build.py names it."""

_FlowTuple = tuple[int, int, int, int, float, int, bytes | None, bool]
"""An AskedFlow."""

_DirectionTuple = tuple[int, int, int, int, bytes, int]
"""A DirectionState."""

_FramesTuple = tuple[
    _DirectionTuple,
    _DirectionTuple,
    list[_FlowTuple],
    int | _FlowTuple | None,
    tuple[_FlowTuple, int, bytes | None] | None,
]
"""A FramesState, with an AnsweredFlow at its end."""

_CountTuple = tuple[int, int, int, int, int, int, float, tuple[int, ...]]
"""Connection, key, version, requests, bytes of requests, of responses, seconds, buckets."""

_SocketTuple = tuple[int, int, bool, bytes, int]
"""A SocketState."""

_ReturnedTuple = tuple[
    int, _SocketTuple, _SocketTuple, _FramesTuple, int, bytes, int, list[_CountTuple]
]
"""A ReturnedConnection, with its number before and its counts behind it. The rest is of side 0,
the client, or 1, the node."""

_EventTuple = (
    tuple[int, _FlowTuple, int, int, bytes | None]
    | tuple[int, int, list[_CountTuple]]
    | _ReturnedTuple
)
"""A flow: connection, flow, answered, size of the response (-1 for none) and its copy. The end of a
connection: the side that closed last, and counts. A connection that comes back."""

@final
class Frames:
    """The frames of one connection, followed without sockets and clocks."""

    def __new__(
        cls,
        bounds: tuple[float, ...],
        care: bytes,
        frame_limit: int,
        copy_limit: int,
        memory_limit: int,
        moved: Moved,
        /,
    ) -> Frames: ...
    @property
    def copied(self) -> int: ...
    def feed(self, direction: int, data: bytes, at: float, now: int, /) -> int: ...
    def events(self) -> list[tuple[int, _FlowTuple, int, int, bytes | None]]: ...
    def counts(self) -> list[_CountTuple]: ...
    def state(self) -> _FramesTuple: ...
    def set_interest(self, key: int, version: int, request: int, response: int, /) -> None: ...

@final
class Loop:
    """Connections whose bytes one thread moves without the interpreter; the others ask it."""

    def __new__(
        cls,
        bounds: tuple[float, ...],
        care: bytes,
        frame_limit: int,
        copy_limit: int,
        memory_limit: int,
        read_size: int,
        write_limit: int,
        /,
    ) -> Loop: ...
    def run(self) -> None: ...
    def stop(self) -> None: ...
    def fileno(self) -> int: ...
    def add(self, moved: Moved, now: int, /) -> int: ...
    def take(self, connection: int, /) -> _ReturnedTuple | None: ...
    def events(self) -> list[_EventTuple]: ...
    def counts(self) -> list[_CountTuple]: ...
    def overdue(self, now: int, idle: int, progress: int, step: int, /) -> list[int]: ...
    def set_interest(self, key: int, version: int, request: int, response: int, /) -> None: ...
    def forget_interests(self, copy_limit: int, /) -> None: ...
