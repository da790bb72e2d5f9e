"""LeaderAndIsr, API key 4."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import (
    array,
    boolean,
    field,
    int8,
    int16,
    int32,
    int64,
    since,
    string,
    uuid,
)


class LeaderAndIsrPartitionState(Group):
    topic_name: str = field(string, "0-1", ignorable=True)
    partition_index: int = int32
    controller_epoch: int = int32
    leader: int = int32
    leader_epoch: int = int32
    isr: tuple[int, ...] = array(int32)
    partition_epoch: int = int32
    replicas: tuple[int, ...] = array(int32)
    adding_replicas: tuple[int, ...] = since(3, array(int32), ignorable=True)
    removing_replicas: tuple[int, ...] = since(3, array(int32), ignorable=True)
    is_new: bool = since(1, boolean, ignorable=True)
    leader_recovery_state: int = since(6, int8)


class LeaderAndIsrLiveLeader(Group):
    broker_id: int = int32
    host_name: str = string
    port: int = int32


class LeaderAndIsrTopicState(Group):
    topic_name: str = since(2, string)
    topic_id: UUID = since(5, uuid, ignorable=True)
    partition_states: list[LeaderAndIsrPartitionState] = since(2, array(LeaderAndIsrPartitionState))


class LeaderAndIsrRequest(Request, key=4, versions="0-7", flexible="4+", listeners="zkBroker"):
    """A controller tells ZooKeeper-era brokers which partitions to lead or to follow."""

    controller_id: int = int32
    is_k_raft_controller: bool = since(7, boolean)
    controller_epoch: int = int32
    broker_epoch: int = since(2, int64, default=-1, ignorable=True)
    type: int = since(5, int8)
    ungrouped_partition_states: list[LeaderAndIsrPartitionState] = field(
        array(LeaderAndIsrPartitionState), "0-1"
    )
    topic_states: list[LeaderAndIsrTopicState] = since(2, array(LeaderAndIsrTopicState))
    live_leaders: list[LeaderAndIsrLiveLeader] = array(LeaderAndIsrLiveLeader)


class LeaderAndIsrPartitionError(Group):
    topic_name: str = field(string, "0-4", ignorable=True)
    partition_index: int = int32
    error_code: int = int16


class LeaderAndIsrTopicError(Group):
    topic_id: UUID = since(5, uuid)
    partition_errors: list[LeaderAndIsrPartitionError] = since(5, array(LeaderAndIsrPartitionError))


class LeaderAndIsrResponse(Response, key=4, versions="0-7", flexible="4+"):
    """A ZooKeeper-era broker says which partitions have taken up their new role."""

    error_code: int = int16
    partition_errors: list[LeaderAndIsrPartitionError] = field(
        array(LeaderAndIsrPartitionError), "0-4"
    )
    topics: list[LeaderAndIsrTopicError] = since(5, array(LeaderAndIsrTopicError))
