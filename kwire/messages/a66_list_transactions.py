"""ListTransactions, API key 66."""

from __future__ import annotations

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, int16, int32, int64, nullable, since, string


class ListTransactionsRequest(Request, key=66, versions="0-2", flexible="0+", listeners="broker"):
    """An admin asks a broker for the transactions it coordinates (KIP-664)."""

    state_filters: tuple[str, ...] = array(string)
    producer_id_filters: tuple[int, ...] = array(int64)
    duration_filter: int = since(1, int64, default=-1)
    transactional_id_pattern: str | None = since(2, nullable(string), default=None)


class TransactionState(Group):
    transactional_id: str = string
    producer_id: int = int64
    transaction_state: str = string


class ListTransactionsResponse(Response, key=66, versions="0-2", flexible="0+"):
    """A broker gives id, producer and state of its matching transactions (KIP-664)."""

    throttle_time_ms: int = int32
    error_code: int = int16
    unknown_state_filters: tuple[str, ...] = array(string)
    transaction_states: list[TransactionState] = array(TransactionState)
