"""DescribeTransactions, API key 65."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, int16, int32, int64, string


class DescribeTransactionsRequest(Request, key=65, versions="0", flexible="0+", listeners="broker"):
    """An admin asks for the state of transactions by their transactional ids (KIP-664)."""

    transactional_ids: tuple[str, ...] = array(string)


class TopicData(Group):
    topic: str = string
    partitions: tuple[int, ...] = array(int32)


class TransactionState(Group):
    error_code: int = int16
    transactional_id: str = string
    transaction_state: str = string
    transaction_timeout_ms: int = int32
    transaction_start_time_ms: int = int64
    producer_id: int = int64
    producer_epoch: int = int16
    topics: list[TopicData] = array(TopicData)


class DescribeTransactionsResponse(Response, key=65, versions="0", flexible="0+"):
    """The coordinator gives state, producer and partitions of transactions (KIP-664)."""

    throttle_time_ms: int = int32
    transaction_states: list[TransactionState] = array(TransactionState)
