"""The interface of servers: a controller of kwire's own, or the proxy in place of a node.

The proxy and the controller do not import each other; both use this interface.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from kwire.codec.declaration import Request, Response
from kwire.codec.versions import Versions

ANONYMOUS = "User:ANONYMOUS"
"""The principal of a connection that has not authenticated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestContext:
    """The origin and version of a request.

    version: of the request and of the response it wants. listener: name of the listener that took
    it. peer: host and port of the sender. principal: who sent it. by_delegation_token: the
    principal is the owner of a delegation token, which the sender has (KIP-48). forwarded: a broker
    passed it on, and peer and principal are the client's. size: bytes of the request's frame.
    """

    version: int
    correlation_id: int = 0
    client_id: str | None = None
    listener: str = ""
    peer: tuple[str, int] = ("", 0)
    principal: str = ANONYMOUS
    by_delegation_token: bool = False
    forwarded: bool = False
    size: int = 0


class Service(Protocol):
    """Answers the APIs it names, at the versions it names, and no others."""

    @property
    def apis(self) -> Mapping[int, Versions]:
        """API key to versions: what ApiVersions may promise."""
        ...

    async def answer(self, request: Request, context: RequestContext) -> Response | None:
        """Return the response; None closes the connection, as Kafka does where it cannot answer."""
        ...
