"""The move from ZooKeeper (KIP-866), as a KRaft server shows it.

A server that takes part in one is judged by what it is in; where nothing can be demanded of it,
the verdict is INFO.
"""

from __future__ import annotations

from kwire.conform.check import CheckSection, family
from kwire.conform.expectation import expect, expect_equal
from kwire.conform.metadata_log import read_log
from kwire.conform.migration_ready import versions_with_readiness
from kwire.conform.not_offered import each_ends_the_connection
from kwire.conform.quorum import features_of
from kwire.conform.server import Server
from kwire.conform.vocabulary import Informed, ServerRole, kip, schema
from kwire.messages.a18_api_versions import ApiVersionsResponse
from kwire.messages.metadata_versions import LAST_OF_ZOOKEEPER
from kwire.messages.registry import api_key
from kwire.messages.zk_migration_state import ZkMigrationState, migration_state_name

SECTION = CheckSection("migration/kip-866", "The move from ZooKeeper, as a KRaft server shows it")

_DECLARED = schema("LeaderAndIsrRequest, StopReplicaRequest, UpdateMetadataRequest", "listeners")
_OLD = ("LeaderAndIsr", "StopReplica", "UpdateMetadata")


@SECTION.check(1, schema("ApiVersionsResponse", "ZkMigrationReady"))
async def _(server: Server) -> None:
    """Only a node with the settings of a migration is ready for one."""
    answer = await versions_with_readiness(server)
    if not answer.zk_migration_ready:
        return
    if server.target.role is ServerRole.CONTROLLER:
        state = (await read_log(server)).image.features.zk_migration_state
        if state != ZkMigrationState.NONE:
            name = migration_state_name(state) or str(state)
            raise Informed(f"it is ready to migrate, and the log is in state {name}")
    elif _metadata_version(answer) <= LAST_OF_ZOOKEEPER:
        raise Informed("it is ready to migrate, and so may its cluster be")
    expect_equal("zk_migration_ready", answer.zk_migration_ready, False)


def _metadata_version(answer: ApiVersionsResponse) -> int:
    """Return the finalised level; 0 for a node that names none."""
    levels = {feature.name: feature.max_version_level for feature in answer.finalized_features}
    return levels.get("metadata.version", 0)


@SECTION.check(2, kip(866, "Controller"), role=ServerRole.CONTROLLER)
async def _(server: Server) -> None:
    """Brokers migrate only where a migration is under way."""
    image = (await read_log(server)).image
    state = image.features.zk_migration_state
    expect_equal("migration state", state, *ZkMigrationState)
    brokers = image.cluster.brokers.values()
    migrating = sorted(broker.id for broker in brokers if broker.is_migrating_zk_broker)
    if state == ZkMigrationState.NONE:
        expect_equal("migrating brokers", migrating, [])
    elif migrating or state != ZkMigrationState.POST_MIGRATION:
        # 3.9.1 registers brokers with ZooKeeper in POST_MIGRATION, too, if it has the setting.
        name = migration_state_name(state) or str(state)
        raise Informed(f"the log is in state {name}, brokers that migrate: {migrating}")


@SECTION.check(3, _DECLARED)
async def _(server: Server) -> None:
    """Requests of a ZooKeeper controller are not on offer."""
    on_offer = (await features_of(await server.connection())).api_versions
    offered = [name for name in _OLD if api_key(name) in on_offer]
    if len(offered) == len(_OLD) and api_key("DescribeQuorum") not in on_offer:
        raise Informed("it offers them, as a broker does that runs with ZooKeeper")
    expect(not offered, "none of them", ", ".join(offered))


SECTION[4] = family(
    "Requests of a ZooKeeper controller end the connection.",
    _DECLARED,
    each_ends_the_connection(_OLD),
)
