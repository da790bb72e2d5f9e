"""Calls and bytes by API and client, on rows whose answers are plain to see."""

from pyspark.sql import SparkSession

from kwire.pipeline.analyses.throughput import throughput
from tests.support.pipeline.analyses.table_rows import row_values, rows, second

FETCH = {"api": "Fetch", "client_id": "ledger"}
VOTE = {"api": "Vote", "client_id": "raft"}


def test_rates_count_the_seconds_in_which_there_was_a_call(spark: SparkSession) -> None:
    calls = rows(
        spark,
        "calls",
        *(FETCH | {"at": second(at), "request_size": 10, "response_size": 90} for at in (0, 0.5)),
        FETCH | {"at": second(60), "request_size": 20},
        VOTE | {"at": second(60.9), "request_size": 4, "response_size": 6},
    )
    assert row_values(throughput(calls).drop("cluster_id")) == [
        ("Fetch", "ledger", 3, 2, 40, 180, 1.5, 20.0, 90.0),
        ("Vote", "raft", 1, 1, 4, 6, 0.5, 2.0, 3.0),
    ]
    assert [row[:2] for row in row_values(throughput(calls, ["api"]).drop("cluster_id"))] == [
        ("Fetch", 3),
        ("Vote", 1),
    ]
    assert row_values(throughput(calls.limit(0)).drop("cluster_id")) == []
