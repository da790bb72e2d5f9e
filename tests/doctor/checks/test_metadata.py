"""The checks of the image: brokers, partitions, features, a migration from ZooKeeper."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec.structs import replace as with_fields

from kwire.doctor.checks import brokers, features, migration, nodes, partitions
from kwire.doctor.finding import FindingVerdict
from kwire.image.features import ZkMigrationState
from kwire.image.partition import PartitionRegistration
from kwire.messages.metadata_versions import METADATA_VERSION
from kwire.net.negotiation import VersionRange
from tests.support.doctor.evidence import (
    LATEST,
    OLD,
    address,
    broker,
    broker_at,
    controller,
    directory,
    evidence_of,
    healthy,
    image_of,
    partition,
    quorum_info,
    registered,
    replica,
    silent,
)

ONE = [registered(1, LATEST)]
BROKERS = [broker(11, LATEST), broker(12, LATEST, fenced=True)]


def test_a_fenced_broker_comes_with_the_partitions_that_list_it() -> None:
    image = image_of(ONE, BROKERS, [partition((11, 12), isr=(11,), leader=11)])
    (finding,) = brokers.check(healthy(image=image))
    assert finding.sentence == "broker 12 is fenced; 1 partition lists it as replica"
    start, gone = finding.fixes
    assert (start.steps, gone.when) == (("start broker 12",), "if it is gone for good")
    assert gone.steps == (
        "start 1 further broker",
        "kwire partitions reassign plan --drain 12 --out drain-12.json",
        "kwire partitions reassign apply drain-12.json",
        "kwire brokers unregister 12",
    )


def test_a_fenced_broker_that_answers_is_told_from_one_that_is_down() -> None:
    evidence = healthy(image=image_of(ONE, BROKERS))
    answering = replace(evidence, brokers={12: broker_at(12, address(12))})
    (finding,) = brokers.check(answering)
    assert finding.evidence == (
        "it answers at 10.0.0.12:9093: it runs, and does not reach the active controller",
    )
    assert finding.advice == ("read the log of broker 12, and check its way to the controllers")
    down = replace(evidence, brokers={12: silent(address(12))})
    (finding,) = brokers.check(down)
    assert "nothing listens there" in finding.evidence[0]
    assert finding.advice == (
        "start broker 12; if it is gone for good: kwire brokers unregister 12"
    )


def test_replicas_in_a_directory_that_is_gone_are_counted() -> None:
    with_disk = with_fields(broker(11, LATEST), directories=(directory(11),))
    lost = with_fields(partition((11,), isr=(11,), leader=11), directories=(directory(99),))
    (finding,) = brokers.check(healthy(image=image_of(ONE, [with_disk], [lost])))
    assert finding.id == "brokers/offline-directory"


def test_a_quorum_without_brokers_is_no_fault() -> None:
    (finding,) = brokers.check(healthy(image=image_of(ONE, [])))
    assert (finding.id, finding.verdict) == ("brokers/none", FindingVerdict.INFO)


def test_partitions_without_a_leader_come_with_their_elr_and_last_known_elr() -> None:
    image = image_of(
        ONE,
        BROKERS,
        [
            partition((11, 12), isr=(), leader=-1, last_known_elr=(4,)),
            partition((11, 12), isr=(), leader=-1, elr=(12,)),
            partition((11, 12), isr=(), leader=-1),
        ],
    )
    first, *_ = partitions.check(healthy(image=image))
    assert first.sentence == "3 partitions are without a leader"
    assert first.evidence == (
        "orders-0 (ELR empty, last known ELR 4)",
        "orders-1 (ELR 12)",
        "orders-2 (ELR empty, last known ELR empty)",
    )


def test_a_partition_under_min_isr_is_named_apart_from_one_with_a_replica_missing() -> None:
    image = image_of(ONE, BROKERS, [partition((11, 12), isr=(11,), leader=11)])
    quorum = quorum_info([replica(1)])
    strict = controller(1, quorum, configs={"min.insync.replicas": "2"})
    assert [f.id for f in partitions.check(evidence_of(strict, image=image))] == [
        "partitions/under-min-isr",
        "partitions/under-replicated",
    ]
    easy = controller(1, quorum, configs={"min.insync.replicas": "1"})
    assert [f.id for f in partitions.check(evidence_of(easy, image=image))] == [
        "partitions/under-replicated"
    ]


def moving(
    *replicas: int, isr: tuple[int, ...], adding: int, removing: int
) -> PartitionRegistration:
    part = partition(replicas, isr=isr, leader=isr[0] if isr else -1)
    return with_fields(part, adding_replicas=(adding,), removing_replicas=(removing,))


@pytest.mark.parametrize(
    ("part", "evidence", "steps"),
    [
        (
            moving(11, 12, isr=(11,), adding=11, removing=12),
            ("orders-0 (all in sync)",),
            "kwire partitions reassign plan --drain 12 --out drain-12.json",
        ),
        (
            moving(11, 12, 13, isr=(11, 13), adding=12, removing=13),
            ("orders-0 (waits for 12)",),
            "start broker 12",
        ),
        (moving(11, 13, isr=(13,), adding=11, removing=13), None, ""),
        (moving(11, 12, isr=(), adding=11, removing=12), None, ""),
    ],
    ids=["nothing ends it", "a target is down", "it copies", "without a leader"],
)
def test_a_move_is_stuck_when_nothing_can_end_it(
    part: PartitionRegistration, evidence: tuple[str, ...] | None, steps: str
) -> None:
    image = image_of(ONE, [*BROKERS, broker(13, LATEST)], [part])
    found = [f for f in partitions.check(healthy(image=image)) if f.id == "partitions/move-stuck"]
    assert [item.evidence for item in found] == ([evidence] if evidence else [])
    if found:
        assert found[0].fixes[0].steps[0] == steps
        assert found[0].fixes[-1].steps[-1].endswith(" --additional")


def test_a_broker_that_runs_is_not_to_be_started() -> None:
    image = image_of(ONE, BROKERS, [partition((11,), isr=(), leader=-1, elr=(11,))])
    (finding,) = partitions.check(healthy(image=image))
    assert finding.fixes[0].steps == ("kwire partitions elect orders-0",)


def test_many_partitions_are_counted_and_only_some_named() -> None:
    lost = [partition((11,), isr=(), leader=-1, elr=(11,))] * 12
    (finding,) = partitions.check(healthy(image=image_of(ONE, BROKERS, lost)))
    assert len(finding.evidence) == 6
    assert finding.evidence[-1] == "and 7 more"


def test_a_feature_that_all_support_could_be_finalized() -> None:
    image = image_of(ONE, [broker(11, LATEST)], level=30)
    (finding,) = features.check(healthy(image=image))
    assert finding.sentence == ("metadata.version is 30 (4.3-IV0); all nodes support 33 (4.4-IV2)")
    assert finding.verdict is FindingVerdict.INFO


def test_a_feature_that_one_node_lacks_cannot() -> None:
    image = image_of(ONE, [broker(11, OLD)], level=19)
    assert [f.id for f in features.check(healthy(image=image))] == ["features/ok"]


def test_a_level_that_nobody_here_knows_is_told_by_its_number() -> None:
    future = {METADATA_VERSION: VersionRange(7, 99)}
    image = image_of([registered(1, future)], [], level=33)
    (finding,) = features.check(evidence_of(controller(None), image=image))
    assert finding.sentence == "metadata.version is 33 (4.4-IV2); all nodes support 99"


def test_a_migration_says_what_it_waits_for() -> None:
    zk = with_fields(broker(11, OLD), is_migrating_zk_broker=True)

    def stage(state: ZkMigrationState, *registrations: object) -> str:
        image = image_of(ONE, [zk] if registrations else [], level=14, zk_migration_state=state)
        (finding,) = migration.check(healthy(image=image))
        return f"{finding.id}: {finding.sentence}"

    assert stage(ZkMigrationState.PRE_MIGRATION) == (
        "migration/waits: the migration waits in state PRE_MIGRATION: no broker is known to"
        " the quorum"
    )
    assert stage(ZkMigrationState.MIGRATION, zk) == (
        "migration/under-way: the migration is in state MIGRATION: 11 still registered as ZooKeeper"
        " brokers"
    )
    assert stage(ZkMigrationState.POST_MIGRATION, zk) == (
        "migration/finalized-too-early: the state of the migration is POST_MIGRATION, but 11 is"
        " still a ZooKeeper broker"
    )
    assert stage(ZkMigrationState.POST_MIGRATION) == (
        "migration/ok: the migration from ZooKeeper is finalised: its state is POST_MIGRATION"
    )
    assert stage(ZkMigrationState.NONE) == "migration/ok: no migration from ZooKeeper is under way"


def test_a_bootstrap_address_that_is_dead_and_a_node_that_refuses_are_named() -> None:
    refusing = replace(
        controller(1, quorum_info([replica(1)])), refusals={"DescribeConfigs": "not allowed"}
    )
    evidence = evidence_of(silent(address(9)), refusing)
    first, second = nodes.check(evidence)
    assert first.sentence == "nobody answers at 10.0.0.9:9093"
    assert second.id == "nodes/refused"
    assert second.evidence == ("DescribeConfigs: not allowed",)


def test_a_slow_node_and_a_log_that_was_not_read_are_named() -> None:
    slow = replace(controller(1), seconds=2.5)
    evidence = replace(evidence_of(slow), no_image="no controller that leads was reached")
    assert [finding.id for finding in nodes.check(evidence)] == ["nodes/slow", "nodes/no-metadata"]
