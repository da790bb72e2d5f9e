"""A real capture and a real metadata log become tables, complete and without a violation."""

import shutil
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import msgspec
import pyarrow as pa
import pytest
from deltalake import DeltaTable, Schema, write_deltalake
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f

from kwire.batches.building import build_batch
from kwire.batches.control_records import quorum_record
from kwire.capture import Damage, captures_at, read_capture
from kwire.logdir.names import METADATA_FOLDER
from kwire.messages.data.leader_change_message import LeaderChangeMessage
from kwire.messages.index import APIS
from kwire.pipeline.columns import list_of
from kwire.pipeline.ingest import ingest
from kwire.pipeline.opening import open_tables
from kwire.pipeline.repeated import AlreadyThere
from kwire.pipeline.schemas import ERRORS, OF_CAPTURES, TABLES
from kwire.pipeline.session import BATCH_ROWS
from kwire.pipeline.spark_columns import spark_schema
from kwire.pipeline.streaming.captures import captures as followed
from kwire.pipeline.streaming.captures import empty_captures
from kwire.pipeline.streaming.job import stream
from kwire.pipeline.typed import TYPED_APIS, snake
from tests.support.capture.capture_records import record, write
from tests.support.paths import FIXTURES
from tests.support.pipeline.damaged_captures import NO_FILES
from tests.support.pipeline.decodable_calls import call, notice
from tests.support.pipeline.recorded_history import History
from tests.support.pipeline.recordings import rows_of
from tests.support.pipeline.tables import Tables


def test_counts_in_are_counts_out(tables: Tables, history: History) -> None:
    records = [entry for path in captures_at([history.captures]) for entry in read_capture(path)]
    assert not [entry for entry in records if isinstance(entry, Damage)]
    summary = tables.summary
    assert summary.rows["frames"] == sum(summary.frames.values()) == len(records)
    assert tables["frames"].count() == len(records)
    assert summary.frames["DECODED"] == summary.rows["messages"] == history.frames
    assert history.frames >= history.least
    assert set(summary.frames) == {"DECODED", "NOTICE"}
    assert (summary.repeated, summary.damages, summary.failed) == (0, [], {})
    assert not list(tables.folder.glob("_ingests/*"))


def test_tables_have_the_columns_that_are_documented(tables: Tables) -> None:
    found = {
        name: tables[name] if name == "sources" else tables[name].drop("cluster_id")
        for name in TABLES
    }
    assert {name: table.schema.simpleString() for name, table in found.items()} == {
        name: spark_schema(schema).simpleString() for name, schema in TABLES.items()
    }


def test_every_request_meets_its_response(tables: Tables, history: History) -> None:
    calls, frames = tables["calls"], tables["frames"]
    assert calls.count() == frames.where("kind = 'REQUEST'").count()
    answered = calls.where("outcome = 'ANSWERED'")
    assert answered.count() == frames.where("kind = 'RESPONSE'").count()
    odd = answered.where("latency_ms is null or latency_ms < 0 or response_size is null")
    assert odd.count() == 0
    added = calls.where("api = 'AddRaftVoter' and error is null").collect()
    assert added[-1]["node_id"] == history.leaders[-1]


def test_messages_of_the_quorums_apis_are_typed(tables: Tables, history: History) -> None:
    messages = tables["messages"]
    wrong = [
        f.count_if(f.col(snake(f"{APIS[key]}{side}")).isNotNull() != _is(key, side)).alias(f"{key}")
        for key in TYPED_APIS
        for side in ("Request", "Response")
    ]
    others = f.col("api_key").isin(*TYPED_APIS)
    both = messages.agg(*wrong, f.count_if(f.col("body").isNull() != others).alias("others"))
    assert set(both.collect()[0]) == {0}
    (added,) = (
        messages.where("add_raft_voter_request.voter_id = 3003")
        .select("add_raft_voter_request.voter_directory_id")
        .distinct()
        .collect()
    )
    assert added[0] == history.directory_ids[3003]
    name = f.get_json_object("body", "$.client_software_name")
    software = messages.where("api = 'ApiVersions' and kind = 'REQUEST'").select(name).distinct()
    assert {row[0] for row in software.collect()} >= {
        "apache-kafka-java",
        "confluent-kafka-python",
        "kwire",
    }


def _is(key: int, side: str) -> Column:
    return (f.col("api_key") == key) & (f.col("kind") == side.upper())


