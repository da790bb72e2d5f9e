"""AddPartitionsToTxn, API key 24."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, boolean, field, int16, int32, int64, since, string


class AddPartitionsToTxnTopic(Group):
    name: str = string
    partitions: tuple[int, ...] = array(int32)


class AddPartitionsToTxnTransaction(Group):
    transactional_id: str = since(4, string)
    producer_id: int = since(4, int64)
    producer_epoch: int = since(4, int16)
    verify_only: bool = since(4, boolean)
    topics: list[AddPartitionsToTxnTopic] = since(4, array(AddPartitionsToTxnTopic))


class AddPartitionsToTxnRequest(Request, key=24, versions="0-5", flexible="3+", listeners="broker"):
    """A producer or broker enters partitions into a transaction, or verifies them (KIP-98)."""

    transactions: list[AddPartitionsToTxnTransaction] = since(
        4, array(AddPartitionsToTxnTransaction)
    )
    v3_and_below_transactional_id: str = field(string, "0-3")
    v3_and_below_producer_id: int = field(int64, "0-3")
    v3_and_below_producer_epoch: int = field(int16, "0-3")
    v3_and_below_topics: list[AddPartitionsToTxnTopic] = field(
        array(AddPartitionsToTxnTopic), "0-3"
    )


class AddPartitionsToTxnPartitionResult(Group):
    partition_index: int = int32
    partition_error_code: int = int16


class AddPartitionsToTxnTopicResult(Group):
    name: str = string
    results_by_partition: list[AddPartitionsToTxnPartitionResult] = array(
        AddPartitionsToTxnPartitionResult
    )


class AddPartitionsToTxnResult(Group):
    transactional_id: str = since(4, string)
    topic_results: list[AddPartitionsToTxnTopicResult] = since(
        4, array(AddPartitionsToTxnTopicResult)
    )


class AddPartitionsToTxnResponse(Response, key=24, versions="0-5", flexible="3+"):
    """The coordinator says which partitions belong to the transaction (KIP-98)."""

    throttle_time_ms: int = int32
    error_code: int = since(4, int16, ignorable=True)
    results_by_transaction: list[AddPartitionsToTxnResult] = since(
        4, array(AddPartitionsToTxnResult)
    )
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = field(
        array(AddPartitionsToTxnTopicResult), "0-3"
    )
