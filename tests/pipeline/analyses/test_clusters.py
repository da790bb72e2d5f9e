"""Tables of several clusters, in which node ids, epochs, offsets and times are the same."""

import json
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from kwire.pipeline.analyses import ANALYSES, comparison
from kwire.pipeline.analyses.clusters import of_cluster
from kwire.pipeline.analyses.elections import elections
from kwire.pipeline.analyses.voter_changes import voter_changes
from kwire.pipeline.opening import FEW, with_clusters
from kwire.pipeline.report.quorum import quorum_section
from kwire.pipeline.schemas import TABLES
from tests.support.pipeline.analyses.table_rows import row_values, rows, second, stretch

CLUSTERS = ("x", "y", None)

CALLS: list[dict[str, Any]] = [
    {"api": "Fetch", "api_key": 1, "api_version": 3, "outcome": "ANSWERED", "latency_ms": 5.0}
    | {"topics": [{"topic": None, "topic_id": "o", "records_bytes": 70}]},
    {"api": "Vote", "api_key": 52, "api_version": 2, "outcome": "ANSWERED", "latency_ms": 2.0},
    {"api": "Fetch", "api_key": 1, "api_version": 4, "outcome": "LOST", "at": second(7)},
]
CALL = {"client_id": "till", "client": "10.0.0.1:5000", "node_id": 1, "at": second(3)}

RECORDS: list[dict[str, Any]] = [
    {"feature_level": {"name": "kraft.version", "feature_level": level}, "offset": level}
    for level in (0, 1)
]

LOG, OVERHEARD = {"source": "LOG", "epoch": 1}, {"source": "CAPTURE", "epoch": 1}


def voters(*ids: int) -> list[dict[str, Any]]:
    return [{"id": id_, "directory_id": None, "endpoints": []} for id_ in ids]


def bodies(event: int, api: str, asked: Any, answered: Any) -> list[dict[str, Any]]:
    """A request and its response, as JSON."""
    sides = {"REQUEST": asked, "RESPONSE": answered}
    common = {"event": event, "api": api, "at": second(event)}
    return [common | {"kind": kind, "body": json.dumps(body)} for kind, body in sides.items()]


QUORUM: list[dict[str, Any]] = [
    LOG | {"what": "LEADER_CHANGE", "at": second(0), "leader_id": 1, "granting": [1], "offset": 0},
    OVERHEARD | {"what": "FETCH", "at": second(1), "high_watermark": 4, "node_id": 1},
    LOG | {"what": "VOTERS", "at": second(2), "offset": 5, "voters": voters(1, 2)},
    OVERHEARD | {"what": "ADD_VOTER", "at": second(3), "replica_id": 3, "node_id": 1},
    LOG | {"what": "VOTERS", "at": second(4), "offset": 9, "voters": voters(1, 2, 3)},
    OVERHEARD | {"what": "FETCH", "at": second(5), "high_watermark": 10, "node_id": 1},
    OVERHEARD
    | {"what": "VOTE", "at": second(7), "epoch": 2, "replica_id": 2, "node_id": 3, "granted": True},
    LOG | {"what": "LEADER_CHANGE", "at": second(8), "epoch": 2, "leader_id": 2, "offset": 11},
]
PARTITIONS: list[dict[str, Any]] = [
    {"topic": "orders", "partition": 0, "offset": offset, "at": second(offset), "leader": 1}
    | {"isr": isr}
    for offset, isr in ((1, [1, 2]), (2, [1]))
]
VERDICTS: list[dict[str, Any]] = [
    {"check": "round-trip", "passed": passed, "at": second(1), "detail": detail}
    for passed, detail in ((True, None), (False, "Another byte."))
]
CHANGE = {"topics": [{"topic_id": "i", "partitions": [{"partition_index": 0}]}], "broker_id": 1}
BEAT = {"broker_id": 1, "broker_epoch": 5, "want_shut_down": False}
MESSAGES: list[dict[str, Any]] = [
    {"event": 1, "at": second(1), "alter_partition_request": CHANGE},
    {"event": 1, "alter_partition_response": {"error_code": 42, "topics": []}},
    *({"event": at, "at": second(at), "broker_heartbeat_request": BEAT} for at in (2, 4, 8)),
    {"event": 2, "broker_heartbeat_response": {"is_fenced": True, "error_code": 0}},
    *bodies(11, "JoinGroup", {"group_id": "g"}, {"generation_id": 1, "member_id": "m"}),
    *bodies(12, "Heartbeat", {"group_id": "g"}, {"error_code": 27}),
    *bodies(13, "AddPartitionsToTxn", {"transactional_id": "t"}, {"error_code": 0}),
    *bodies(14, "EndTxn", {"transactional_id": "t", "committed": True}, {"error_code": 0}),
    *bodies(15, "Metadata", {}, {"topics": [{"name": "orders", "topic_id": "o"}]}),
]


