"""A tree as Kafka 3.9 leaves it in ZooKeeper, to be written into any ZooKeeper."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from kwire.messages.access_control import AclOperation, AclPermission, AclResourceType, PatternType
from kwire.zookeeper import Create, SetData, ZooKeeper
from kwire.zookeeper.znodes import (
    PERSISTENT_PATHS,
    AclResource,
    AclZnode,
    AclZnodeEntry,
    AssignedReplicas,
    BrokerEndpoint,
    BrokerZnode,
    ClusterIdZnode,
    ConfigEntityType,
    ConfigZnode,
    ControllerEpochZnode,
    ControllerZnode,
    DelegationTokenZnode,
    FeatureZnode,
    MigrationZnode,
    PartitionStateZnode,
    ProducerIdsZnode,
    TopicZnode,
    entity_path,
    pending_deletion_path,
    user_client_path,
    with_parents,
)

ACL = AclZnode(
    (
        AclZnodeEntry(
            principal="User:al ice",
            host="*",
            operation=AclOperation.READ,
            permission_type=AclPermission.ALLOW,
        ),
    )
)

TOKEN = DelegationTokenZnode(
    token_id="t1",
    owner="User:a",
    requester="User:b",
    issue_timestamp=1,
    max_timestamp=3,
    expiry_timestamp=2,
)


def topic(number: int, partitions: int) -> TopicZnode:
    """Return a topic of so many partitions on brokers 0 to 2."""
    replicas = {partition: AssignedReplicas((0, 1, 2)) for partition in range(partitions)}
    return TopicZnode(topic_id=UUID(int=number + 1), partitions=replicas)


def state(partition: int) -> PartitionStateZnode:
    """Return a state of a partition."""
    return PartitionStateZnode(
        leader=partition % 3, leader_epoch=5, isr=(0, 1, 2), controller_epoch=7
    )


def entries() -> Iterator[tuple[str, bytes]]:
    """Yield paths and data of all kinds of znodes, without topics."""
    yield ClusterIdZnode.path, ClusterIdZnode("u-8fLEuSRzGSBf2DqsI2AA").encode()
    yield ControllerZnode.path, ControllerZnode(broker_id=1, timestamp_ms=9).encode()
    yield ControllerEpochZnode.path, ControllerEpochZnode(7).encode()
    yield MigrationZnode.path, MigrationZnode().encode()
    yield FeatureZnode.path, FeatureZnode().encode()
    yield ProducerIdsZnode.path, ProducerIdsZnode(broker_id=1, first=0, last=999).encode()
    endpoint = BrokerEndpoint(listener="A", host="h", port=1, security_protocol="SSL")
    yield BrokerZnode.path(1), BrokerZnode(endpoints=(endpoint,)).encode()
    yield pending_deletion_path("old"), b""
    config = ConfigZnode({"k": "1"}).encode()
    for type in ConfigEntityType:
        yield entity_path(type, "x y"), config
        yield entity_path(type, None), config
    yield user_client_path("x y", None), config
    yield user_client_path("only client", "c/d"), config
    for pattern_type in (PatternType.LITERAL, PatternType.PREFIXED):
        yield AclZnode.path(AclResource(AclResourceType.TOPIC, "t", pattern_type)), ACL.encode()
    yield f"{AclZnode.literal_root}/Unheard/of", b"?"
    yield DelegationTokenZnode.path("t1"), TOKEN.encode()


def topic_entries(topics: int, partitions: int) -> Iterator[tuple[str, bytes]]:
    """Yield paths and data of topics and their partitions."""
    for number in range(topics):
        name = f"topic-{number}"
        yield TopicZnode.path(name), topic(number, partitions).encode()
        yield TopicZnode.partitions_path(name), b""
        for partition in range(partitions):
            yield TopicZnode.partition_path(name, partition), b""
            yield PartitionStateZnode.path(name, partition), state(partition).encode()


async def write_tree(zookeeper: ZooKeeper, znodes: Iterator[tuple[str, bytes]]) -> None:
    """Create znodes with everything above them, a few hundred a multi."""
    there: set[str] = set()
    operations: list[Create | SetData] = []

    async def write() -> None:
        await zookeeper.multi(operations)
        operations.clear()

    for path in PERSISTENT_PATHS:
        for above in with_parents(path):
            if above not in there and not await zookeeper.exists(above):
                operations.append(Create(above))
            there.add(above)
    for path, data in znodes:
        if path in there:
            operations.append(SetData(path, data))
            continue
        for above in with_parents(path)[:-1]:
            if above not in there:
                operations.append(Create(above))
                there.add(above)
        operations.append(Create(path, data))
        there.add(path)
        if len(operations) > 500:
            await write()
    await write()
