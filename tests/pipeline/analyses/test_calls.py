"""Analyses of calls, on rows whose answers are plain to see."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

import vectors
from kwire.capture.client_versions import SINCE_KAFKA_4
from kwire.pipeline.analyses.comparison import comparison
from kwire.pipeline.analyses.controller_load import controller_load
from kwire.pipeline.analyses.errors import errors
from kwire.pipeline.analyses.latencies import latencies
from kwire.pipeline.analyses.versions import versions
from kwire.pipeline.ingest import ingest
from kwire.pipeline.opening import open_tables
from kwire.pipeline.report.latencies import latencies_section
from kwire.pipeline.report.span import ReportSpan
from tests.support.capture.capture_records import old_clients, write
from tests.support.pipeline.analyses.table_rows import row_values, rows, second
from tests.support.pipeline.captured_versions import captured_versions

FETCH = {"api": "Fetch", "api_key": 1, "api_version": 17, "client_id": "ledger", "node_id": 1}
VOTE = {"api": "Vote", "api_key": 52, "api_version": 2, "client_id": "raft", "node_id": 3000}
ANSWERED: dict[str, Any] = {"outcome": "ANSWERED", "error": None, "errors": []}


def test_long_polls_stand_apart_and_the_slowest_stand_first(spark: SparkSession) -> None:
    quick = [FETCH | {"latency_ms": float(number), "max_wait_ms": None} for number in range(1, 101)]
    waiting = [FETCH | {"latency_ms": 500.0, "max_wait_ms": 500} for _ in range(100)]
    lost = [FETCH | {"latency_ms": None}]
    found = row_values(latencies(rows(spark, "calls", *quick, *waiting, *lost), by=["api"]))
    assert (
        found
        == [
            (None, "Fetch", False, 100, 50.0, 95.0, 99.0, 100.0),
            (None, "Fetch", True, 100, 500.0, 500.0, 500.0, 500.0),
        ][::-1]
    )


def test_a_place_among_the_slowest_needs_enough_calls(spark: SparkSession) -> None:
    often = [FETCH | {"latency_ms": 1.0} for _ in range(100)]
    once = [VOTE | {"latency_ms": 9000.0}]
    after = rows(spark, "calls", *often, *once, columns="max_wait_ms error at")
    before = rows(
        spark, "calls", *often, VOTE | {"latency_ms": 1.0}, columns="max_wait_ms error at"
    )
    assert [row[1:3] for row in row_values(latencies(after, by=["api"]))] == [
        ("Fetch", False),
        ("Vote", False),
    ]
    assert [row[1] for row in row_values(comparison(before, after))] == ["Fetch", "Vote"]
    span = ReportSpan(second(0).replace(tzinfo=None), second(60).replace(tzinfo=None), 1)
    timed = after.withColumn("at", f.lit(second(30)))
    section = latencies_section(timed, span)
    assert section.finding.startswith("Fetch is the slowest API: 99 of 100 of its 100 calls take")
    assert list(section.figures[0].layout.yaxis.categoryarray) == ["Vote (1)", "Fetch"]
    section = latencies_section(timed.where("api = 'Vote'"), span)
    assert section.finding == "No API has the 100 calls that a place among the slowest needs"


def test_an_error_is_a_share_of_the_calls_of_its_kind(spark: SparkSession) -> None:
    said = [{"path": "", "code": 6, "name": "NOT_LEADER", "message": "Ask broker 2."}]
    moved = FETCH | {"outcome": "ANSWERED", "error": "NOT_LEADER", "errors": said}
    calls = rows(
        spark,
        "calls",
        *(moved | {"at": second(at)} for at in (3, 1)),
        *(FETCH | ANSWERED | {"at": second(at)} for at in range(5)),
        FETCH | {"outcome": "LOST", "at": second(9)},
        VOTE | {"outcome": "NO_RESPONSE", "at": second(9)},
    )
    first, last = (at.replace(tzinfo=None) for at in (second(1), second(3)))
    assert row_values(errors(calls))[0] == (
        *(None, "Fetch", "ledger", 1, "NOT_LEADER", 2, 8, 0.25),
        *(first, last, "Ask broker 2."),
    )
    assert [row[4:8] for row in row_values(errors(calls))[1:]] == [("LOST", 1, 8, 0.125)]


def test_clients_below_a_version_block_the_upgrade(spark: SparkSession) -> None:
    old = FETCH | {"client_id": "till", "client": "10.0.0.1:5000"}
    calls = rows(
        spark,
        "calls",
        *(old | {"api_version": version} for version in (3, 3, 4)),
        FETCH | {"client": "10.0.0.2:5001"},
        FETCH | {"client": "10.0.0.2:5002"},
    )
    assert row_values(versions(calls)) == [
        (None, "till", "Fetch", 3, 4, 4, 2, 3, 1),
        (None, "ledger", "Fetch", 17, 17, 4, 0, 2, 1),
    ]


def test_the_command_on_captures_counts_the_same(spark: SparkSession, tmp_path: Path) -> None:
    capture, output = tmp_path / "one.avro", str(tmp_path / "tables")
    write(capture, old_clients())
    ingest(spark, [str(capture)], output)
    found = versions(open_tables(spark, output)["calls"])
    assert [row[1:] for row in row_values(found)] == captured_versions([capture])


@pytest.mark.java
def test_what_kafka_4_needs_is_what_its_code_says() -> None:
    oldest = {
        release: {row["key"]: row["lowest_version"] for row in vectors.facts(release)["api_keys"]}
        for release in ("3.9.1", "4.3.1")
    }
    dropped = {
        key: version
        for key, version in oldest["4.3.1"].items()
        if version > 0 and oldest["3.9.1"].get(key) == 0
    }
    share_groups = {key for key in dropped if key >= 76}  # a preview in 3.9: nobody's client
    assert {key: dropped[key] for key in dropped.keys() - share_groups} == SINCE_KAFKA_4


def test_controllers_are_told_by_what_they_answer(spark: SparkSession) -> None:
    calls = rows(
        spark,
        "calls",
        *(
            VOTE | ANSWERED | {"at": second(at), "request_size": 10, "response_size": 5}
            for at in (0, 0.5, 9)
        ),
        FETCH | ANSWERED | {"node_id": 3000, "at": second(9), "request_size": 1},
        FETCH | ANSWERED | {"at": second(1)},
    )
    assert row_values(controller_load(calls)) == [
        (None, 3000, "Vote", 3, 0.75, 0.3, 2, 30, 15),
        (None, 3000, "Fetch", 1, 0.25, 0.1, 1, 1, None),
    ]


def test_two_captures_are_laid_side_by_side(spark: SparkSession) -> None:
    common = "error max_wait_ms"
    before = rows(spark, "calls", FETCH | {"latency_ms": 2.0}, columns=common)
    after = rows(
        spark,
        "calls",
        FETCH | {"latency_ms": 3.0, "api_version": 18},
        FETCH | {"latency_ms": 900.0, "max_wait_ms": 900, "api_version": 18, "error": "X"},
        VOTE | {"latency_ms": 1.0},
        columns=common,
    )
    assert row_values(comparison(before, after)) == [
        (None, "Fetch", "ledger", 1, "17–17", 2.0, 2.0, 0.0, 2, "18–18", 3.0, 3.0, 0.5, 1.5),
        (None, "Vote", "raft", None, None, None, None, None, 1, "2–2", 1.0, 1.0, 0.0, None),
    ]
