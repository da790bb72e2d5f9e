"""Analyses of quorum, partitions and brokers, on rows whose answers are plain to see."""

from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from kwire.pipeline.analyses.alter_partitions import alter_partitions
from kwire.pipeline.analyses.elections import CANDIDATES, elections
from kwire.pipeline.analyses.heartbeats import heartbeats
from kwire.pipeline.analyses.isr import isr_churn
from kwire.pipeline.analyses.recorded import recorded
from kwire.pipeline.analyses.verdicts import checks
from kwire.pipeline.analyses.versions import features
from kwire.pipeline.analyses.voter_changes import voter_changes
from kwire.pipeline.schemas import CLUSTER_ID, TABLES
from kwire.pipeline.spark_columns import spark_schema
from tests.support.pipeline.analyses.table_rows import row_values, rows, second, stretch


def naive(seconds: float) -> Any:
    """Return a time as Spark does: without a zone, in that of the session."""
    return second(seconds).replace(tzinfo=None)


def voters(*ids: int) -> list[dict[str, Any]]:
    return [{"id": id_, "directory_id": None, "endpoints": []} for id_ in ids]


def test_what_was_recorded_has_a_gap_where_no_recording_ran_or_a_file_is_missing(
    spark: SparkSession,
) -> None:
    sources = rows(
        spark,
        "sources",
        stretch("a", 100, 200, first=3, last=5),  # brought by two ingests, the later part first:
        stretch("a", 0, 50, first=0, last=2),  # nothing happened for long, and that was recorded
        stretch("a", 300, 310, first=9, last=12),  # the file between was lost
        stretch("a", 310.5, 311, first=20, last=21),  # a few events were
        stretch("b", 305, 400),  # at the same time, elsewhere
        stretch("c", 500, 501),
        stretch("log", 450, 451) | {"kind": "LOG"},
        stretch("empty", 0, 0) | {"begin": None, "end": None},
    )
    assert row_values(recorded(sources)) == [
        (None, naive(begin), naive(end)) for begin, end in ((0, 200), (300, 400), (500, 501))
    ]


def test_clusters_are_recorded_each_at_its_time(spark: SparkSession) -> None:
    sources = rows(
        spark,
        "sources",
        stretch("a", 0, 10, last=4),  # of x, as its next stretch tells
        stretch("a", 11, 20, first=5) | {"cluster_id": "x"},
        stretch("b", 15, 30) | {"cluster_id": "y"},
        stretch("c", 5, 6),
    )
    assert row_values(recorded(sources)) == [
        (None, naive(5), naive(6)),
        ("x", naive(0), naive(20)),
        ("y", naive(15), naive(30)),
    ]


def plan_of(frame: DataFrame) -> str:
    """Return Spark's physical plan."""
    return str(frame._jdf.queryExecution().executedPlan().toString())


LOG, OVERHEARD = {"source": "LOG"}, {"source": "CAPTURE"}


def test_an_election_tells_candidates_votes_and_the_time_without_a_leader(
    spark: SparkSession,
) -> None:
    fetch = OVERHEARD | {"what": "FETCH", "epoch": 1, "offset": 7}
    vote = OVERHEARD | {"what": "VOTE", "epoch": 2}
    leader = LOG | {"what": "LEADER_CHANGE"}
    quorum = rows(
        spark,
        "quorum",
        leader | {"at": second(0), "epoch": 1, "leader_id": 1, "granting": [1, 2], "offset": 0},
        *(fetch | {"at": second(at)} for at in (1, 5)),
        fetch | {"at": second(6), "error": "FENCED_LEADER_EPOCH"},
        vote | {"at": second(7), "replica_id": 2, "granted": True, "node_id": 3},
        vote | {"at": second(7.2), "replica_id": 3, "granted": False, "node_id": 2},
        leader | {"at": second(7.5), "epoch": 2, "leader_id": 2, "granting": [2, 3], "offset": 9},
        OVERHEARD
        | {"what": "VOTE", "at": second(9), "epoch": 3, "replica_id": 3, "granted": False},
    )
    assert row_values(elections(quorum)) == [
        (None, 1, 1, naive(0), [1, 2], [], 0, 0, None, None),
        (None, 2, 2, naive(7.5), [2, 3], [2, 3], 1, 1, 2500.0, 0.0),
        (None, 3, None, naive(9), None, [3], 0, 1, None, None),
    ]
    for first, then, leaderless, unrecorded in (
        ((0, 4), (4, 8), 2500.0, 0.0),
        ((0, 6.5), (9, 19), 1500.0, 1000.0),  # its end, 1.5 s after the last fetch
        ((0, 5.1), (9, 19), None, 2400.0),  # too early to say that the leader was gone
        ((0, 6.5), (7, 20), 2000.0, 500.0),
    ):
        sources = rows(spark, "sources", stretch("a", *first), stretch("b", *then))
        found = row_values(elections(quorum, sources))
        assert found[1][-2:] == (leaderless, unrecorded), first


