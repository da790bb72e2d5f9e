"""Checks that send bytes made by hand, and look whether others are served meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kwire.conform.check import Check, Member, family, scenario
from kwire.conform.expectation import Expectation, answers, closes, judge, stays_silent
from kwire.conform.raw_frames import raw_header, sized
from kwire.conform.server import Server
from kwire.conform.vocabulary import SentenceSource, ServerRole
from kwire.messages.registry import api_key
from kwire.net.negotiation import api_versions_request

API_VERSIONS = api_key("ApiVersions")
CLOSES = closes()
ANSWERS = answers()
NOT_CLOSED = answers() | stays_silent()
"""Legal reactions to bytes that Kafka closes the connection for."""
REFUSED = answers() | closes()

SHORT_PATIENCE = 0.5
"""Seconds for checks in which silence is expected."""


def good_frame(correlation_id: int = 1) -> bytes:
    """Return a request that every server answers: ApiVersions v0 without a client id."""
    return sized(raw_header(API_VERSIONS, 0, correlation_id))


async def others_served(server: Server) -> None:
    """Demand that another connection is served. Raises Deviation, OSError."""
    connection = await server.new_connection()
    await connection.ask(api_versions_request(), 0)


async def send_bytes(
    data: bytes,
    expected: Expectation,
    differs: Expectation | None,
    key: int,
    version: int,
    server: Server,
) -> None:
    """Send bytes, judge the reaction as the answer to correlation id 1, look at others."""
    connection = await server.connection()
    server.allow(expected, differs)
    await connection.send(data)
    reaction = await connection.reaction(key, version, 1)
    await others_served(server)
    judge(reaction, expected, differs)


def sends(
    sentence: str,
    source: SentenceSource,
    data: bytes,
    expected: Expectation = CLOSES,
    differs: Expectation | None = None,
    *,
    key: int = API_VERSIONS,
    version: int = 0,
    role: ServerRole = ServerRole.ANY,
    alone: bool = False,
) -> Check:
    """Return a check that sends bytes once. key, version: what an answer is read as."""
    run = partial(send_bytes, data, expected, differs, key, version)
    return scenario(sentence, source, role=role, alone=alone)(run)


def sends_each(
    sentence: str,
    source: SentenceSource,
    each: Mapping[str, bytes],
    expected: Expectation = CLOSES,
    differs: Expectation | None = None,
    *,
    key: int = API_VERSIONS,
    version: int = 0,
    alone: bool = False,
) -> Check:
    """Return a family that sends each of these, by its name."""

    def members(server: Server) -> list[Member]:
        return [
            Member(id=name, run=partial(send_bytes, data, expected, differs, key, version))
            for name, data in each.items()
        ]

    return family(sentence, source, lambda server: iter(members(server)), alone=alone)
