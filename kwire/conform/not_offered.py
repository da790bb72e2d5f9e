"""A family of requests that a server does not offer, and at which it ends the connection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from kwire.conform.check import Member, Members
from kwire.conform.expectation import answers, closes, judge
from kwire.conform.server import Server
from kwire.conform.vocabulary import Skipped
from kwire.error_codes import ErrorCode
from kwire.messages.registry import api_key, request


def each_ends_the_connection(names: Sequence[str]) -> Members:
    """Return members, one an API, sent empty in its last version; SKIPPED if it is offered."""

    def members(server: Server) -> Iterator[Member]:
        return (Member(id=name, run=partial(_ends, name)) for name in names)

    return members


async def _ends(name: str, server: Server) -> None:
    kind = request(api_key(name))
    connection = await server.connection()
    if kind.key in connection.versions.api_versions:
        raise Skipped(f"the {server.target.role.value} offers it")
    # Documents say that such a request is refused, not that it ends the connection.
    refused = answers(ErrorCode.UNSUPPORTED_VERSION)
    server.allow(closes(), refused)
    judge(await connection.exchange(kind(), kind.versions.last), closes(), refused)
