"""The reaction of a server to a request: its answer, and what became of the connection."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kwire.codec.declaration import Response
from kwire.net.frames import ResponseFrame


class ConnectionState(Enum):
    """The state of a connection as its client sees it.

    OPEN: it answers the next request. SILENT: it is open and answers nothing. CLOSED: the server
    ended it. RESET: the server cut it off.
    """

    OPEN = "open"
    SILENT = "silent"
    CLOSED = "closed"
    RESET = "reset"

    @property
    def ended(self) -> bool:
        """True if nothing can be sent any more."""
        return self in (ConnectionState.CLOSED, ConnectionState.RESET)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """The reaction to one request.

    frame: the answer without its size, None if none came. decoded: None if there is no answer or
    it cannot be read. problem: why an answer is not one: unreadable, wrong correlation id, bytes
    left over, not writable. own_encoding: where it has other bytes than Kafka's with
    the same meaning, empty if it has none. connection: OPEN as long as nothing else is known.
    waited: how long, and after how many bytes, if it was silent.
    """

    frame: bytes | None = None
    decoded: ResponseFrame | None = None
    problem: str = ""
    own_encoding: str = ""
    connection: ConnectionState = ConnectionState.OPEN
    waited: str = ""

    @property
    def body(self) -> Response | None:
        """The response, None if there is none that can be read."""
        return self.decoded.body if self.decoded is not None else None

    def __str__(self) -> str:
        if self.problem:
            return f"an invalid answer: {self.problem}"
        if self.decoded is None:
            nothing = f"no answer {self.waited}".rstrip()
            ending = ENDINGS.get(self.connection)
            return f"{nothing}, {ending}" if ending else nothing
        code = getattr(self.decoded.body, "error_code", None)
        name = type(self.decoded.body).__name__
        return name if code is None else f"{name} with {error_text(code)}"


ENDINGS = {
    ConnectionState.SILENT: "the connection stays open",
    ConnectionState.CLOSED: "the connection is closed",
    ConnectionState.RESET: "the connection is reset",
}
"""The ends of a connection on which nothing more comes, as texts."""


def error_text(code: int) -> str:
    """Return an error code as reports have it: `error 35 UNSUPPORTED_VERSION`."""
    from kwire.error_codes import name

    return f"error {code} {name(code)}" if code else "no error"
