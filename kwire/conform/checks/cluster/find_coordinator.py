"""FindCoordinator: key types and batches (KIP-98, KIP-699, KIP-932; Java: KafkaApis)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection, scenario
from kwire.conform.expectation import expect, expect_equal, expect_error
from kwire.conform.needs import Need, ServerRole
from kwire.conform.server import Server
from kwire.conform.source import kafka, kip, schema
from kwire.conform.verdict import ConformanceVerdict
from kwire.messages.a03_metadata import MetadataRequest
from kwire.messages.a10_find_coordinator import FindCoordinatorRequest

_GROUP, _SHARE, _NONE = 0, 2, 42
_BROKER = ServerRole.BROKER
_JAVA = kafka("KafkaApis.getCoordinator")


async def _find(server: Server, *keys: str, kind: int = _GROUP, version: int = 4) -> Any:
    """Ask for coordinators; below v4 for that of one key."""
    request = FindCoordinatorRequest(key_type=kind, coordinator_keys=keys)
    if version < 4:
        request = FindCoordinatorRequest(key_type=kind, key=keys[0])
    return await server.ask(request, version)


@scenario("A key type that does not exist gets INVALID_REQUEST.", _JAVA, role=_BROKER)
async def _unknown_type(server: Server) -> None:
    expect_error(await _find(server, server.name(), kind=_NONE), 42)


@scenario("Before v4 a key type that does not exist gets INVALID_REQUEST too.", _JAVA, role=_BROKER)
async def _unknown_type_v1(server: Server) -> None:
    expect_error(await _find(server, server.name(), kind=_NONE, version=1), 42)


@scenario(
    "From v4 on each key of the request is in the answer once.",
    kip(699, "Public Interfaces"),
    role=_BROKER,
)
async def _each_key(server: Server) -> None:
    keys = sorted(server.name() for _ in range(3))
    answer = await _find(server, *keys)
    expect_equal("keys", sorted(part.key for part in answer.coordinators), keys)


@scenario(
    "A request without keys gets no coordinators.", kip(699, "Public Interfaces"), role=_BROKER
)
async def _no_keys(server: Server) -> None:
    expect_equal("coordinators", (await _find(server)).coordinators, [])


async def _found(server: Server, key: str, kind: int, version: int = 4) -> Any:
    """Return the answer once the coordinator's topic is there."""

    async def find() -> Any:
        answer = await _find(server, key, kind=kind, version=version)
        part = answer if version < 4 else answer.coordinators[0]
        return None if part.error_code == 15 else part

    return await server.wait_for("a coordinator", find)


@scenario(
    "The coordinator of a group is a broker of Metadata, with its address there.",
    schema("FindCoordinatorResponse"),
    role=_BROKER,
    needs=Need.RESOURCES,
)
async def _a_broker(server: Server) -> None:
    part = await _found(server, server.name(), _GROUP)
    known = await server.ask(MetadataRequest(topics=[]))
    brokers = [(broker.node_id, broker.host, broker.port) for broker in known.brokers]
    expect_equal("error", part.error_code, 0)
    came = (part.node_id, part.host, part.port)
    expect(came in brokers, f"a coordinator among {brokers}", came)


@scenario(
    "A group has the same coordinator in every version.",
    kip(699, "Compatibility"),
    role=_BROKER,
    needs=Need.RESOURCES,
)
async def _same_in_versions(server: Server) -> None:
    (await server.connection()).demand(FindCoordinatorRequest, 0, 3, 4)
    name = server.name()
    nodes = [(await _found(server, name, _GROUP, version)).node_id for version in (0, 3, 4)]
    expect(len(set(nodes)) == 1, "one coordinator", nodes)


@scenario(
    "Before v6 the key type of share groups gets INVALID_REQUEST.",
    kip(932, "FindCoordinator API"),
    role=_BROKER,
)
async def _share_too_early(server: Server) -> None:
    expect_error(await _find(server, f"{server.name()}:AAAAAAAAAAAAAAAAAAAAAA:0", kind=_SHARE), 42)


@scenario(
    "From v6 on a share group's key that is no group, topic and partition gets INVALID_REQUEST.",
    kip(932, "FindCoordinator API"),
    role=_BROKER,
)
async def _share_key(server: Server) -> None:
    # 3.9.1 offers v6, but has no coordinator of share groups unless it is asked to
    expect_error(await _find(server, server.name(), kind=_SHARE, version=6), 42, 15)


@scenario(
    "An answer with an error has neither node nor address.",
    kafka("FindCoordinatorResponse.prepareErrorResponse"),
    role=_BROKER,
)
async def _no_node(server: Server) -> None:
    part = (await _find(server, server.name(), kind=_SHARE)).coordinators[0]
    expect_error(part, 42)
    came = (part.node_id, part.host, part.port)
    expect_equal("node, host, port", came, (-1, "", -1), otherwise=ConformanceVerdict.DIFFERS)


SECTION = CheckSection(
    "cluster/find-coordinator",
    "FindCoordinator",
    {
        1: _unknown_type,
        2: _unknown_type_v1,
        3: _each_key,
        4: _no_keys,
        5: _a_broker,
        6: _same_in_versions,
        7: _share_too_early,
        8: _share_key,
        9: _no_node,
    },
)
