"""BrokerHeartbeat, after Kafka's ReplicationControlManagerTest and BrokerHeartbeatManagerTest."""

from typing import Any
from uuid import UUID

from kwire.error_codes import ErrorCode
from kwire.image.partition import NO_LEADER
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.a73_assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    DirectoryData,
    PartitionData,
    TopicData,
)
from kwire.messages.records.broker_registration_change import BrokerRegistrationChangeRecord
from kwire.messages.records.config import ConfigRecord
from kwire.messages.records.no_op import NoOpRecord
from kwire.net.service import RequestContext


def test_a_broker_is_unfenced_once_it_has_its_own_registration(lab: Any) -> None:
    lab.register(1)
    epoch = lab.image.cluster.brokers[1].epoch

    behind = lab.heartbeat(1, current_metadata_offset=epoch - 1)
    caught_up = lab.heartbeat(1, current_metadata_offset=epoch)

    assert (behind.is_caught_up, behind.is_fenced) == (False, True)
    assert (caught_up.is_caught_up, caught_up.is_fenced) == (True, False)
    assert lab.image.cluster.is_active(1)


def test_a_broker_that_wants_to_be_fenced_stays_so(lab: Any) -> None:
    lab.register(1)

    response = lab.heartbeat(1, want_fence=True)

    assert (response.is_caught_up, response.is_fenced) == (True, True)


def test_the_answer_waits_for_the_commit_of_what_it_tells(lab: Any) -> None:
    lab.register(1)
    broker = lab.image.cluster.brokers[1]
    request = BrokerHeartbeatRequest(
        broker_id=1, broker_epoch=broker.epoch, current_metadata_offset=broker.epoch
    )

    first = lab.answer(request)
    second = lab.controller.handle(
        request, RequestContext(version=2), now=lab.now, end_offset=first.wait_for
    )

    assert len(first.records) == 1
    assert (second.records, second.wait_for) == ((), first.wait_for)


def test_a_heartbeat_of_an_older_registration_is_stale(lab: Any) -> None:
    lab.start(1)

    assert lab.heartbeat(1, broker_epoch=2).error_code == ErrorCode.STALE_BROKER_EPOCH
    stranger = BrokerHeartbeatRequest(broker_id=9, broker_epoch=1)
    assert lab.ask(stranger).error_code == ErrorCode.STALE_BROKER_EPOCH


def test_a_silent_broker_is_fenced_and_leads_no_more(lab: Any) -> None:
    lab.start(1, 2)
    lab.create("foo", (1, 2))
    lab.now += 5000
    lab.heartbeat(2)

    assert lab.tick(4000) == []
    lab.tick(1)

    partition = lab.partition("foo")
    assert (partition.leader, partition.isr, partition.leader_epoch) == (2, (2,), 1)
    assert not lab.image.cluster.is_active(1)
    assert lab.image.cluster.is_active(2)


def test_a_fenced_broker_is_not_its_own_unclean_leader(lab: Any) -> None:
    lab.start(1)
    lab.create("foo", (1,))
    lab.write(
        ConfigRecord(
            resource_type=2,
            resource_name="foo",
            name="unclean.leader.election.enable",
            value="true",
        )
    )

    lab.tick(9001)

    assert (lab.partition("foo").leader, lab.partition("foo").isr) == (NO_LEADER, (1,))


def test_the_last_member_stays_in_the_isr_of_a_partition_that_nobody_leads(lab: Any) -> None:
    lab.start(1)
    lab.create("foo", (1,))

    lab.tick(9001)

    partition = lab.partition("foo")
    assert (partition.leader, partition.isr, partition.leader_epoch) == (NO_LEADER, (1,), 1)


def test_an_unfenced_broker_leads_again_what_nobody_led(lab: Any) -> None:
    lab.start(1)
    lab.create("foo", (1,))
    lab.tick(9001)

    lab.heartbeat(1)

    partition = lab.partition("foo")
    assert (partition.leader, partition.leader_epoch) == (1, 2)