def test_of_very_many_candidates_the_lowest_are_named(spark: SparkSession) -> None:
    vote = OVERHEARD | {"what": "VOTE", "epoch": 1, "at": second(1), "granted": False}
    quorum = rows(
        spark,
        "quorum",
        *(vote | {"replica_id": node} for node in range(CANDIDATES + 50, -1, -1)),
        columns="leader_id granting error",
    )
    (row,) = elections(quorum).collect()
    assert row.candidates == list(range(CANDIDATES))
    assert row.refused == CANDIDATES + 51


def test_without_a_log_whoever_began_the_epoch_led_it(spark: SparkSession) -> None:
    began = OVERHEARD | {"what": "BEGIN_EPOCH", "epoch": 4, "leader_id": 2, "at": second(1)}
    quorum = rows(
        spark, "quorum", began, columns="error granting granted replica_id offset node_id"
    )
    assert row_values(elections(quorum)) == [(None, 4, 2, naive(1), None, [], 0, 0, None, None)]


def test_a_voter_change_is_followed_from_the_request_to_the_commit(spark: SparkSession) -> None:
    change = LOG | {"what": "VOTERS", "epoch": 1}
    add = OVERHEARD | {"what": "ADD_VOTER", "replica_id": 3}
    quorum = rows(
        spark,
        "quorum",
        change | {"at": second(0), "offset": 2, "voters": voters(1, 2)},
        add | {"at": second(1), "error": "REQUEST_TIMED_OUT"},
        add | {"at": second(2)},
        change | {"at": second(3), "offset": 9, "voters": voters(1, 2, 3)},
        OVERHEARD | {"what": "FETCH", "at": second(3.5), "high_watermark": 9},
        OVERHEARD | {"what": "FETCH", "at": second(4), "high_watermark": 10},
        OVERHEARD | {"what": "REMOVE_VOTER", "at": second(6.0004), "replica_id": 1},
        change | {"at": second(6), "offset": 20, "voters": voters(2, 3)},
        change | {"at": second(7), "offset": 30, "voters": voters(2, 3)},
    )
    assert row_values(voter_changes(quorum)) == [
        (None, 1, 9, "ADDED", 3, naive(2), naive(3), naive(4), 2000.0, [1, 2, 3]),
        (None, 1, 20, "REMOVED", 1, naive(6.0004), naive(6), None, None, [2, 3]),
        (None, 1, 30, "UPDATED", None, None, naive(7), None, None, [2, 3]),
    ]


def test_a_change_is_committed_at_the_first_high_watermark_above_it_not_before_it_was_appended(
    spark: SparkSession,
) -> None:
    """Clocks differ: a fetch may seem to be before the record, and a watermark to go back."""
    change = LOG | {"what": "VOTERS", "epoch": 1}
    fetch = OVERHEARD | {"what": "FETCH"}
    sets = [(0, 5, (1, 2)), (10, 20, (1, 2, 3)), (14, 30, (1, 2, 3, 4)), (12, 40, (1, 2, 3))]
    marks = [(9, 50), (11, 20), (13, 25), (13.5, 31), (15, 21), (16, 31), (17, 40), (18, 41)]
    quorum = rows(
        spark,
        "quorum",
        *(
            change | {"at": second(at), "offset": offset, "voters": voters(*ids)}
            for at, offset, ids in (*sets, *sets)  # two copies of the log
        ),
        *(fetch | {"at": second(at), "high_watermark": mark} for at, mark in reversed(marks)),
        columns="error replica_id",
    )
    found = voter_changes(quorum).select("offset", "committed")
    assert row_values(found) == [(20, naive(13)), (30, naive(16)), (40, naive(18))]
    expected = {
        offset: min(at for at, mark in marks if at >= appended and mark > offset)
        for appended, offset, _ in sets[1:]
    }
    assert expected == {20: 13, 30: 16, 40: 18}


def test_no_fetch_is_joined_with_every_change(spark: SparkSession) -> None:
    # Rows that the planner does not know: it would leave out joins with none.
    quorum = spark.createDataFrame([], spark_schema(pa.schema([*TABLES["quorum"], CLUSTER_ID])))
    plan = plan_of(voter_changes(quorum))
    assert "HashJoin" in plan
    assert "NestedLoop" not in plan
    assert "Cartesian" not in plan


