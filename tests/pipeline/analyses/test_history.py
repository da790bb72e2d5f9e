"""Every analysis on what a real quorum did, against what was done to it."""

from collections.abc import Iterable
from statistics import quantiles
from typing import Any

import pytest
from pyspark.sql import Row
from pyspark.sql import functions as f

from kwire.capture import captures_at
from kwire.pipeline.analyses import ANALYSES, comparison
from tests.support.pipeline.captured_versions import captured_versions
from tests.support.pipeline.dump_log_segments import DumpedRecord, dumped_records
from tests.support.pipeline.recorded_history import JOINED_ID, TOPICS, VOTER_IDS, History
from tests.support.pipeline.tables import Tables

pytestmark = pytest.mark.usefixtures("as_users_have_it")

ROUNDED = 1e-6
"""Milliseconds that a value between two others may be off: latencies have microseconds."""


def rows(tables: Tables, name: str) -> list[Row]:
    analysis = ANALYSES[name]
    return analysis.rows({one: tables[one] for one in (analysis.table, *analysis.others)}).collect()


def dumped(history: History, name: str) -> Iterable[DumpedRecord]:
    """Records of this name as Java printed them, those of segments only."""
    for file, lines in history.dumped.items():
        if file.endswith(".log"):
            yield from (record for record in dumped_records(lines) if record.name == name)


def numbers(rows: Iterable[Row], *names: str) -> set[tuple[Any, ...]]:
    return {tuple(row[name] for name in names) for row in rows}


def test_latencies(tables: Tables) -> None:
    found = rows(tables, "latencies")
    calls = tables["calls"].where("latency_ms is not null")
    assert sum(row.calls for row in found) == calls.count()
    assert {row.api for row in found if row.long_poll} == {"Fetch"}
    mine = "client_id = 'filler-1' and api = 'Produce'"
    told = [row.latency_ms for row in calls.where(mine).select("latency_ms").collect()]
    (row,) = (item for item in found if (item.client_id, item.api) == ("filler-1", "Produce"))
    assert (row.calls, row.max_ms) == (len(told), max(told))
    hundredths = quantiles(told, n=100)
    near = quantiles(told, n=100, method="inclusive")
    assert min(hundredths[97], near[97]) - ROUNDED <= row.p99_ms <= max(told)
    assert hundredths[48] - ROUNDED <= row.p50_ms <= hundredths[50] + ROUNDED


def test_errors(tables: Tables, history: History) -> None:
    found = rows(tables, "errors")
    wrong = "error is not null or outcome not in ('ANSWERED', 'NO_RESPONSE')"
    assert sum(row.failed for row in found) == tables["calls"].where(wrong).count()
    assert all(0 < row.rate <= 1 and row["first"] <= row["last"] for row in found)
    cut_off = [row for row in found if row.failure == "LOST" and row.node_id == history.leaders[0]]
    assert cut_off  # what waited for the leader that was killed
    assert not [row for row in found if row.failure.startswith("INVALID_")]


def test_versions(tables: Tables, history: History) -> None:
    found = rows(tables, "versions")
    assert [tuple(row)[1:] for row in found] == captured_versions(captures_at([history.captures]))
    assert not any(row.blocked for row in found)  # the cluster is one of Kafka 4
    mine = [row for row in found if row.client_id == "filler-1"]
    asked = {("Produce", 9, 9), ("Metadata", 12, 12), ("Fetch", 12, 12)}
    assert numbers(mine, "api", "lowest", "highest") >= asked


def test_features(tables: Tables, history: History) -> None:
    found = [row for row in rows(tables, "features") if row.current]
    told = {
        (record.data["name"], record.data["featureLevel"])
        for record in dumped(history, "FeatureLevelRecord")
    }
    assert numbers(found, "name", "level") == told


def test_elections(tables: Tables, history: History) -> None:
    found = [row for row in rows(tables, "elections") if row.leader_id is not None]
    told = {
        (record.epoch, record.data["leaderId"]) for record in dumped(history, "LeaderChangeMessage")
    }
    assert numbers(found, "epoch", "leader_id") == told
    killed, returned = history.did("killed"), history.did("returned")
    (taken,) = (item for item in found if killed.ended < item.at.timestamp() < returned.began)
    assert taken.leader_id == history.leaders[1]
    assert taken.granted >= 1
    assert taken.leader_id in taken.candidates
    assert taken.leaderless_ms / 1000 > taken.at.timestamp() - killed.ended


def test_voter_changes(tables: Tables) -> None:
    found = [row for row in rows(tables, "voter-changes") if row.replica_id is not None]
    assert [(row.change, row.replica_id, sorted(row.voters)) for row in found] == [
        ("ADDED", JOINED_ID, [*VOTER_IDS, JOINED_ID]),
        ("REMOVED", JOINED_ID, [*VOTER_IDS]),
    ]
    assert all(row.took_ms > 0 for row in found)


def test_isr(tables: Tables) -> None:
    """Broker 2 was restarted, then both were stopped, broker 1 first."""
    found = [row for row in rows(tables, "isr") if row.topic in TOPICS]
    assert len(found) == 6
    assert all(row.shrinks >= 2 and row.expansions >= 1 for row in found)
    assert all(row.leaderless >= 1 and row.smallest == 0 for row in found)
    assert all(row.moves >= 1 for row in found)


def test_alter_partitions(tables: Tables) -> None:
    """Broker 1 asks for broker 2 in all six partitions, when it is back."""
    taken = [row for row in rows(tables, "alter-partitions") if row.outcome == "NONE"]
    (row,) = (item for item in taken if item.broker_id == 1)
    assert row.partitions == 6


def test_controller_load(tables: Tables, history: History) -> None:
    found = rows(tables, "controller-load")
    assert {row.node_id for row in found} <= {*VOTER_IDS, JOINED_ID}
    assert {row.node_id for row in found} >= set(history.leaders)
    of_it = tables["calls"].where(f.col("node_id") == history.leaders[1])
    mine = [row for row in found if row.node_id == history.leaders[1]]
    assert sum(row.calls for row in mine) == of_it.count()
    assert (
        sum(row.request_bytes for row in mine) == of_it.agg(f.sum("request_size")).collect()[0][0]
    )


def test_heartbeats(tables: Tables) -> None:
    found = {row.broker_id: row for row in rows(tables, "heartbeats")}
    assert set(found) == {1, 2}
    asked = tables["calls"].where("api = 'BrokerHeartbeat'").count()
    assert sum(row.heartbeats for row in found.values()) == asked
    assert found[2].stopping >= 2  # once for its restart
    assert found[2].fenced >= 2


def test_checks(tables: Tables) -> None:
    found = rows(tables, "checks")
    assert sum(row.broken for row in found) == 0
    assert sum(row.held for row in found) == tables["verdicts"].count()


def test_comparison(tables: Tables) -> None:
    calls = tables["calls"]
    found = comparison(calls, calls.where("api != 'Vote'")).collect()
    assert {row.slower for row in found} == {1.0, None}
    gone = [row for row in found if row.calls_after is None]
    assert {row.api for row in gone} == {"Vote"}
