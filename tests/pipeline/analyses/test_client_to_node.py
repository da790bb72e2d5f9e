"""Calls and bytes between each client and each node."""

from pyspark.sql import SparkSession

from kwire.pipeline.analyses.client_to_node import client_to_node
from tests.support.pipeline.analyses.table_rows import row_values, rows, second


def test_each_client_and_node_is_a_row(spark: SparkSession) -> None:
    till = {"client_id": "till", "node_id": 1, "capture": "a", "request_size": 10}
    calls = rows(
        spark,
        "calls",
        *(till | {"connection": number, "at": second(number)} for number in (1, 1, 2)),
        till | {"node_id": 2, "connection": 3, "at": second(9), "response_size": 7},
        {"client_id": None, "node_id": None, "capture": "a", "connection": 4, "at": second(0)},
    )
    at = {seconds: second(seconds).replace(tzinfo=None) for seconds in (0, 1, 2, 9)}
    assert row_values(client_to_node(calls).drop("cluster_id")) == [
        ("till", 1, 3, 0.75, 2, 30, 0, at[1], at[2]),
        (None, None, 1, 1.0, 1, 0, 0, at[0], at[0]),
        ("till", 2, 1, 0.25, 1, 10, 7, at[9], at[9]),
    ]
