"""Reads of a ZooKeeper for the driver of a migration."""

from __future__ import annotations

from uuid import UUID

from kwire.migration.node.requests import assigned_brokers
from kwire.zookeeper import Create
from kwire.zookeeper.znodes import AssignedReplicas, TopicZnode, pending_deletion_path
from kwire.zookeeper.znodes.top_level import with_parents
from migrating.memory_zookeeper import MemoryZooKeeper


def topic(number: int, *replicas: tuple[int, ...]) -> bytes:
    """Return the znode of a topic."""
    partitions = {index: AssignedReplicas(brokers) for index, brokers in enumerate(replicas)}
    return TopicZnode(topic_id=UUID(int=number), partitions=partitions).encode()


async def test_brokers_of_topics_that_are_deleted_are_not_assigned() -> None:
    """As in Java, which copies no topic whose deletion waits."""
    session = MemoryZooKeeper().open_session()
    folders = [*with_parents(TopicZnode.parent), *with_parents("/admin/delete_topics")]
    await session.multi(
        [
            *(Create(path) for path in folders),
            Create(TopicZnode.path("kept"), topic(1, (1, 2), (2, 7))),
            Create(TopicZnode.path("gone"), topic(2, (3,))),
            Create(pending_deletion_path("gone")),
        ]
    )
    assert await assigned_brokers(session) == {1, 2, 7}
