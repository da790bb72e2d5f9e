"""Bytes by topic and client; an id gets its name from where it is named."""

from typing import Any

from pyspark.sql import SparkSession

from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kwire.pipeline.analyses.topic_bytes import NO_ID, topic_bytes
from kwire.text.ids import uuid_text
from tests.support.pipeline.analyses.table_rows import row_values, rows

PRODUCE = {"api_key": 0, "client_id": "till"}
FETCH = {"api_key": 1, "client_id": "ledger"}
ORDERS, UNKNOWN = "b3JkZXJzb3JkZXJzb3JkZQ", "dW5rbm93bnVua25vd251bg"


def part(topic: str | None, topic_id: str | None, size: int | None) -> dict[str, Any]:
    return {"topic": topic, "topic_id": topic_id, "records_bytes": size}


def test_an_id_is_counted_under_its_name(spark: SparkSession) -> None:
    calls = rows(
        spark,
        "calls",
        PRODUCE | {"topics": [part("orders", None, 100), part("quiet", None, None)]},
        PRODUCE | {"topics": [part(None, ORDERS, 50)]},
        FETCH | {"topics": [part(None, ORDERS, 70), part(None, UNKNOWN, 9)]},
        FETCH | {"topics": [part("payments", None, 60)], "client_id": "b", "peer_id": 2},
        FETCH | {"topics": [part(None, uuid_text(METADATA_TOPIC_ID), 8)], "peer_id": 2},
        PRODUCE | {"topics": None},
        columns="peer_id",
    )
    body = (
        f'{{"topics": [{{"name": "orders", "topic_id": "{ORDERS}", "error_code": 0}},'
        f' {{"name": "payments", "topic_id": "{NO_ID}"}}, {{"name": null, "topic_id": "x"}}]}}'
    )
    messages = rows(
        spark, "messages", {"api": "Metadata", "kind": "RESPONSE", "body": body}, {"api": "Vote"}
    )
    named = [
        ("orders", None, "till", "IN", 2, 150),
        ("orders", None, "ledger", "OUT", 1, 70),
        ("payments", None, "b", "REPLICATED", 1, 60),
        (None, UNKNOWN, "ledger", "OUT", 1, 9),
        (METADATA_TOPIC, None, "ledger", "REPLICATED", 1, 8),
        ("quiet", None, "till", "IN", 1, 0),
    ]
    assert row_values(topic_bytes(calls, messages).drop("cluster_id")) == named
    partitions = rows(spark, "partitions", {"topic": "orders", "topic_id": ORDERS})
    assert row_values(topic_bytes(calls, None, partitions).drop("cluster_id")) == named
    assert row_values(topic_bytes(calls, messages, partitions).drop("cluster_id")) == named
    assert (None, ORDERS, "ledger", "OUT", 1, 70) in row_values(
        topic_bytes(calls).drop("cluster_id")
    )
