"""Requests about partitions, right and wrong ones: what moves them, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from kwire.messages.a19_create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a20_delete_topics import DeleteTopicsRequest, DeleteTopicState
from kwire.messages.a37_create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kwire.messages.a43_elect_leaders import ElectLeadersRequest, TopicPartitions
from kwire.messages.a45_alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kwire.messages.a46_list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from kwire.messages.a56_alter_partition import AlterPartitionRequest, BrokerState
from kwire.messages.a56_alter_partition import PartitionData as IsrPartition
from kwire.messages.a56_alter_partition import TopicData as IsrTopic
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest
from kwire.messages.a73_assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    DirectoryData,
    PartitionData,
    TopicData,
)
from tests.support.controller.live.admin_session import Session, Step

BROKERS = (1, 2, 3, 4)
MOVED, ISR = "moved", "isr"
NOBODY = UUID(int=99)
LOST = UUID(int=2)

Replicas = tuple[int, ...]


def script(session: Session) -> Iterator[Step]:
    """All steps, with brokers 1 to 4 registered and unfenced. Broker 4 is fenced at the end."""
    yield from moves(session)
    yield fault(session)


def fault(session: Session) -> Step:
    """Return the last step: Kafka's controller resigns on it."""
    return _isr_step(
        session,
        "in an unknown recovery state",
        (2,),
        2,
        leader_epoch=1,
        partition_epoch=5,
        leader_recovery_state=7,
    )


def moves(session: Session) -> Iterator[Step]:
    """All steps but the last one."""
    yield from _topics()
    yield from _reassignments(session)
    yield from _isr(session)
    yield from _directories(session)
    yield from _growth()
    yield from _elections()
    yield from _fenced(session)
    yield from _ends()


def topic_id(session: Session, name: str) -> UUID:
    """Return the id that the controller gave a topic of this session."""
    answer = session.answers[f"create {name}"]
    assert isinstance(answer, CreateTopicsResponse)
    return answer.topics[0].topic_id


def _create(name: str, *assignments: Replicas, step: str | None = None) -> Step:
    assigned = [
        CreatableReplicaAssignment(partition_index=number, broker_ids=replicas)
        for number, replicas in enumerate(assignments)
    ]
    topic = CreatableTopic(
        name=name, num_partitions=-1, replication_factor=-1, assignments=assigned
    )
    request = CreateTopicsRequest(timeout_ms=5000, topics=[topic])
    return Step(name=step or f"create {name}", request=request)


def _topics() -> Iterator[Step]:
    yield _create(MOVED, (1, 2), (2, 1), (1, 3), (3, 1))
    yield _create(ISR, (1, 2, 3))
    for name, assignments in (
        ("no replicas", ((),)),
        ("an unknown broker", ((1, 77),)),
        ("a broker twice", ((1, 1),)),
        ("two replication factors", ((1, 2), (1,))),
        ("a negative broker", ((-1,),)),
    ):
        yield _create("wrong", *assignments, step=f"create with {name}")


def reassign(
    name: str,
    topic: str,
    *moves: tuple[int, Replicas | None],
    allow_replication_factor_change: bool = True,
) -> Step:
    """Return a step that moves partitions, or cancels moves where the replicas are None."""
    partitions = [
        ReassignablePartition(partition_index=number, replicas=replicas)
        for number, replicas in moves
    ]
    request = AlterPartitionReassignmentsRequest(
        timeout_ms=5000,
        topics=[ReassignableTopic(name=topic, partitions=partitions)],
        allow_replication_factor_change=allow_replication_factor_change,
    )
    return Step(name=f"reassign {name}", request=request)


def _listed(name: str) -> Step:
    return Step(name=f"list {name}", request=ListPartitionReassignmentsRequest(topics=None))


