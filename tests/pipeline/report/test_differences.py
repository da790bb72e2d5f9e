"""The report of two nights, on rows whose changes are plain to see."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from kwire.pipeline.report import sections
from kwire.pipeline.schemas import TABLES
from tests.support.pipeline.analyses.table_rows import rows, second

COLUMNS = {
    name: " ".join(field for field in schema.names if not field.endswith(("_request", "_response")))
    for name, schema in TABLES.items()
}
PRODUCE = {"api": "Produce", "api_key": 0, "client_id": "till", "outcome": "ANSWERED", "node_id": 1}
RARE = {"api": "Vote", "api_key": 52, "client_id": "raft", "outcome": "ANSWERED", "node_id": 1}


def calls(spark: SparkSession, version: int, latency: float, failed: int, count: int) -> DataFrame:
    """Calls of a hundred seconds: those of Produce often enough, one of Vote."""
    produced = [
        PRODUCE
        | {"at": second(100 * number / (count - 1)), "latency_ms": latency, "request_size": 1000}
        | {"error": "NOT_LEADER_OR_FOLLOWER" if number < failed else None, "response_size": 0}
        | {"api_version": version, "topics": [{"topic": "orders", "records_bytes": 500}]}
        for number in range(count)
    ]
    rare = RARE | {"at": second(50), "latency_ms": latency**3, "api_version": 2}
    return rows(spark, "calls", *produced, rare, columns=COLUMNS["calls"])


def joined(spark: SparkSession, generations: int) -> DataFrame:
    found: list[dict[str, Any]] = []
    for number in range(generations):
        key = {"capture": "a", "connection": 1, "event": number, "api": "JoinGroup"}
        asked = {"group_id": "books", "member_id": "m"}
        answer = {"error_code": 0, "generation_id": number, "member_id": "m"}
        for kind, body, at in (("REQUEST", asked, 0), ("RESPONSE", answer, 1)):
            found.append(key | {"kind": kind, "at": second(number + at), "body": json.dumps(body)})
    return rows(spark, "messages", *found, columns=COLUMNS["messages"])


def test_headings_say_what_changed(spark: SparkSession) -> None:
    check = {"check": "round-trip", "at": second(0)}
    before = {
        "calls": calls(spark, 2, 2.0, 0, 101),
        "messages": joined(spark, 1),
        "verdicts": rows(spark, "verdicts", check | {"passed": True}, columns=COLUMNS["verdicts"]),
    }
    after = {
        "calls": calls(spark, 9, 6.0, 51, 201),
        "messages": joined(spark, 3),
        "verdicts": rows(spark, "verdicts", check | {"passed": False}, columns=COLUMNS["verdicts"]),
    }
    made = {one.topic: one for one in sections(spark, after, lambda _: None, before)}
    assert {topic: section.finding for topic, section in made.items()} == {
        "Summary": "202 calls in 1 min 40 s, 102 calls in 1 min 40 s before",
        "Metadata quorum": "No election was recorded in either night.",
        "Throughput": "2.01 kB and 2.02 calls a second, 1.01 kB and 1.02 before",
        "Topics": "1 kB of records a second, 505 B before; 0 new topics, 0 gone",
        "Latency": "1 of 1 API slower, 0 faster; Produce most, its 99th percentile from 2 ms"
        " to 6 ms",
        "Errors": "25.25% of the calls failed, 0.00% before; new: NOT_LEADER_OR_FOLLOWER",
        "Versions": "1 pair of client and API with other versions; 0 calls that Kafka 4 refuses,"
        " 101 before",
        "Rebalances": "3 rebalances, 1 before; books changed most",
        "Transactions": "No transaction in either night.",
        "Verdicts": "1 verdict do not hold, 0 before; new: round-trip",
    }
    (latency,) = made["Latency"].figures
    assert list(latency.layout.yaxis.categoryarray) == ["Produce"]
    assert [row[-1] for row in made["Latency"].grids[0].rows] == ["3 times", "too few to tell"]
    (failed,) = made["Errors"].figures
    assert failed.layout.xaxis.range == (0, 1)
    assert [tuple(row) for row in made["Versions"].grids[0].rows] == [
        ("till", "Produce", "v2", "v9")
    ]
    assert all(len(one.figures) == len(one.tables) for one in made.values() if one.figures)


@pytest.mark.nightly
def test_two_empty_nights_say_so(spark: SparkSession) -> None:
    made = sections(spark, {}, lambda _: None, {})
    assert not any(one.figures or one.grids for one in made)
    assert made[0].finding == "0 calls in 1 s, 0 calls in 1 s before"
