"""Changes of one partition, with the states and answers of Kafka's PartitionChangeBuilderTest."""

from typing import Any
from uuid import UUID

import pytest
from msgspec.structs import replace

from kwire.controller.replicas.partition_change_builder import Election, PartitionChangeBuilder
from kwire.image.partition import (
    NO_LEADER,
    NO_LEADER_CHANGE,
    NO_RECOVERY_CHANGE,
    RECOVERED,
    RECOVERING,
    UNASSIGNED,
    PartitionRegistration,
)
from kwire.messages.metadata_versions import MetadataVersion
from kwire.messages.records.partition_change import PartitionChangeRecord

TOPIC = UUID(int=99)
A, B, C, D, NEW = (UUID(int=number) for number in range(1001, 1006))

FOO = PartitionRegistration(
    replicas=(2, 1, 3), directories=(A, B, UNASSIGNED), isr=(2, 1, 3), leader=1,
    leader_epoch=100, partition_epoch=200,
)  # fmt: skip
BAR = PartitionRegistration(
    replicas=(1, 2, 3, 4), directories=(UNASSIGNED, B, C, D), isr=(1, 2, 3), leader=1,
    removing_replicas=(1,), adding_replicas=(4,), leader_epoch=100, partition_epoch=200,
)  # fmt: skip
BAZ = PartitionRegistration(
    replicas=(2, 1, 3), directories=(A, B, C), isr=(1, 3), leader=3, leader_epoch=100,
    partition_epoch=200,
)  # fmt: skip


def change(
    partition: PartitionRegistration, level: int = 30, **wanted: Any
) -> PartitionChangeBuilder:
    not_acceptable = 3 if partition is FOO else NO_LEADER
    settings = {"acceptable": lambda replica: replica != not_acceptable} | wanted
    return PartitionChangeBuilder(
        partition=partition,
        topic_id=TOPIC,
        partition_id=0,
        metadata_version=MetadataVersion(level),
        default_directory=lambda replica: NEW,
        **settings,
    )


def record(partition: PartitionRegistration, **wanted: Any) -> PartitionChangeRecord | None:
    found = change(partition, **wanted).build()
    if found is None:
        return None
    assert isinstance(found.record, PartitionChangeRecord)
    return found.record


@pytest.mark.parametrize(
    ("partition", "wanted", "leader", "unclean"),
    [
        (FOO, {"election": Election.PREFERRED}, 2, False),
        (FOO, {}, 1, False),
        (FOO, {"election": Election.UNCLEAN}, 1, False),
        (FOO, {"isr": (1, 3)}, 1, False),
        (FOO, {"election": Election.UNCLEAN, "isr": (1, 3)}, 1, False),
        (FOO, {"isr": (3,)}, NO_LEADER, False),
        (FOO, {"election": Election.UNCLEAN, "isr": (3,)}, 2, True),
        (
            FOO,
            {"election": Election.UNCLEAN, "isr": (4,), "replicas": (2, 1, 3, 4)},
            4,
            False,
        ),
        (BAZ, {"election": Election.PREFERRED}, 3, False),
        (BAZ, {}, 3, False),
        (BAZ, {"election": Election.UNCLEAN}, 3, False),
    ],
)
def test_who_leads(
    partition: PartitionRegistration, wanted: dict[str, Any], leader: int, unclean: bool
) -> None:
    found = record(partition, **wanted) or PartitionChangeRecord()
    named = partition.leader if found.leader == NO_LEADER_CHANGE else found.leader
    assert named == leader
    assert (found.leader_recovery_state == RECOVERING) == unclean
    assert not unclean or found.isr == (leader,)


def test_nothing_to_change_is_no_record() -> None:
    assert record(FOO) is None
    assert record(BAZ, isr=(1, 3)) is None


@pytest.mark.parametrize(("level", "leader"), [(11, 1), (12, NO_LEADER_CHANGE)])
def test_before_3_6_the_leader_epoch_is_bumped_where_the_isr_shrinks(
    level: int, leader: int
) -> None:
    found = record(FOO, level=level, isr=(2, 1))
    assert found is not None
    assert (found.isr, found.leader) == ((2, 1), leader)


