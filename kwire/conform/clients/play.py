"""All that is seen of a client in one case: its connections, its requests, its process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kwire.codec.declaration import Request
from kwire.conform.clients.cluster import Cluster
from kwire.conform.vocabulary import Deviation, Skipped
from kwire.messages.registry import api_name

UNSUPPORTED = 77
"""Exit code of a program that says that its client cannot do a task."""


@dataclass(slots=True, kw_only=True)
class SeenClientRequest:
    """A request as a node saw it.

    at: seconds since the case began; answered: the same of its answer, None if there was none.
    connection: its number. body: None if it cannot be read, problem says why. frame, reply: with
    their sizes. left_over: bytes behind its body. is_scripted: True if a rule that is no aid did.
    """

    at: float
    node_id: int
    connection: int
    key: int
    version: int
    correlation_id: int
    client_id: str | None
    body: Any
    frame: bytes
    problem: str = ""
    left_over: int = 0
    reply: bytes = b""
    answered: float | None = None
    is_scripted: bool = False

    @property
    def name(self) -> str:
        """The API with the version: `Fetch v12`."""
        return f"{api_name(self.key)} v{self.version}"


@dataclass(slots=True, kw_only=True)
class SeenConnection:
    """A connection to a node. closed: seconds since the case began, None while it is open.

    by_client: True if the client ended it.
    """

    number: int
    node_id: int
    opened: float
    closed: float | None = None
    by_client: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramEnd:
    """The end of the client's process, and what it printed.

    exit_code: None if it had to be killed after its time. memory: bytes of its largest process at
    the most, None if that cannot be known here. errors: the end of its standard error.
    """

    exit_code: int | None
    lines: Sequence[str] = ()
    errors: str = ""
    memory: int | None = None
    seconds: float = 0.0


@dataclass(slots=True, kw_only=True)
class Play:
    """A case under way or over. program: None for a client that somebody starts by hand.

    usual: its end in the same task without faults, None in that one itself. error: of kwire's own.
    """

    cluster: Cluster
    requests: list[SeenClientRequest] = field(default_factory=list)
    connections: list[SeenConnection] = field(default_factory=list)
    program: ProgramEnd | None = None
    usual: Play | None = None
    seconds: float = 0.0
    error: Exception | None = None

    def sent(self, *apis: type[Request]) -> list[SeenClientRequest]:
        """Return the client's requests of these APIs, of all without any, in order."""
        keys = {api.key for api in apis}
        return [request for request in self.requests if not keys or request.key in keys]

    def demand(self, api: type[Request]) -> list[SeenClientRequest]:
        """Return the client's requests of an API. Raises Skipped if it sent none."""
        found = self.sent(api)
        if not found:
            raise Skipped(f"the client sent no {api_name(api.key or 0)}")
        return found

    def scripted(self, api: type[Request]) -> list[SeenClientRequest]:
        """Return those that a rule answered. Raises Skipped if there is none."""
        return [request for request in self.demand(api) if request.is_scripted]

    def after(self, request: SeenClientRequest, *apis: type[Request]) -> list[SeenClientRequest]:
        """Return what the client sent after the answer to a request."""
        since = request.at if request.answered is None else request.answered
        return [later for later in self.sent(*apis) if later.at > since]

    def printed(self, word: str) -> list[str]:
        """Return what stands behind a word in the lines that the program printed.

        Raises Skipped for a client that shows nothing.
        """
        if self.program is None:
            raise Skipped("a client that is started by hand shows nothing of what it was told")
        shows = self.usual is None or self.usual.words
        if not shows:
            raise Skipped("the program prints nothing by which its client could be judged")
        return [rest for first, rest in self.words if first == word]

    @property
    def words(self) -> list[tuple[str, str]]:
        """The lines of the program that are evidence: the first word, and what stands behind it."""
        lines = self.program.lines if self.program else ()
        parts = [line.partition(" ") for line in lines]
        return [(first, rest.strip()) for first, _, rest in parts if first in _WORDS]

    @property
    def ended_well(self) -> bool:
        """True if the program ended with exit code 0. Raises Skipped if it is not known."""
        if self.program is None:
            raise Skipped("a client that is started by hand has no exit code")
        return self.program.exit_code == 0

    def demand_end(self, expected: str = "the client does its task to the end") -> None:
        """Demand that the program ended well. Raises Deviation, Skipped."""
        if not self.ended_well:
            raise Deviation(expected, self.end_text)

    @property
    def end_text(self) -> str:
        """The program's end in words, with the last of its lines."""
        end = self.program
        if end is None:
            return "no process to look at"
        code = "killed, still running" if end.exit_code is None else f"exit code {end.exit_code}"
        last = next((line for line in reversed(end.lines) if line.split()), "")
        last = last or next((line for line in reversed(end.errors.splitlines()) if line), "")
        return f"{code} after {end.seconds:.1f} s" + (
            f", the last line {last[:200]!r}" if last else ""
        )


_WORDS = {"acknowledged", "failed", "received", "committed", "aborted", "done", "error"}
