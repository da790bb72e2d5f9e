"""Real clusters of 3.9.1 are migrated to the end, and back from each stage, by Java or by kwire.

A transactional producer and an administrator work all the while; nothing acknowledged is lost.
"""

from collections.abc import Iterator

import pytest

from migrating.real_clusters.cluster import MigratingCluster
from migrating.real_clusters.layout import KINDS, ControllerKind, MigratingLayout
from migrating.real_clusters.operator_stage import OperatorStage
from migrating.real_clusters.workload import Workload
from migrating.real_clusters.zookeeper_session import read_json, zookeeper_session
from real_kafka import Launcher


@pytest.fixture(params=KINDS)
def cluster(kafka: Launcher, request: pytest.FixtureRequest) -> Iterator[MigratingCluster]:
    with MigratingCluster(MigratingLayout(kind=request.param)) as cluster:
        yield cluster


def controller_of(cluster: MigratingCluster) -> object:
    """Return the node that /controller names."""
    with zookeeper_session(cluster.zookeeper.connect) as client:
        return (read_json(client, "/controller") or {})["brokerid"]


def migrate(cluster: MigratingCluster, stage: OperatorStage) -> None:
    """Go on with the migration up to a stage."""
    if stage >= OperatorStage.CONTROLLERS_PROVISIONED:
        cluster.provision_controllers()
    if stage >= OperatorStage.BROKERS_IN_MIGRATION_MODE:
        cluster.enter_migration_mode()
        cluster.wait_for_dual_write()
    if stage >= OperatorStage.BROKERS_IN_KRAFT_MODE:
        cluster.migrate_brokers_to_kraft()
    if stage >= OperatorStage.FINALIZED:
        cluster.finalize_migration()


@pytest.mark.nightly
def test_nothing_acknowledged_is_lost_on_the_whole_way(cluster: MigratingCluster) -> None:
    with Workload(cluster.bootstrap_servers) as workload:
        migrate(cluster, OperatorStage.FINALIZED)
    done = workload.check()
    assert done.records > 0
    assert done.topics > 0
    assert cluster.stage is OperatorStage.FINALIZED
    with pytest.raises(ValueError, match="no way back"):
        cluster.revert_to_zookeeper()


@pytest.mark.migrations
@pytest.mark.parametrize("stage", list(OperatorStage)[1:-1], ids=lambda stage: stage.name)
def test_nothing_acknowledged_is_lost_on_the_way_back(
    cluster: MigratingCluster, stage: OperatorStage
) -> None:
    with Workload(cluster.bootstrap_servers) as workload:
        migrate(cluster, stage)
        cluster.revert_to_zookeeper()
        assert controller_of(cluster) == 0
    assert workload.check().records > 0


@pytest.mark.migrations
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_acknowledged_is_lost_on_the_way_back_of_3_6_2(
    kafka: Launcher, kind: ControllerKind
) -> None:
    """The quorum is static: brokers before 3.9 cannot read voters in the log (KIP-853)."""
    with MigratingCluster(MigratingLayout(version="3.6.2", kind=kind)) as cluster:
        with Workload(cluster.bootstrap_servers) as workload:
            migrate(cluster, OperatorStage.BROKERS_IN_MIGRATION_MODE)
            cluster.revert_to_zookeeper()
            assert controller_of(cluster) == 0
        assert workload.check().records > 0
