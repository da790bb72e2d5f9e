"""The move from ZooKeeper, as a KRaft server shows it that takes no part in it (KIP-866)."""

from __future__ import annotations

from kwire.conform.check import CheckSection, family, scenario
from kwire.conform.expectation import expect, expect_equal
from kwire.conform.metadata_log import read_log
from kwire.conform.needs import ServerRole
from kwire.conform.not_offered import each_ends_the_connection
from kwire.conform.quorum import features_of
from kwire.conform.server import Server
from kwire.conform.source import kip, schema
from kwire.image.features import ZkMigrationState
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.registry import api_key

_OLD = ("LeaderAndIsr", "StopReplica", "UpdateMetadata")


@scenario("No node of a KRaft cluster is ready to migrate.", schema("ApiVersionsResponse"))
async def _not_ready(server: Server) -> None:
    connection = await server.connection()
    connection.demand(ApiVersionsRequest, 3)
    request = ApiVersionsRequest(client_software_name="kwire", client_software_version="1")
    answer = await connection.ask(request, 3)
    expect_equal("zk_migration_ready", answer.zk_migration_ready, False)


@scenario(
    "A migration is not under way, and brokers do not migrate.",
    kip(866, "Controller"),
    role=ServerRole.CONTROLLER,
)
async def _no_migration(server: Server) -> None:
    image = (await read_log(server)).image
    state = image.features.zk_migration_state
    done = (ZkMigrationState.NONE, ZkMigrationState.POST_MIGRATION)
    expect_equal("migration state", state, *done)
    brokers = image.cluster.brokers.values()
    migrating = [broker.id for broker in brokers if broker.is_migrating_zk_broker]
    expect_equal("migrating brokers", migrating, [])


@scenario(
    "Requests of a ZooKeeper controller are not on offer.",
    schema("LeaderAndIsrRequest, StopReplicaRequest, UpdateMetadataRequest", "listeners"),
)
async def _not_offered(server: Server) -> None:
    on_offer = (await features_of(await server.connection())).api_versions
    offered = [name for name in _OLD if api_key(name) in on_offer]
    expect(not offered, "none of them", ", ".join(offered))


SECTION = CheckSection(
    "migration/kip-866",
    "The move from ZooKeeper, as a KRaft server shows it",
    {
        1: _not_ready,
        2: _no_migration,
        3: _not_offered,
        4: family(
            "Requests of a ZooKeeper controller end the connection.",
            kip(866, "Controller RPCs"),
            each_ends_the_connection(_OLD),
        ),
    },
)