def test_what_was_done_to_the_quorum_is_in_its_table(tables: Tables, history: History) -> None:
    quorum = tables["quorum"]
    changes = quorum.where("what like '%\\_VOTER' and error is null and replica_id = 3003")
    told = changes.orderBy("at").select("what", "directory_id").collect()
    directory = history.directory_ids[3003]
    assert [tuple(row) for row in told] == [("ADD_VOTER", directory), ("REMOVE_VOTER", directory)]
    elected = quorum.where("what = 'VOTE' and granted").select("epoch", "replica_id").distinct()
    leaders = quorum.where("what = 'LEADER_CHANGE'").select("epoch", "leader_id").distinct()
    assert {tuple(row) for row in leaders.collect()} <= {tuple(row) for row in elected.collect()}
    lags = quorum.where("what = 'FETCH' and lag is not null").agg(f.min("lag"), f.max("lag"))
    assert lags.collect()[0][0] == 0
    epochs = quorum.where("what = 'DESCRIBE' and error is null").select("leader_id").distinct()
    assert {row[0] for row in epochs.collect()} >= set(history.leaders)


def test_every_check_holds_of_real_kafka(tables: Tables) -> None:
    verdicts = tables["verdicts"]
    frames = tables.summary.frames["DECODED"]
    counts = {row["check"]: row["count"] for row in verdicts.groupBy("check").count().collect()}
    assert verdicts.where("not passed").count() == 0
    assert counts["round-trip"] == frames
    assert counts["response-version"] == tables["frames"].where("kind = 'RESPONSE'").count()
    assert counts["record-round-trip"] == tables["records"].count()
    batches = tables["records"].where("not control and snapshot is null")
    assert counts["kip-841-isr"] == batches.select("last_offset").distinct().count()
    assert counts["kip-841-leader"] == counts["kip-841-isr"]
    voters = tables["quorum"].where("source = 'LOG' and what = 'VOTERS'").count()
    assert counts["kip-853-single-change"] == voters >= 3