def test_a_restless_partition_stands_before_a_quiet_one(spark: SparkSession) -> None:
    states = [(1, [1, 2]), (1, [1]), (-1, [1]), (2, [2, 1])]
    orders = {"topic": "orders", "topic_id": "x", "partition": 0}
    partitions = rows(
        spark,
        "partitions",
        orders | {"partition": 1, "offset": 1, "at": second(0), "leader": 1, "isr": [1]},
        *(
            orders | {"offset": 10 + at, "at": second(at), "leader": leader, "isr": isr}
            for at, (leader, isr) in enumerate(states)
        ),
    )
    assert row_values(isr_churn(partitions)) == [
        (None, "orders", "x", 0, 3, 1, 1, 1, 1, 1, naive(0), naive(3)),
        (None, "orders", "x", 1, 0, 0, 0, 0, 0, 1, naive(0), naive(0)),
    ]


def key(event: int) -> dict[str, Any]:
    return {"capture": "night", "connection": 1, "event": event}


def test_changes_of_isrs_have_the_outcome_of_their_partition_or_of_the_whole(
    spark: SparkSession,
) -> None:
    def asked(event: int) -> dict[str, Any]:
        topics = [{"topic_id": "x", "partitions": [{"partition_index": one} for one in (0, 1)]}]
        return key(event) | {
            "at": second(event),
            "alter_partition_request": {"broker_id": 1, "topics": topics},
        }

    def answered(event: int, whole: int, *parts: int) -> dict[str, Any]:
        partitions = [
            {"partition_index": index, "error_code": code} for index, code in enumerate(parts)
        ]
        topics = [{"topic_id": "x", "partitions": partitions}] if parts else []
        return key(event) | {"alter_partition_response": {"error_code": whole, "topics": topics}}

    messages = rows(
        spark, "messages", asked(1), answered(1, 0, 0, 107), asked(2), answered(2, 77), asked(3)
    )
    assert {row[1:5] for row in row_values(alter_partitions(messages))} == {
        (1, "STALE_BROKER_EPOCH", 2, 2),
        (1, None, 2, 2),
        (1, "NONE", 1, 1),
        (1, "INELIGIBLE_REPLICA", 1, 1),
    }


def test_a_gap_between_heartbeats_is_a_share_of_the_session(spark: SparkSession) -> None:
    def beat(event: int, at: float, broker: int = 1, epoch: int = 5) -> dict[str, Any]:
        request = {"broker_id": broker, "broker_epoch": epoch, "want_shut_down": False}
        return key(event) | {"at": second(at), "broker_heartbeat_request": request}

    fenced = {"is_fenced": True, "error_code": 0}
    messages = rows(
        spark,
        "messages",
        *(beat(event, at) for event, at in enumerate((0, 2, 4, 9, 11))),
        beat(9, 60, epoch=6),
        key(9) | {"broker_heartbeat_response": fenced},
        beat(10, 1, broker=2),
    )
    assert row_values(heartbeats(messages, session_ms=10_000)) == [
        (None, 1, 6, 5000.0, 5000.0, 1, 0, 0.5, 1, 0, 0),
        (None, 2, 1, None, None, 0, 0, None, 0, 0, 0),
    ]
    sources = rows(spark, "sources", stretch("a", 0, 4), stretch("b", 9, 100))
    (worst, *_) = row_values(heartbeats(messages, sources, session_ms=10_000))
    assert worst[:5] == (None, 1, 6, 2000.0, 2000.0)  # from 4 to 9, nothing was recorded


def test_broken_checks_stand_first_with_what_is_wrong(spark: SparkSession) -> None:
    verdicts = rows(
        spark,
        "verdicts",
        *({"check": "round-trip", "passed": True, "at": second(at)} for at in (1, 2)),
        *(
            {"check": "kip-841-isr", "passed": False, "at": second(at), "detail": f"At {at}."}
            for at in (4, 3)
        ),
    )
    assert row_values(checks(verdicts)) == [
        (None, "kip-841-isr", 0, 2, naive(3), "At 3."),
        (None, "round-trip", 2, 0, None, None),
    ]


def test_the_current_level_of_a_feature_is_the_last_that_was_set(spark: SparkSession) -> None:
    def set_to(level: int, offset: int) -> dict[str, Any]:
        feature = {"name": "metadata.version", "feature_level": level}
        return {"feature_level": feature, "offset": offset, "epoch": 1, "at": second(offset)}

    records = rows(spark, "records", set_to(20, 1), set_to(25, 2), columns="snapshot")
    assert row_values(features(records)) == [
        (None, "metadata.version", 20, False, naive(1), 1, 1),
        (None, "metadata.version", 25, True, naive(2), 1, 2),
    ]