def _reassignments(session: Session) -> Iterator[Step]:
    empty = AlterPartitionReassignmentsRequest(timeout_ms=5000, topics=[])
    yield Step(name="reassign nothing", request=empty)
    yield Step(name="reassign nothing at v0", request=empty, version=0)
    yield reassign("no partitions", MOVED)
    yield reassign("an unknown topic", "nowhere", (0, (1,)), (1, None))
    yield reassign("an unknown partition", MOVED, (9, (1,)), (-1, None))
    yield reassign("to no replicas", MOVED, (0, ()))
    yield reassign("to a broker twice", MOVED, (0, (1, 1)))
    yield reassign("to an unknown broker", MOVED, (0, (1, 77)), (1, (-1,)))
    yield reassign("back what does not move", MOVED, (0, None))
    yield reassign("to where it is", MOVED, (0, (1, 2)))
    yield reassign("in another order", MOVED, (0, (2, 1)))
    yield reassign(
        "with another factor", MOVED, (0, (1, 2, 3)), allow_replication_factor_change=False
    )
    yield reassign(
        "to one unknown broker", MOVED, (0, (77,)), allow_replication_factor_change=False
    )
    yield _listed("none")
    yield reassign("some", MOVED, (0, (3, 4)), (1, (2, 3)), (2, (3,)), (3, (3, 4, 1)))
    yield _listed("some")
    some = ListPartitionReassignmentsTopics(name=MOVED, partition_indexes=(0, 2, 9))
    none = ListPartitionReassignmentsTopics(name="nowhere", partition_indexes=(0,))
    named = ListPartitionReassignmentsRequest(topics=[some, none])
    yield Step(name="list named", request=named)
    yield Step(name="list of no topics", request=ListPartitionReassignmentsRequest(topics=[]))
    yield reassign(
        "a moving one, factor kept", MOVED, (0, (1, 4)), (1, (1,)),
        allow_replication_factor_change=False,
    )  # fmt: skip
    yield _listed("redirected")
    yield reassign("to all that it has", MOVED, (1, (3, 2, 1)))
    yield _listed("to all that it has")
    yield reassign("back", MOVED, (0, None), (2, None), (3, None))
    yield _listed("after the cancellation")
    yield reassign("for the ISR", ISR, (0, (2, 4)))
    yield _isr_step(session, "that completes", (1, 2, 3, 4), leader_epoch=0, partition_epoch=1)
    yield _listed("after completion")
    yield reassign("to two others", MOVED, (2, (1, 2)))
    yield reassign("to the same in another order", MOVED, (2, (2, 1)))


def _isr_step(
    session: Session,
    name: str,
    isr: Replicas,
    broker: int = 1,
    topic: UUID | None = None,
    **changes: int,
) -> Step:
    states = [
        BrokerState(broker_id=id, broker_epoch=session.epochs.get(id, 1)) for id in isr
    ]  # fmt: skip
    id = topic or topic_id(session, ISR)
    partition = IsrPartition(partition_index=0, new_isr_with_epochs=states).replace(**changes)
    request = AlterPartitionRequest(
        broker_id=broker,
        broker_epoch=session.epochs.get(broker, 1),
        topics=[IsrTopic(topic_id=id, partitions=[partition])],
    )
    return Step(name=f"an ISR {name}", request=request)


def _isr(session: Session) -> Iterator[Step]:
    now = {"leader_epoch": 1, "partition_epoch": 2}

    def step(
        name: str, isr: Replicas, broker: int = 2, topic: UUID | None = None, **changes: int
    ) -> Step:
        return _isr_step(session, name, isr, broker, topic, **{**now, **changes})

    yield step("of an unknown topic", (2,), topic=NOBODY)
    yield step("of an unknown partition", (2,), partition_index=9)
    yield step("of a later leader", (2,), leader_epoch=9)
    yield step("of a later partition", (2,), partition_epoch=9)
    yield step("of an earlier leader", (2,), leader_epoch=0)
    yield step("of an earlier partition", (2,), partition_epoch=0)
    yield step("of a follower", (2, 4), broker=4)
    yield step("that is empty", ())
    yield step("without the leader", (4,))
    yield step("with no replica", (2, 3))
    yield step("with a broker twice", (2, 2))
    yield step("of one that recovers again", (2,), leader_recovery_state=1)
    yield step("of many that recover", (2, 4), leader_recovery_state=1)
    yield step("that shrinks", (2,))
    yield step("with an unregistered broker", (2, 77), partition_epoch=3)
    yield step("that grows", (2, 4), partition_epoch=3)


