"""AlterPartition, API key 56."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, field, int8, int16, int32, int64, since, string, uuid


class BrokerState(Group):
    broker_id: int = since(3, int32)
    broker_epoch: int = since(3, int64, default=-1)


class PartitionData(Group):
    partition_index: int = int32
    leader_epoch: int = int32
    new_isr: tuple[int, ...] = field(array(int32), "0-2")
    new_isr_with_epochs: list[BrokerState] = since(3, array(BrokerState))
    leader_recovery_state: int = since(1, int8)
    partition_epoch: int = int32


class TopicData(Group):
    topic_name: str = field(string, "0-1", ignorable=True)
    topic_id: UUID = since(2, uuid, ignorable=True)
    partitions: list[PartitionData] = array(PartitionData)


class AlterPartitionRequest(Request, key=56, versions="0-3", flexible="0+", listeners="controller"):
    """A partition's leader asks the controller to approve another ISR (KIP-497)."""

    broker_id: int = int32
    broker_epoch: int = field(int64, default=-1)
    topics: list[TopicData] = array(TopicData)


class ResponsePartitionData(Group):
    partition_index: int = int32
    error_code: int = int16
    leader_id: int = int32
    leader_epoch: int = int32
    isr: tuple[int, ...] = array(int32)
    leader_recovery_state: int = since(1, int8, ignorable=True)
    partition_epoch: int = int32


class ResponseTopicData(Group):
    topic_name: str = field(string, "0-1", ignorable=True)
    topic_id: UUID = since(2, uuid, ignorable=True)
    partitions: list[ResponsePartitionData] = array(ResponsePartitionData)


class AlterPartitionResponse(Response, key=56, versions="0-3", flexible="0+"):
    """The controller gives the partition state that is in force now (KIP-497)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    topics: list[ResponseTopicData] = array(ResponseTopicData)
