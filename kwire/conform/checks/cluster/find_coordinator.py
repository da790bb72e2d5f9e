"""FindCoordinator: key types and batches (KIP-98, KIP-699, KIP-932; Java: KafkaApis)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.expectation import expect, expect_equal
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, ServerRole, kafka, kip, schema
from kwire.error_codes import ErrorCode
from kwire.messages.a03_metadata import MetadataRequest
from kwire.messages.a10_find_coordinator import FindCoordinatorRequest

SECTION = CheckSection("cluster/find-coordinator", "FindCoordinator")

_GROUP, _SHARE, _NONE = 0, 2, 42
_BROKER = ServerRole.BROKER
_JAVA = kafka("KafkaApis.getCoordinator")


async def _find(server: Server, *keys: str, kind: int = _GROUP, version: int = 4) -> Any:
    """Ask for coordinators; below v4 for that of one key."""
    request = FindCoordinatorRequest(key_type=kind, coordinator_keys=keys)
    if version < 4:
        request = FindCoordinatorRequest(key_type=kind, key=keys[0])
    return await server.ask(request, version)


@SECTION.refuses(1, _JAVA, ErrorCode.INVALID_REQUEST, role=_BROKER)
async def _(server: Server) -> Any:
    """A key type that does not exist gets"""
    return await _find(server, server.name(), kind=_NONE)


@SECTION.refuses(2, _JAVA, ErrorCode.INVALID_REQUEST, role=_BROKER)
async def _(server: Server) -> Any:
    """Before v4 a key type that does not exist gets INVALID_REQUEST."""
    return await _find(server, server.name(), kind=_NONE, version=1)


@SECTION.check(3, kip(699, "Public Interfaces"), role=_BROKER)
async def _(server: Server) -> None:
    """From v4 on each key of the request is in the answer once."""
    keys = sorted(server.name() for _ in range(3))
    answer = await _find(server, *keys)
    expect_equal("keys", sorted(part.key for part in answer.coordinators), keys)


@SECTION.check(4, kip(699, "Public Interfaces"), role=_BROKER)
async def _(server: Server) -> None:
    """A request without keys gets no coordinators."""
    expect_equal("coordinators", (await _find(server)).coordinators, [])


async def _found(server: Server, key: str, kind: int, version: int = 4) -> Any:
    """Return the answer once the coordinator's topic is there."""

    async def find() -> Any:
        answer = await _find(server, key, kind=kind, version=version)
        part = answer if version < 4 else answer.coordinators[0]
        return None if part.error_code == ErrorCode.COORDINATOR_NOT_AVAILABLE else part

    return await server.wait_for("a coordinator", find)


@SECTION.check(5, schema("FindCoordinatorResponse"), role=_BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """The coordinator of a group is a broker of Metadata, with its address there."""
    part = await _found(server, server.name(), _GROUP)
    known = await server.ask(MetadataRequest(topics=[]))
    brokers = [(broker.node_id, broker.host, broker.port) for broker in known.brokers]
    expect_equal("error", part.error_code, 0)
    came = (part.node_id, part.host, part.port)
    expect(came in brokers, f"a coordinator among {brokers}", came)


@SECTION.check(6, kip(699, "Compatibility"), role=_BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """A group has the same coordinator in every version."""
    (await server.connection()).demand(FindCoordinatorRequest, 0, 3, 4)
    name = server.name()
    nodes = [(await _found(server, name, _GROUP, version)).node_id for version in (0, 3, 4)]
    expect(len(set(nodes)) == 1, "one coordinator", nodes)


@SECTION.refuses(7, kip(932, "FindCoordinator API"), ErrorCode.INVALID_REQUEST, role=_BROKER)
async def _(server: Server) -> Any:
    """Before v6 the key type of share groups gets"""
    return await _find(server, f"{server.name()}:AAAAAAAAAAAAAAAAAAAAAA:0", kind=_SHARE)


@SECTION.refuses(
    8,
    kip(932, "FindCoordinator API"),
    ErrorCode.INVALID_REQUEST,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    role=_BROKER,
)
async def _(server: Server) -> Any:
    """From v6 on a share group's key that is no group, topic and partition gets"""
    # 3.9.1 offers v6, but has no coordinator of share groups unless it is asked to
    return await _find(server, server.name(), kind=_SHARE, version=6)
