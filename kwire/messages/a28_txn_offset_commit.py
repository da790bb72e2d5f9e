"""TxnOffsetCommit, API key 28."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, field, int16, int32, int64, nullable, since, string, uuid


class TxnOffsetCommitRequestPartition(Group):
    partition_index: int = int32
    committed_offset: int = int64
    committed_leader_epoch: int = since(2, int32, default=-1, ignorable=True)
    committed_metadata: str | None = nullable(string)


class TxnOffsetCommitRequestTopic(Group):
    name: str = field(string, "0-5", ignorable=True)
    topic_id: UUID = since(6, uuid, ignorable=True)
    partitions: list[TxnOffsetCommitRequestPartition] = array(TxnOffsetCommitRequestPartition)


class TxnOffsetCommitRequest(Request, key=28, versions="0-6", flexible="3+", listeners="broker"):
    """A producer commits a group's offsets as part of its transaction (KIP-98)."""

    transactional_id: str = string
    group_id: str = string
    producer_id: int = int64
    producer_epoch: int = int16
    generation_id_or_member_epoch: int = since(3, int32, default=-1)
    member_id: str = since(3, string)
    group_instance_id: str | None = since(3, nullable(string), default=None)
    topics: list[TxnOffsetCommitRequestTopic] = array(TxnOffsetCommitRequestTopic)


class TxnOffsetCommitResponsePartition(Group):
    partition_index: int = int32
    error_code: int = int16


class TxnOffsetCommitResponseTopic(Group):
    name: str = field(string, "0-5", ignorable=True)
    topic_id: UUID = since(6, uuid, ignorable=True)
    partitions: list[TxnOffsetCommitResponsePartition] = array(TxnOffsetCommitResponsePartition)


class TxnOffsetCommitResponse(Response, key=28, versions="0-6", flexible="3+"):
    """The group coordinator says which offsets it holds for the transaction (KIP-98)."""

    throttle_time_ms: int = int32
    topics: list[TxnOffsetCommitResponseTopic] = array(TxnOffsetCommitResponseTopic)