def test_the_leader_epoch_is_not_bumped_where_the_isr_grows() -> None:
    found = record(BAZ, level=7, isr=(1, 3, 2))
    assert found is not None
    assert (found.isr, found.leader) == ((1, 3, 2), NO_LEADER_CHANGE)


def test_the_leader_epoch_is_bumped_where_a_replica_leaves() -> None:
    found = record(FOO, replicas=(2, 1, 4))
    assert found is not None
    assert found.leader == 1
    assert found.directories == (A, B, NEW)


@pytest.mark.parametrize(("level", "directories"), [(16, None), (17, (UNASSIGNED, A, B))])
def test_directories_move_with_their_replicas(
    level: int, directories: tuple[UUID, ...] | None
) -> None:
    found = record(FOO, level=level, replicas=(3, 2, 1))

    assert found == PartitionChangeRecord(
        topic_id=TOPIC, partition_id=0, replicas=(3, 2, 1), directories=directories
    )


def test_an_isr_with_every_new_replica_completes_a_reassignment() -> None:
    found = record(BAR, isr=(1, 2, 3, 4))

    assert found == PartitionChangeRecord(
        topic_id=TOPIC,
        partition_id=0,
        replicas=(2, 3, 4),
        directories=(B, C, D),
        isr=(2, 3, 4),
        leader=2,
        removing_replicas=(),
        adding_replicas=(),
    )


def test_a_reassignment_waits_for_every_new_replica() -> None:
    assert record(BAR, isr=(1, 2, 3)) is None


def test_a_reassignment_waits_for_every_replica_that_stays() -> None:
    shrinking = replace(BAR, adding_replicas=(), isr=(1, 2))

    assert record(shrinking) is None
    found = record(shrinking, isr=(1, 2, 3, 4))
    assert found is not None
    assert (found.replicas, found.isr) == ((2, 3, 4), (2, 3, 4))


def test_an_unclean_leader_is_the_whole_isr_and_recovers() -> None:
    found = record(FOO, election=Election.UNCLEAN, isr=(3,))

    assert found == PartitionChangeRecord(
        topic_id=TOPIC, partition_id=0, isr=(2,), leader=2, leader_recovery_state=RECOVERING
    )


def test_a_partition_that_recovers_goes_on_recovering_under_another_leader() -> None:
    """KIP-704."""
    partition = replace(BAZ, isr=(3,), leader_recovery_state=RECOVERING)

    gone = record(partition, isr=(), acceptable=lambda replica: False)
    assert gone is not None
    assert (gone.leader, gone.isr) == (NO_LEADER, None)
    assert gone.leader_recovery_state == NO_RECOVERY_CHANGE

    back = record(partition.merge(gone))
    assert back is not None
    assert (back.leader, back.leader_recovery_state) == (3, NO_RECOVERY_CHANGE)


def test_a_leader_says_that_it_has_recovered() -> None:
    partition = replace(BAZ, leader_recovery_state=RECOVERING)

    found = record(partition, leader_recovery_state=RECOVERED)

    assert found is not None
    assert (found.leader_recovery_state, found.leader) == (RECOVERED, NO_LEADER_CHANGE)


@pytest.mark.parametrize(("level", "version"), [(16, 0), (17, 1), (22, 1), (23, 2)])
def test_eligible_leader_replicas_that_are_left_over_are_cleared(level: int, version: int) -> None:
    """At level 0 of the feature; the last known leader stays, as with Kafka's builder."""
    partition = replace(BAZ, elr=(2,), last_known_elr=(1,))

    found = change(partition, level, isr=(3,)).build()

    assert found is not None
    assert found.version == version
    found.encode()
    cleared = isinstance(found.record, PartitionChangeRecord) and (
        found.record.eligible_leader_replicas,
        found.record.last_known_elr,
    )
    assert cleared == (() if version == 2 else None, None)