def test_controlled_shutdown_moves_leaders_and_waits_for_the_others(lab: Any) -> None:
    lab.start(1, 2)
    lab.create("foo", (1, 2))

    first = lab.heartbeat(1, want_shut_down=True)
    offset = lab.end_offset - 1
    lab.heartbeat(2, current_metadata_offset=offset - 1)
    behind = lab.heartbeat(1, want_shut_down=True)
    lab.heartbeat(2, current_metadata_offset=offset)
    done = lab.heartbeat(1, want_shut_down=True)

    assert [first.should_shut_down, behind.should_shut_down] == [False, False]
    assert done.should_shut_down
    assert (lab.partition("foo").leader, lab.partition("foo").isr) == (2, (2,))
    assert lab.image.cluster.brokers[1].fenced


def test_controlled_shutdown_leaves_partitions_without_another_candidate_leaderless(
    lab: Any,
) -> None:
    lab.start(1, 2)
    lab.create("alone", (1,))

    lab.heartbeat(1, want_shut_down=True)

    partition = lab.partition("alone")
    assert (partition.leader, partition.isr) == (NO_LEADER, (1,))


def test_a_late_heartbeat_of_a_broker_that_stopped_does_not_make_it_lead(lab: Any) -> None:
    lab.start(1)
    lab.create("foo", (1,))
    assert not lab.heartbeat(1, want_shut_down=True).should_shut_down
    assert lab.heartbeat(1, want_shut_down=True).should_shut_down

    lab.heartbeat(1)

    broker = lab.image.cluster.brokers[1]
    assert (broker.fenced, broker.in_controlled_shutdown) == (False, True)
    assert (lab.partition("foo").leader, lab.partition("foo").isr) == (NO_LEADER, (1,))


def test_a_broker_that_leads_nothing_may_stop_at_once(lab: Any) -> None:
    lab.start(1)

    assert lab.heartbeat(1, want_shut_down=True).should_shut_down


def test_a_fenced_broker_may_stop_at_once(lab: Any) -> None:
    lab.register(1)

    assert lab.heartbeat(1, want_fence=True, want_shut_down=True).should_shut_down


def test_the_version_of_a_registration_change_is_the_lowest_that_carries_it(lab: Any) -> None:
    lab.start(1, 2)
    lab.create("foo", (1, 2))
    lab.heartbeat(2, cordoned_log_dirs=())
    lab.heartbeat(1, want_shut_down=True)
    lab.heartbeat(2, offline_log_dirs=(UUID(int=2002),))

    found = [
        record.version
        for record in lab.log
        if isinstance(record.record, BrokerRegistrationChangeRecord)
    ]
    assert found == [0, 0, 3, 1, 2]


def test_cordoned_directories_are_recorded_once(lab: Any) -> None:
    lab.start(1)
    lab.heartbeat(1, cordoned_log_dirs=())
    before = lab.end_offset

    lab.heartbeat(1, cordoned_log_dirs=())

    assert lab.end_offset == before


def test_replicas_in_a_lost_directory_leave_the_isr(lab: Any) -> None:
    good, bad = UUID(int=901), UUID(int=902)
    lab.start(1, log_dirs=(good, bad))
    lab.start(2)
    lab.create("foo", (1, 2))
    lab.create("bar", (1, 2))
    assign(lab, "foo", bad)
    assign(lab, "bar", good)

    lab.heartbeat(1, offline_log_dirs=(bad,))

    assert (lab.partition("foo").leader, lab.partition("foo").isr) == (2, (2,))
    assert (lab.partition("bar").leader, lab.partition("bar").isr) == (1, (1, 2))
    assert lab.image.cluster.brokers[1].directories == (good,)


def assign(lab: Any, topic: str, directory: UUID) -> None:
    topics = [
        TopicData(
            topic_id=lab.image.topics.topic(topic).id, partitions=[PartitionData(partition_index=0)]
        )
    ]
    request = AssignReplicasToDirsRequest(
        broker_id=1,
        broker_epoch=lab.image.cluster.brokers[1].epoch,
        directories=[DirectoryData(id=directory, topics=topics)],
    )
    assert lab.ask(request).error_code == ErrorCode.NONE


def test_an_idle_log_gets_a_no_op_every_interval(make_lab: Any) -> None:
    lab = make_lab(no_op_interval_ms=500)

    assert lab.tick(499) == []
    (written,) = lab.tick(1)
    assert isinstance(written.record, NoOpRecord)
    assert lab.tick(499) == []
    assert len(lab.tick(1)) == 1