def of_clusters(spark: SparkSession, *clusters: str | None) -> dict[str, DataFrame]:
    """Return tables with the same rows for each cluster; a recording is of one of them."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    for cluster in clusters:
        capture = f"night of {cluster}"
        of = {
            "calls": [CALL | call | {"capture": capture} for call in CALLS],
            "records": [{"epoch": 1, "at": second(1)} | record for record in RECORDS],
            "quorum": QUORUM,
            "partitions": PARTITIONS,
            "verdicts": VERDICTS,
            "messages": [{"capture": capture, "connection": 1} | row for row in MESSAGES],
            "sources": [stretch(capture, 0, 6, 0, 3), stretch(capture, 7, 9, 8, 9)],
        }
        for name, table in of.items():
            found[name] += [row | {"cluster_id": cluster} for row in table]
    whole = {name: " ".join(TABLES[name].names) for name in TABLES}
    whole["messages"] = "kind client client_id node_id api_key api api_version body"
    whole["records"] = "snapshot log"
    return {name: rows(spark, name, *found[name], columns=whole[name]) for name in TABLES}


def by_cluster(frame: DataFrame) -> dict[str | None, list[str]]:
    """Return the rows of each cluster, without its id, as text that can be sorted."""
    found: dict[str | None, list[str]] = {}
    for row in frame.collect():
        found.setdefault(row.cluster_id, []).append(str(tuple(row)[1:]))
    return {cluster: sorted(texts) for cluster, texts in found.items()}


@pytest.fixture(scope="module")
def together(spark: SparkSession) -> dict[str, DataFrame]:
    return of_clusters(spark, *CLUSTERS)


@pytest.fixture(scope="module")
def alone(spark: SparkSession) -> dict[str, DataFrame]:
    return of_clusters(spark, None)


@pytest.mark.parametrize("name", ANALYSES)
def test_a_cluster_is_analysed_as_if_it_were_alone(
    name: str, together: dict[str, DataFrame], alone: dict[str, DataFrame]
) -> None:
    expected = by_cluster(ANALYSES[name].rows(alone)).get(None)
    assert expected, f"no row of {ANALYSES[name].table} here is one that {name} reads"
    found = ANALYSES[name].rows(together)
    assert found.columns[0] == "cluster_id"
    assert by_cluster(found) == dict.fromkeys(CLUSTERS, expected)


def naive(seconds: float) -> Any:
    return second(seconds).replace(tzinfo=None)


def test_an_epoch_of_another_cluster_is_no_sign_of_a_leader(spark: SparkSession) -> None:
    fetch = OVERHEARD | {"what": "FETCH"}
    leads = LOG | {"what": "LEADER_CHANGE", "epoch": 2}
    quorum = rows(
        spark,
        "quorum",
        fetch | {"at": second(1), "cluster_id": "x"},
        fetch | {"at": second(5), "cluster_id": "y"},
        leads | {"at": second(6), "leader_id": 1, "cluster_id": "x"},
        leads | {"at": second(7), "leader_id": 2, "cluster_id": "y"},
        columns=" ".join(TABLES["quorum"].names),
    )
    sources = rows(
        spark,
        "sources",
        stretch("a", 0, 9) | {"cluster_id": "x"},
        stretch("b", 0, 5.5) | {"cluster_id": "y"},
        stretch("c", 5.75, 9) | {"cluster_id": "y"},
    )
    found = elections(quorum, sources)
    assert row_values(found.select("cluster_id", "epoch", "leaderless_ms", "unrecorded_ms")) == [
        ("x", 2, 5000.0, 0.0),
        ("y", 2, 1250.0, 250.0),
    ]
    for cluster, node, spent in (("x", 1, "5 s"), ("y", 2, "1.25 s")):
        section = quorum_section(of_cluster(quorum, cluster), of_cluster(sources, cluster))
        assert section.finding == f"1 leader, node {node} took over after {spent} without one"
        assert section.figures[0].layout.yaxis.ticktext == (f"node {node}",)


@pytest.mark.parametrize("many", [1, FEW, FEW + 1])
def test_a_row_is_of_the_cluster_of_its_recording_or_log(spark: SparkSession, many: int) -> None:
    clusters = {f"night-{number}": f"cluster-{number}" for number in range(many)}
    last = f"night-{many - 1}"
    verdicts = rows(spark, "verdicts", {"capture": last}, {"log": "night-0"}, {"capture": "other"})
    found = with_clusters(verdicts, clusters).select("capture", "log", "cluster_id")
    assert sorted(row_values(found), key=str) == [
        (last, None, f"cluster-{many - 1}"),
        ("other", None, None),
        (None, "night-0", "cluster-0"),
    ]
    assert with_clusters(verdicts, {}).where("cluster_id is not null").count() == 0


def test_a_voter_change_is_not_committed_by_another_cluster(spark: SparkSession) -> None:
    change = LOG | {"what": "VOTERS"}
    quorum = rows(
        spark,
        "quorum",
        *(
            change | {"at": second(at), "offset": at, "voters": voters(*ids), "cluster_id": "x"}
            for at, ids in ((1, (1, 2)), (2, (1, 2, 3)))
        ),
        OVERHEARD | {"what": "ADD_VOTER", "at": second(1.5), "replica_id": 3, "cluster_id": "y"},
        OVERHEARD | {"what": "FETCH", "at": second(3), "high_watermark": 9, "cluster_id": "y"},
        OVERHEARD | {"what": "FETCH", "at": second(4), "high_watermark": 9},
        OVERHEARD | {"what": "FETCH", "at": second(5), "high_watermark": 9, "cluster_id": "x"},
        columns="error",
    )
    (row,) = voter_changes(quorum).collect()
    assert (row.cluster_id, row.offset, row.asked, row.committed) == ("x", 2, None, naive(5))


def test_two_recordings_of_one_cluster_each_are_compared(spark: SparkSession) -> None:
    x, y = ([CALL | call | {"cluster_id": cluster} for call in CALLS] for cluster in ("x", "y"))
    before, after, both = (
        rows(spark, "calls", *found, columns="error max_wait_ms") for found in (x, y, x + y)
    )
    names = ("cluster_id", "api", "calls_before", "calls_after")
    compared = comparison(before, after)
    assert compared.columns[0] == "cluster_id"
    assert sorted(row_values(compared.select(*names))) == [
        ("y", "Fetch", 2, 2),
        ("y", "Vote", 1, 1),
    ]
    assert set(row_values(comparison(before, both).select(*names))) == {
        ("x", "Fetch", 2, 2),
        ("x", "Vote", 1, 1),
        ("y", "Fetch", None, 2),
        ("y", "Vote", None, 1),
    }
