"""StopReplica, API key 5."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, boolean, field, int16, int32, int64, since, string


class StopReplicaPartitionV0(Group):
    topic_name: str = field(string, "0")
    partition_index: int = field(int32, "0")


class StopReplicaTopicV1(Group):
    name: str = field(string, "1-2")
    partition_indexes: tuple[int, ...] = field(array(int32), "1-2")


class StopReplicaPartitionState(Group):
    partition_index: int = since(3, int32)
    leader_epoch: int = since(3, int32, default=-1)
    delete_partition: bool = since(3, boolean)


class StopReplicaTopicState(Group):
    topic_name: str = since(3, string)
    partition_states: list[StopReplicaPartitionState] = since(3, array(StopReplicaPartitionState))


class StopReplicaRequest(Request, key=5, versions="0-4", flexible="2+", listeners="zkBroker"):
    """A controller has ZooKeeper-era brokers give up replicas or delete them."""

    controller_id: int = int32
    is_k_raft_controller: bool = since(4, boolean)
    controller_epoch: int = int32
    broker_epoch: int = since(1, int64, default=-1, ignorable=True)
    delete_partitions: bool = field(boolean, "0-2")
    ungrouped_partitions: list[StopReplicaPartitionV0] = field(array(StopReplicaPartitionV0), "0")
    topics: list[StopReplicaTopicV1] = field(array(StopReplicaTopicV1), "1-2")
    topic_states: list[StopReplicaTopicState] = since(3, array(StopReplicaTopicState))


class StopReplicaPartitionError(Group):
    topic_name: str = string
    partition_index: int = int32
    error_code: int = int16


class StopReplicaResponse(Response, key=5, versions="0-4", flexible="2+"):
    """A ZooKeeper-era broker says which replicas it has given up."""

    error_code: int = int16
    partition_errors: list[StopReplicaPartitionError] = array(StopReplicaPartitionError)
