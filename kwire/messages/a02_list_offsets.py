"""ListOffsets, API key 2."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, field, int8, int16, int32, int64, since, string


class ListOffsetsPartition(Group):
    partition_index: int = int32
    current_leader_epoch: int = since(4, int32, default=-1, ignorable=True)
    timestamp: int = int64
    max_num_offsets: int = field(int32, "0", default=1)


class ListOffsetsTopic(Group):
    name: str = string
    partitions: list[ListOffsetsPartition] = array(ListOffsetsPartition)


class ListOffsetsRequest(Request, key=2, versions="0-11", flexible="6+", listeners="broker"):
    """A client looks up the offset that a timestamp, or an end of a log, stands for."""

    replica_id: int = int32
    isolation_level: int = since(2, int8)
    topics: list[ListOffsetsTopic] = array(ListOffsetsTopic)
    timeout_ms: int = since(10, int32, ignorable=True)


class ListOffsetsPartitionResponse(Group):
    partition_index: int = int32
    error_code: int = int16
    old_style_offsets: tuple[int, ...] = field(array(int64), "0")
    timestamp: int = since(1, int64, default=-1)
    offset: int = since(1, int64, default=-1)
    leader_epoch: int = since(4, int32, default=-1)


class ListOffsetsTopicResponse(Group):
    name: str = string
    partitions: list[ListOffsetsPartitionResponse] = array(ListOffsetsPartitionResponse)


class ListOffsetsResponse(Response, key=2, versions="0-11", flexible="6+"):
    """The leader gives the offset it found for each partition, with its timestamp."""

    throttle_time_ms: int = since(2, int32, ignorable=True)
    topics: list[ListOffsetsTopicResponse] = array(ListOffsetsTopicResponse)
