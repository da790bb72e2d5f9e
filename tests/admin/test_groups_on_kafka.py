"""Groups of real Kafka, held against kafka-consumer-groups and kafka-python at the same time."""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from kwire.admin import AdminClient
from kwire.admin.group_lag import GroupLag
from kwire.admin.group_offsets import OffsetAndMetadata
from kwire.admin.group_seek_target import AtTime, ShiftedBy
from kwire.admin.list_groups import listed_groups
from kwire.admin.remove_group_members import MemberToRemove
from kwire.admin.topic_partition import TopicPartition
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError, InvalidValue
from real_kafka import Cluster
from tests.support.real_kafka.topics import create, delete

TOOL = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
RECORDS = 30


def java(cluster: Cluster, *arguments: str) -> list[list[str]]:
    """Return the words of each line that kafka-consumer-groups prints, headings left out."""
    done = cluster.tool(TOOL, "--bootstrap-server", cluster.bootstrap_servers, *arguments)
    lines = [line.split() for line in done.stdout.splitlines()]
    return sorted(words for words in lines if words and words[0] != "GROUP")


@contextmanager
def topic(cluster: Cluster, name: str) -> Iterator[str]:
    """A topic of three partitions with ten records each."""
    from kafka import KafkaProducer

    create(cluster.bootstrap_servers, name)
    with closing(KafkaProducer(bootstrap_servers=cluster.bootstrap_servers)) as producer:
        for index in range(RECORDS):
            producer.send(name, b"record", partition=index % 3)
        producer.flush()
    yield name
    delete(cluster.bootstrap_servers, name)


@contextmanager
def member(cluster: Cluster, group: str, name: str) -> Iterator[None]:
    """A static consumer that is in the group and stays there, at offset 4 of partition 0."""
    from kafka import KafkaConsumer
    from kafka.structs import TopicPartition as KafkaPartition

    consumer = KafkaConsumer(
        name,
        bootstrap_servers=cluster.bootstrap_servers,
        group_id=group,
        group_instance_id="instance-1",
        client_id="reader",
        enable_auto_commit=False,
    )
    ended, joined = threading.Event(), threading.Event()

    def read() -> None:
        while not ended.is_set():
            consumer.poll(100)
            if consumer.assignment() and not joined.is_set():
                from kafka.structs import OffsetAndMetadata as Committed

                consumer.commit({KafkaPartition(name, 0): Committed(4, "by hand", -1)})
                joined.set()
        consumer.close()

    thread = threading.Thread(target=read)
    thread.start()
    try:
        assert joined.wait(60)
        yield
    finally:
        ended.set()
        thread.join(60)


def cell(value: object) -> str:
    return "-" if value is None else str(value)


def rows(group: str, lag: GroupLag) -> list[list[str]]:
    """Return the lines that kafka-consumer-groups --describe would print."""
    return sorted(
        [
            group,
            place.partition.topic,
            str(place.partition.partition),
            *map(cell, (place.current_offset, place.log_end_offset, place.lag)),
            *(
                [place.members[0].member_id, place.members[0].host, place.members[0].client_id]
                if place.members
                else ["-", "-", "-"]
            ),
        ]
        for place in lag.partitions
    )


async def test_groups_of_kafka_4_4_0_are_those_of_its_tool(kafka440: Cluster) -> None:
    await described_moved_and_deleted(kafka440)


@pytest.mark.releases
async def test_groups_of_kafka_3_9_1_are_those_of_its_tool(kafka391: Cluster) -> None:
    await described_moved_and_deleted(kafka391)


async def described_moved_and_deleted(cluster: Cluster) -> None:
    """Compare a group that has a member with Java's words for it, then move and delete it."""
    group, name = "billing", "billed"
    admin = AdminClient(cluster.bootstrap_servers, timeout=60)
    with topic(cluster, name):
        async with admin:
            with member(cluster, group, name):
                lag = (await admin.describe_group_lag([group]))[group]
                assert rows(group, lag) == java(cluster, "--describe", "--group", group)
                assert lag.total == 6
                [state] = java(cluster, "--describe", "--group", group, "--state")
                described = (await admin.describe_groups([group]))[group]
                coordinator = described.coordinator
                assert coordinator is not None
                assert state[1:3] == [str(coordinator.address), f"({coordinator.node_id})"]
                assert state[-2:] == [described.group_state, "1"]
                listed = listed_groups(await admin.list_groups(states=["Stable"]))
                assert [group] in java(cluster, "--list")
                assert group in {listing.group_id for listing in listed}
                # What Kafka refuses while there is a member.
                plan = await admin.plan_group_seek(group, ShiftedBy(2))
                with pytest.raises(InvalidValue, match="has 1 member"):
                    await admin.seek_group(plan)
                zero = TopicPartition(name, 0)
                refused = await admin.alter_group_offsets(
                    group, {zero: OffsetAndMetadata(offset=0)}
                )
                assert code(refused.failed[zero]) == ErrorCode.UNKNOWN_MEMBER_ID
                kept = await admin.delete_group_offsets(group, [zero])
                assert code(kept.failed[zero]) == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
                kept_group = await admin.delete_groups([group, "nobody"])
                assert code(kept_group.failed[group]) == ErrorCode.NON_EMPTY_GROUP
                assert code(kept_group.failed["nobody"]) == ErrorCode.GROUP_ID_NOT_FOUND
            await the_emptied_group(admin, cluster, group, name)


def code(error: Exception) -> int:
    assert isinstance(error, BrokerError)
    return error.code


async def the_emptied_group(admin: AdminClient, cluster: Cluster, group: str, name: str) -> None:
    """Evict the static member that is gone without leaving, then move, forget and delete."""
    static = MemberToRemove("", "instance-1")
    evicted = await admin.remove_group_members(group)
    assert [*evicted] in ([static], []), "kafka-python may have left by itself"
    again = await admin.remove_group_members(group, [static])
    assert code(again.failed[static]) == ErrorCode.UNKNOWN_MEMBER_ID
    plan = await admin.plan_group_seek(group, AtTime(-1), {name: None})
    assert [(move.old_offset, move.new_offset) for move in plan.moves] == [
        (4, 10),
        (None, 10),
        (None, 10),
    ]
    (await admin.seek_group(plan)).all()
    lag = (await admin.describe_group_lag([group]))[group]
    assert rows(group, lag) == java(cluster, "--describe", "--group", group)
    assert lag.total == 0
    (await admin.delete_group_offsets(group, [TopicPartition(name, 1)])).all()
    offsets = (await admin.list_group_offsets([group]))[group]
    assert {p.partition: o.offset for p, o in offsets.items() if o} == {0: 10, 2: 10}
    (await admin.delete_groups([group])).all()
    gone = await admin.describe_groups([group])
    assert code(gone.failed[group]) == ErrorCode.GROUP_ID_NOT_FOUND
