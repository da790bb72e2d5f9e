"""A real capture and a real metadata log become tables, complete and without a violation."""

from pathlib import Path

import msgspec
import pytest
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as f
from pyspark.testing import assertSchemaEqual

from kwire.capture import Damage, captures_at, read_capture
from kwire.messages.index import APIS
from kwire.pipeline.ingest import OF_CAPTURES, ingest
from kwire.pipeline.repeated import AlreadyThere, ensure_new
from kwire.pipeline.schemas import TABLES
from kwire.pipeline.streaming.captures import empty_captures, follow_captures
from kwire.pipeline.streaming.job import stream
from kwire.pipeline.typed import TYPED_APIS, snake
from tests.support.capture.capture_records import record, write
from tests.support.pipeline.damaged_captures import NO_FILES
from tests.support.pipeline.decodable_calls import call, notice
from tests.support.pipeline.recorded_history import FRAMES, History
from tests.support.pipeline.tables import Tables


def test_counts_in_are_counts_out(tables: Tables, history: History) -> None:
    records = [entry for path in captures_at([history.captures]) for entry in read_capture(path)]
    assert not [entry for entry in records if isinstance(entry, Damage)]
    summary = tables.summary
    assert summary.rows["frames"] == sum(summary.frames.values()) == len(records)
    assert tables["frames"].count() == len(records)
    assert summary.frames["DECODED"] == summary.rows["messages"] == history.frames >= FRAMES
    assert set(summary.frames) == {"DECODED", "NOTICE"}
    assert (summary.repeated, summary.damages, summary.failed) == (0, [], {})
    assert not list(tables.folder.glob("staging*"))


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_the_columns_that_are_documented(tables: Tables, table: str) -> None:
    found = tables[table].schema
    assertSchemaEqual(found, TABLES[table], ignoreColumnOrder=True, ignoreNullable=True)


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
    name = f.try_variant_get("body", "$.client_software_name", "string")
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
    frames = spark.read.parquet(str(tmp_path / "tables" / "frames"))
    undecodable = frames.where("status = 'UNDECODABLE'").select("error").distinct().collect()
    assert all("v" in row[0] for row in undecodable)


def test_files_that_are_none_are_reported_and_the_others_are_read(
    spark: SparkSession, tmp_path: Path
) -> None:
    captures = tmp_path / "captures"
    captures.mkdir()
    for name, (content, _) in NO_FILES.items():
        (captures / name).write_bytes(content)
    write(captures / "night.avro", [entry for event in range(4) for entry in call(event)])
    ingested = ingest(spark, [str(captures)], str(tmp_path / "ingested"))
    follow = follow_captures(spark, str(captures), split=100)
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
    frames = spark.read.parquet(str(output / "frames"))
    assert {row.status for row in frames.where("kind != 'NOTICE'").collect()} == {"DECODED"}
    assert spark.read.parquet(str(output / "calls")).where("outcome = 'ANSWERED'").count() == 4


def test_a_capture_that_is_in_a_table_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    path, output = tmp_path / "night.avro", str(tmp_path / "tables")
    write(path, [entry for event in range(4) for entry in call(event)])
    ingest(spark, [str(path)], output)
    with pytest.raises(AlreadyThere, match=rf"frames of {path} are in {output}/frames already"):
        ingest(spark, [str(path)], output)
    assert not list(Path(output).glob("staging*"))
    frames = spark.read.parquet(f"{output}/frames")
    for table in OF_CAPTURES:
        with pytest.raises(AlreadyThere, match=f"/{table} already"):
            ensure_new(frames, output, [table])
        ensure_new(frames.withColumn("event", f.col("event") + 4), output, [table])
        ensure_new(frames.withColumn("capture", f.lit("another")), output, [table])


def test_a_table_takes_rows_of_older_columns(spark: SparkSession, tmp_path: Path) -> None:
    """Files of an older kwire lack columns that are at the end of a table now."""
    write(tmp_path / "night.avro", [record(event) for event in range(3)])
    output = str(tmp_path / "tables")
    ingest(spark, [str(tmp_path)], output, tables=["frames"])
    older = spark.read.parquet(f"{output}/frames").drop("text", "file", "records_bytes")
    older.write.partitionBy("date", "hour").parquet(f"{output}/older")
    older = spark.read.parquet(f"{output}/older")
    older.write.mode("append").partitionBy("date", "hour").parquet(f"{output}/frames")
    found = spark.read.parquet(f"{output}/frames")
    assert set(found.columns) == set(TABLES["frames"].names)
    assert {tuple(row) for row in found.groupBy(f.isnull("file")).count().collect()} == {
        (True, 3),
        (False, 3),
    }
