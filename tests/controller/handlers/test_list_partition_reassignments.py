"""ListPartitionReassignments."""

from typing import Any
from uuid import UUID

from kwire.messages.a46_list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from kwire.messages.records.partition_change import PartitionChangeRecord


def test_moving_partitions_are_listed(three: Any) -> None:
    """KIP-455; written by another controller, since this one moves none."""
    three.create("foo", (1, 2), (1, 2))
    three.create("still", (1,))
    change = PartitionChangeRecord(
        topic_id=three.image.topics.ids["foo"],
        partition_id=1,
        replicas=(1, 2, 3),
        adding_replicas=(3,),
        removing_replicas=(1,),
        directories=(UUID(int=2001), UUID(int=2002), UUID(int=2003)),
    )
    three.write(change, 2)
    some = ListPartitionReassignmentsTopics(name="foo", partition_indexes=(0, 1, 9))
    none = ListPartitionReassignmentsTopics(name="nowhere", partition_indexes=(0,))

    for topics in (None, [some, none]):
        response = three.ask(ListPartitionReassignmentsRequest(topics=topics))
        (topic,) = response.topics
        (partition,) = topic.partitions
        assert (topic.name, partition.partition_index, partition.replicas) == ("foo", 1, (1, 2, 3))
        assert (partition.adding_replicas, partition.removing_replicas) == ((3,), (1,))
