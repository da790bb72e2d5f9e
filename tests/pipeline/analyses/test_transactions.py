"""Transactions by transactional id, on hand-made bodies."""

import json
from itertools import count
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from kwire.pipeline.analyses.transactions import transaction_events, transactions
from tests.support.pipeline.analyses.table_rows import row_values, rows, second

EVENTS = count()
FINE: dict[str, Any] = {"error_code": 0}


def exchange(
    api: str, at: float, asked: dict[str, Any], answer: dict[str, Any] | None = FINE
) -> list[dict[str, Any]]:
    """A request and its response half a second later, as rows of `messages`."""
    key = {"capture": "a", "connection": 1, "event": next(EVENTS), "api": api}
    request = key | {"kind": "REQUEST", "at": second(at), "body": json.dumps(asked)}
    if answer is None:
        return [request]
    response = {"kind": "RESPONSE", "at": second(at + 0.5), "body": json.dumps(answer)}
    return [request, key | response]


def by(name: str, **more: Any) -> dict[str, Any]:
    return {"transactional_id": name, **more}


def messages(spark: SparkSession, *exchanges: list[Any]) -> DataFrame:
    found = [row for pair in exchanges for row in pair]
    return rows(spark, "messages", *found, columns="client_id")


def test_what_became_of_each_transaction(spark: SparkSession) -> None:
    old = {"transactional_id": None, "v3_and_below_transactional_id": "till"}
    refused = {"topics": [{"partitions": [{"error_code": 0}, {"error_code": 47}]}]}
    told = messages(
        spark,
        exchange("InitProducerId", 0, by("till")),
        exchange("AddPartitionsToTxn", 1, old),
        exchange("Produce", 2, by("till")),
        exchange("EndTxn", 4, by("till", committed=True), {"error_code": 51}),
        exchange("EndTxn", 5, by("till", committed=True)),
        exchange("Produce", 6, by("till")),
        exchange("EndTxn", 7, by("till", committed=False)),
        exchange("AddOffsetsToTxn", 8, by("till")),
        exchange("InitProducerId", 9, by("till")),
        exchange("TxnOffsetCommit", 10, by("till"), refused),
        exchange("Produce", 11, by("till")),
        exchange("Produce", 11, by(None)),  # type: ignore[arg-type]
        exchange("EndTxn", 12, by("late", committed=True)),
        exchange("AddPartitionsToTxn", 13, {"transactions": [by("b"), by("v", verify_only=True)]}),
        exchange("EndTxn", 20, by("b", committed=True), None),
    )
    naive = {
        at: second(at).replace(tzinfo=None) for at in (1, 5.5, 6, 7.5, 8, 9.5, 11, 12.5, 13, 20)
    }
    assert row_values(transaction_events(told).drop("cluster_id")) == [
        ("till", naive[1], naive[5.5], "COMMITTED", 4500.0),
        ("till", naive[6], naive[7.5], "ABORTED", 1500.0),
        ("till", naive[8], naive[9.5], "ABORTED", 1500.0),
        ("late", None, naive[12.5], "COMMITTED", None),
        ("b", naive[13], naive[20], "OPEN", 7000.0),
        ("till", naive[11], naive[20], "OPEN", 9000.0),
    ]
    found = transactions(told).collect()
    assert [tuple(row)[1:8] for row in found] == [
        ("till", 2, 4, 1, 2, 1, 9000.0),
        ("b", 0, 1, 0, 0, 1, 7000.0),
        ("late", 0, 0, 1, 0, 0, None),
    ]
    assert {error.error: error["count"] for error in found[0].errors} == {
        "CONCURRENT_TRANSACTIONS": 1,
        "INVALID_PRODUCER_EPOCH": 1,
    }
    assert row_values(transactions(told.limit(0)).drop("cluster_id")) == []