def test_damage_becomes_rows_and_sentences(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "night.avro"
    whole = [record(event) for event in range(40)]
    write(path, [*whole, record(40, frame=b"\0\x34\0\2cut", size=900)], block=10)
    torn = tmp_path / "torn.avro"
    write(torn, [record(event, capture="another") for event in range(41)], block=10)
    torn.write_bytes(torn.read_bytes()[:-30])
    summary = ingest(spark, [str(tmp_path)], str(tmp_path / "tables"), tables=["frames", "calls"])
    assert summary.frames == {"CUT": 1, "UNDECODABLE": 80, "DAMAGE": 1}
    assert summary.rows == {"frames": 82, "calls": 81}
    (damage,) = summary.damages
    assert damage.startswith(f"{torn}, byte ")
    frames = rows_of(tmp_path / "tables", "frames")
    undecodable = [row["error"] for row in frames if row["status"] == "UNDECODABLE"]
    assert len(undecodable) == 80
    assert all("v" in error for error in undecodable)


def test_files_that_are_none_are_reported_and_the_others_are_read(
    spark: SparkSession, tmp_path: Path
) -> None:
    captures = tmp_path / "captures"
    captures.mkdir()
    for name, (content, _) in NO_FILES.items():
        (captures / name).write_bytes(content)
    write(captures / "night.avro", [entry for event in range(4) for entry in call(event)])
    ingested = ingest(spark, [str(captures)], str(tmp_path / "ingested"))
    follow = followed(spark, str(captures))
    streamed = stream(follow, str(tmp_path / "streamed"), every=None)
    streamed.damages += (empty := empty_captures(str(captures)))
    for summary, suffixes in ((ingested, (".avro", ".pcap", ".pcapng")), (streamed, (".avro",))):
        said = [
            f"{captures / name}, byte 0: {reason}"
            for name, (_, reason) in sorted(NO_FILES.items())
            if name.endswith(suffixes)
        ]
        rows = len(said) - (len(empty) if summary is streamed else 0)
        assert summary.frames == {"DECODED": 8, "DAMAGE": rows}
        for damage, expected in zip(sorted(summary.damages), said, strict=True):
            assert damage.startswith(expected)


def test_a_copy_of_a_capture_adds_nothing(spark: SparkSession, tmp_path: Path) -> None:
    """Of what is in both, that which has more of its bytes is taken."""
    captures, output = tmp_path / "captures", tmp_path / "tables"
    captures.mkdir()
    whole = [entry for event in range(4) for entry in call(event)]
    write(captures / "night.avro", [*whole, notice(9)])
    cut = [msgspec.structs.replace(one, frame=b"") for one in whole]
    write(captures / "copy.avro", [*cut, notice(9)])
    summary = ingest(spark, [str(captures)], str(output))
    assert summary.frames == {"DECODED": 8, "CUT": 8, "NOTICE": 2}
    assert (summary.repeated, summary.rows["frames"], summary.rows["calls"]) == (9, 9, 4)
    frames = [row for row in rows_of(output, "frames") if row["kind"] != "NOTICE"]
    assert {row["status"] for row in frames} == {"DECODED"}
    assert [row["outcome"] for row in rows_of(output, "calls")] == ["ANSWERED"] * 4


def test_what_the_tables_have_is_left_out(spark: SparkSession, tmp_path: Path) -> None:
    path, output = tmp_path / "night.avro", str(tmp_path / "tables")
    write(path, [entry for event in range(4) for entry in call(event)])
    first = ingest(spark, [str(path)], output)
    again = ingest(spark, [str(path)], output)
    assert (first.repeated, again.repeated, again.rows, again.ingest) == (0, 8, {}, None)
    assert again.frames == first.frames == {"DECODED": 8}
    write(tmp_path / "longer.avro", [entry for event in range(6) for entry in call(event)])
    longer = ingest(spark, [str(tmp_path)], output)
    assert (longer.repeated, longer.rows["frames"], longer.rows["calls"]) == (16, 4, 2)
    assert [len(rows_of(output, name)) for name in ("frames", "calls")] == [12, 6]
    assert not list(Path(output).glob("_ingests/*"))


def test_damage_that_is_known_is_left_out_too(spark: SparkSession, tmp_path: Path) -> None:
    captures, output = tmp_path / "captures", str(tmp_path / "tables")
    captures.mkdir()
    write(captures / "torn.avro", [entry for event in range(40) for entry in call(event)], block=9)
    torn = captures / "torn.avro"
    torn.write_bytes(torn.read_bytes()[:-30])
    (captures / "garbage.avro").write_bytes(b"garbage" * 900)
    counts = []
    for _ in range(2):
        summary = ingest(spark, [str(captures)], output)
        assert (summary.damaged, len(summary.damages)) == (2, 2)
        counts.append(len(rows_of(output, "frames")))
    assert counts[0] == counts[1]


def test_tables_are_asked_for_one_by_one(spark: SparkSession, tmp_path: Path) -> None:
    path, output = tmp_path / "night.avro", str(tmp_path / "tables")
    write(path, [entry for event in range(4) for entry in call(event)])
    ingest(spark, [str(path)], output, tables=["calls"])
    with pytest.raises(AlreadyThere, match="is in calls already, and not in frames, messages"):
        ingest(spark, [str(path)], output)
    others = [name for name in OF_CAPTURES if name != "calls"]
    ingest(spark, [str(path)], output, tables=others)
    assert ingest(spark, [str(path)], output).repeated == 8
    assert [len(rows_of(output, name)) for name in ("frames", "calls")] == [8, 4]


def test_calls_alone_come_once_too(spark: SparkSession, tmp_path: Path) -> None:
    path, output = tmp_path / "night.avro", str(tmp_path / "tables")
    write(path, [*(entry for event in range(4) for entry in call(event)), notice(9)])
    chosen = ["calls", "verdicts"]
    first = ingest(spark, [str(path)], output, tables=chosen)
    assert first.rows == {"calls": 4, "verdicts": 12}
    assert ingest(spark, [str(path)], output, tables=chosen).rows == {}
    assert {row["outcome"] for row in rows_of(output, "calls")} == {"ANSWERED"}


LOG = FIXTURES / "logdirs" / "kafka-4.3.1"
"""Two segments and two snapshots of a metadata log, and the bootstrap checkpoint."""


def test_a_metadata_log_and_its_copy_come_in_once(spark: SparkSession, tmp_path: Path) -> None:
    copy = shutil.copytree(LOG, tmp_path / "copy")
    paths = [str(folder / METADATA_FOLDER) for folder in (LOG, copy)]
    output = str(tmp_path / "tables")
    first = ingest(spark, paths, output)
    records = rows_of(output, "records")
    assert first.rows["records"] == first.repeated == len(records)
    (log,) = {row["log"] for row in records}
    (cluster,) = {row["cluster_id"] for row in rows_of(output, "sources") if row["kind"] == "LOG"}
    assert log == f"1@{cluster}"
    for table in first.rows:
        rows = [repr(row | {"file": ""}) for row in rows_of(output, table)]
        assert len(set(rows)) == len(rows), table
    again = ingest(spark, paths, output)
    assert (again.rows, again.repeated) == ({}, 2 * first.rows["records"])


def test_a_snapshot_that_comes_later_is_not_taken_for_the_log(
    spark: SparkSession, tmp_path: Path
) -> None:
    output = str(tmp_path / "tables")
    (segment,) = LOG.glob("*/00000000000000000000.log")
    alone = ingest(spark, [str(segment)], output)
    whole = ingest(spark, [str(LOG)], output)
    fresh = ingest(spark, [str(LOG)], str(tmp_path / "fresh"))
    for table, rows in fresh.rows.items():
        assert alone.rows[table] + whole.rows.get(table, 0) == rows, table
    assert alone.rows["records"] == whole.repeated > 0
    assert fresh.rows["verdicts"] > fresh.rows["records"]
    assert "bootstrap" in {row["snapshot"] for row in rows_of(output, "records")}


def long_log(folder: Path) -> Path:
    """A log of more epochs than a batch of Spark has rows, none of which names a voter."""
    records = [
        build_batch(
            [quorum_record(LeaderChangeMessage(leader_id=1), timestamp=1_700_000_000_000)],
            base_offset=offset,
            partition_leader_epoch=offset,
            is_control=True,
        )
        for offset in range(BATCH_ROWS + 100)
    ]
    (folder / "00000000000000000000.log").write_bytes(b"".join(records))
    return folder


def empty_log(folder: Path) -> Path:
    """A log whose only segment has no record yet."""
    (folder / "00000000000000000000.log").touch()
    return folder


STATIC_LOG = FIXTURES / "migrating" / "recordings" / "kafka-3.9.1" / METADATA_FOLDER


@pytest.mark.parametrize(
    ("log", "rows"),
    [
        pytest.param(lambda folder: STATIC_LOG, {"records": 123, "quorum": 1}, id="static"),
        pytest.param(
            long_log, dict.fromkeys(("records", "quorum"), BATCH_ROWS + 100), id="without voters"
        ),
        pytest.param(empty_log, {}, id="empty"),
    ],
)
def test_logs_without_voters_come_in(
    spark: SparkSession,
    tmp_path: Path,
    log: Callable[[Path], Path],
    rows: dict[str, int],
) -> None:
    """Of a static quorum, LeaderChange records name voters, and no VotersRecord has endpoints."""
    folder = tmp_path / METADATA_FOLDER
    folder.mkdir()
    summary = ingest(spark, [str(log(folder))], str(tmp_path / "tables"))
    assert (summary.damages, summary.failed) == ([], {})
    assert {name: summary.rows.get(name) for name in rows} == rows
    assert rows or not summary.rows


def rows_with_a_cluster(tables: Tables, name: str) -> DataFrame:
    """The clusters of all rows but those that say that an ingest is in all tables."""
    known = "kind <> 'COMPLETE'" if name == "sources" else "true"
    return tables[name].where(known).select("cluster_id")


def test_frames_know_their_cluster(tables: Tables) -> None:
    found = {
        name: {row[0] for row in rows_with_a_cluster(tables, name).distinct().collect()}
        for name in TABLES
    }
    assert len({frozenset(ids) for ids in found.values()}) == 1, found
    (cluster,) = found["frames"]
    assert cluster


def test_a_table_takes_rows_of_older_columns(spark: SparkSession, tmp_path: Path) -> None:
    """A table of an older kwire lacks columns, and fields of structs, that are there now."""
    write(tmp_path / "night.avro", [record(event) for event in range(3)])
    output = str(tmp_path / "tables")
    older = [field for field in TABLES["frames"] if field.name not in ("text", "topics")]
    shorter = pa.struct([field for field in ERRORS.value_type if field.name != "code"])
    names = [field.name for field in older]
    older[names.index("errors")] = pa.field("errors", list_of(shorter))
    schema = Schema.from_arrow(pa.schema(older))
    made = DeltaTable.create(f"{output}/frames", schema, partition_by=["date", "hour"])
    row = {"capture": ["old"], "event": [1], "at": [datetime(2026, 1, 1, tzinfo=UTC)]}
    dated = row | {"date": [date(2026, 1, 1)], "hour": [0]}
    write_deltalake(made, pa.table(dated), mode="append", schema_mode="merge")
    ingest(spark, [str(tmp_path)], output)
    found = open_tables(spark, output)["frames"]
    assert found.columns == [*TABLES["frames"].names, "cluster_id"]
    assert found.where("file is null").select("capture", "hour").collect() == [("old", 0)]
    assert found.where("file is not null").count() == 3
    assert DeltaTable(f"{output}/frames").to_pyarrow_table().num_rows == 4
