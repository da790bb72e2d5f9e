"""OffsetForLeaderEpoch, API key 23."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, field, int16, int32, int64, since, string


class OffsetForLeaderPartition(Group):
    partition: int = int32
    current_leader_epoch: int = since(2, int32, default=-1, ignorable=True)
    leader_epoch: int = int32


class OffsetForLeaderTopic(Group):
    topic: str = string
    partitions: list[OffsetForLeaderPartition] = array(OffsetForLeaderPartition)


class OffsetForLeaderEpochRequest(
    Request, key=23, versions="0-4", flexible="4+", listeners="broker"
):
    """A follower or a consumer asks where a leader epoch ends, to find divergence (KIP-101)."""

    replica_id: int = since(3, int32, default=-2, ignorable=True)
    topics: list[OffsetForLeaderTopic] = array(OffsetForLeaderTopic)


class EpochEndOffset(Group):
    error_code: int = int16
    partition: int = int32
    leader_epoch: int = since(1, int32, default=-1, ignorable=True)
    end_offset: int = field(int64, default=-1)


class OffsetForLeaderTopicResult(Group):
    topic: str = string
    partitions: list[EpochEndOffset] = array(EpochEndOffset)


class OffsetForLeaderEpochResponse(Response, key=23, versions="0-4", flexible="4+"):
    """The leader gives the offset at which the asked leader epoch ends (KIP-101)."""

    throttle_time_ms: int = since(2, int32, ignorable=True)
    topics: list[OffsetForLeaderTopicResult] = array(OffsetForLeaderTopicResult)