def _directories(session: Session) -> Iterator[Step]:
    def assign(name: str, directory: UUID, topic: UUID, number: int, epoch: int = 0) -> Step:
        partitions = [PartitionData(partition_index=number)]
        topics = [TopicData(topic_id=topic, partitions=partitions)]
        request = AssignReplicasToDirsRequest(
            broker_id=2,
            broker_epoch=session.epochs[2] + epoch,
            directories=[DirectoryData(id=directory, topics=topics)],
        )
        return Step(name=f"assign {name}", request=request)

    id, own = topic_id(session, ISR), UUID(int=(9 << 64) + 2)
    yield assign("of a stale epoch", own, id, 0, -1)
    yield assign("of an unknown topic", own, NOBODY, 0)
    yield assign("of an unknown partition", own, id, 9)
    yield assign("of another's replica", own, topic_id(session, MOVED), 3)
    yield assign("where it is", own, id, 0)
    yield assign("to an unknown directory", NOBODY, topic_id(session, MOVED), 1)
    yield assign("to a lost directory", LOST, topic_id(session, MOVED), 0)


def _growth() -> Iterator[Step]:
    def grow(name: str, topic: str, count: int, *assigned: Replicas) -> Step:
        wanted = CreatePartitionsTopic(
            name=topic,
            count=count,
            assignments=[CreatePartitionsAssignment(broker_ids=ids) for ids in assigned] or None,
        )
        request = CreatePartitionsRequest(timeout_ms=5000, topics=[wanted])
        return Step(name=f"grow {name}", request=request)

    yield grow("an unknown topic", "nowhere", 2)
    yield grow("by nothing", ISR, 1)
    yield grow("to fewer", MOVED, 1)
    yield grow("to a negative number", ISR, -1)
    yield grow("by too few assignments", ISR, 3, (1, 2))
    yield grow("onto an unknown broker", ISR, 2, (1, 77))
    yield grow("onto a broker twice", ISR, 2, (1, 1))
    yield grow("with another factor", ISR, 2, (1, 2, 3))
    yield grow("onto two brokers", ISR, 2, (3, 1))


def _elections() -> Iterator[Step]:
    def elect(name: str, type_: int, topic: str | None, *numbers: int) -> Step:
        partitions = [TopicPartitions(topic=topic, partitions=numbers)] if topic else None
        request = ElectLeadersRequest(
            election_type=type_, topic_partitions=partitions, timeout_ms=5000
        )
        return Step(name=f"elect {name}", request=request)

    yield elect("in an unknown topic", 0, "nowhere", 0)
    yield elect("in an unknown partition", 0, MOVED, 9)
    yield elect("who leads", 0, ISR, 1)
    yield elect("while it moves", 0, MOVED, 1)
    yield elect("uncleanly where one leads", 1, ISR, 0)


def _fenced(session: Session) -> Iterator[Step]:
    beat = BrokerHeartbeatRequest(
        broker_id=4,
        broker_epoch=session.epochs[4],
        current_metadata_offset=session.epochs[4] + 1,
        want_fence=True,
    )
    yield Step(name="fence broker 4", request=beat)
    yield _isr_step(session, "with a fenced broker", (2, 4), 2, leader_epoch=1, partition_epoch=5)
    yield reassign("to a fenced broker", ISR, (1, (4, 1)))
    yield _listed("to a fenced broker")
    yield reassign("back from a fenced broker", ISR, (1, None))
    for name, id in (("4", 4), ("4 again", 4), ("77", 77)):
        yield Step(name=f"unregister {name}", request=UnregisterBrokerRequest(broker_id=id))
    yield reassign("to an unregistered broker", ISR, (1, (4,)))


def _ends() -> Iterator[Step]:
    for name, state in (
        ("what moves", DeleteTopicState(name=MOVED)),
        ("what is gone", DeleteTopicState(name=MOVED)),
        ("an unknown id", DeleteTopicState(name=None, topic_id=NOBODY)),
    ):
        request = DeleteTopicsRequest(timeout_ms=5000, topics=[state])
        yield Step(name=f"delete {name}", request=request)
    yield _listed("at the end")
