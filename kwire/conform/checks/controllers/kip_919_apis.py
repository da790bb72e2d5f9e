"""The APIs that a controller offers, and those that it does not (KIP-919)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kwire.codec.declaration import Request
from kwire.conform.check import CheckSection, Member, exchange, family
from kwire.conform.expectation import answers, closes, expect
from kwire.conform.not_offered import each_ends_the_connection
from kwire.conform.quorum import features_of
from kwire.conform.server import Server
from kwire.conform.vocabulary import ServerRole, Skipped, kip, schema
from kwire.error_codes import ErrorCode
from kwire.errors import UnsupportedVersion
from kwire.messages.a03_metadata import MetadataRequest
from kwire.messages.registry import api_key, api_name, request
from kwire.net.negotiation import VersionRange

SECTION = CheckSection("controllers/kip-919/apis", "APIs that a controller offers")

_TABLE = kip(919, "AdminClient Changes")
_ADMINISTRATION = """
    AlterConfigs CreateAcls DeleteAcls DescribeAcls DescribeCluster DescribeConfigs
    AlterClientQuotas IncrementalAlterConfigs DescribeDelegationToken ElectLeaders
    AlterPartitionReassignments ListPartitionReassignments UpdateFeatures DescribeQuorum
    UnregisterBroker DescribeUserScramCredentials
"""
"""APIs of KIP-919's table, but for DescribeClientQuotas, which is declared for brokers alone."""


_ONLY_IN_TABLE = "DescribeClientQuotas"
"""KIP-919 has controllers carry it out, its schema does not: either is legal."""


async def _on_offer(server: Server) -> Mapping[int, VersionRange]:
    return (await features_of(await server.connection())).api_versions


def _administration(server: Server) -> Iterator[Member]:
    async def offered(server: Server, name: str) -> None:
        on_offer = await _on_offer(server)
        if api_key("DescribeCluster") not in on_offer:
            raise Skipped("the controller is older than KIP-919: it has no DescribeCluster")
        expect(api_key(name) in on_offer, f"{name} on offer", "not there")

    for name in _ADMINISTRATION.split():

        async def run(server: Server, name: str = name) -> None:
            await offered(server, name)

        yield Member(id=name, run=run)


_BROKERS_ONLY = """
    Produce ListOffsets OffsetCommit OffsetFetch FindCoordinator JoinGroup Heartbeat SyncGroup
    InitProducerId AddPartitionsToTxn EndTxn OffsetDelete DescribeProducers
    ConsumerGroupHeartbeat
"""


@SECTION.check(1, schema("every request", "listeners"), role=ServerRole.CONTROLLER)
async def _(server: Server) -> None:
    """A controller offers only APIs that are declared for controllers."""
    offered = await _on_offer(server)
    # APIs that kwire does not know are newer, and declared somewhere else.
    known = {key: api for key in offered if (api := _declaration(key)) is not None}
    others = [api_name(key) for key, api in known.items() if "controller" not in api.listeners]
    others = [name for name in others if name != _ONLY_IN_TABLE]
    expect(not others, "no other APIs", ", ".join(others))


def _declaration(key: int) -> type[Request] | None:
    try:
        return request(key)
    except UnsupportedVersion:
        return None


SECTION[3] = family(
    "A controller offers the APIs of administration of KIP-919 that are declared for controllers.",
    _TABLE,
    _administration,
    role=ServerRole.CONTROLLER,
)
SECTION[4] = exchange(
    "A controller ends the connection at Metadata, which is for brokers.",
    kip(919, "Client Compatibility Matrix"),
    send=MetadataRequest(topics=None),
    version=MetadataRequest.versions.last,
    expect=closes(),
    differs=answers(ErrorCode.UNSUPPORTED_VERSION),
    role=ServerRole.CONTROLLER,
)
SECTION[5] = family(
    "A controller ends the connection at requests that are for brokers only.",
    schema("every request", "listeners"),
    each_ends_the_connection(_BROKERS_ONLY.split()),
    role=ServerRole.CONTROLLER,
)
