"""A task writes all rows that it reads, and reports whether a frame may be there twice."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from kwire.pipeline.ascending import Ascent, EventRange, do_not_overlap
from kwire.pipeline.decoding import decode_batch
from kwire.pipeline.ingest import read_kwire
from kwire.pipeline.reading.captured import read_captured
from kwire.pipeline.reading.planning import Slice, plan
from kwire.pipeline.reading.storage import CAPTURED, find
from kwire.pipeline.staged_files import StagedFiles
from kwire.pipeline.staging import stage_captured, stage_slices
from tests.support.capture.capture_records import record, write
from tests.support.pipeline.captured_rows import answered, asked, batch, row
from tests.support.pipeline.decodable_calls import write_captures


def test_rows_are_in_files_by_whether_they_are_paired(tmp_path: Path) -> None:
    rows = [asked(1), answered(1), asked(2), row(3, kind="NOTICE")]
    decoded = decode_batch(batch(rows))
    with StagedFiles(str(tmp_path)) as files:
        files.write(decoded)
        files.write(decode_batch(batch([answered(2)])))
    assert (files.rows, len(files.paths)) == (5, 2)
    found = {path.parent.name: pq.read_table(path) for path in tmp_path.glob("*/*.parquet")}
    assert (
        found["paired=true"].to_pylist() == decoded.slice(0, 2).drop_columns("paired").to_pylist()
    )
    assert found["paired=false"]["event"].to_pylist() == [2, 3, 2]


def test_tasks_tell_of_what_they_staged(spark: SparkSession, tmp_path: Path) -> None:
    captures = tmp_path / "captures"
    captures.mkdir()
    write_captures(captures)
    torn = captures / "night-0.avro"
    torn.write_bytes(torn.read_bytes()[:-10])
    slices = plan(find([str(captures)], CAPTURED))
    ours, folder = tmp_path / "ours", f"file://{tmp_path}/theirs"
    staged = stage_slices(spark, slices, str(ours), bodies=False)
    read = sum(entry.num_rows for part in slices for entry in read_captured(part))
    assert staged.read == staged.written == staged.counts.total() == read
    assert {name for name, count in staged.counts.items() if count} == {
        "DECODED",
        "NOTICE",
        "CUT",
        "DAMAGE",
    }
    (damage,) = staged.damages
    assert damage.startswith(f"{torn}, byte ")
    found = staged.frame(spark, str(ours))
    assert found.where("body is not null").count() == 0
    captured = read_kwire(spark, [str(captures)], "frames", 1 << 20)
    theirs = stage_captured(captured, folder, bodies=False)
    assert (theirs.read, theirs.counts, theirs.once) == (read, staged.counts, staged.once)
    rows = [sorted(map(str, one.collect())) for one in (theirs.frame(spark, folder), found)]
    assert rows[0] == rows[1]


def test_nothing_is_staged_of_nothing(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "night.avro", [record()])
    (file,) = find([str(tmp_path)], CAPTURED)
    behind = Slice(file, file.size - 1, file.size)
    staged = stage_slices(spark, [behind], str(tmp_path / "staged"), bodies=True)
    assert (staged.files, staged.read, staged.once) == ([], 0, True)
    assert staged.frame(spark, str(tmp_path / "staged")).count() == 0


def ascent(*batches: list[dict[str, Any]]) -> Ascent:
    found = Ascent()
    for rows in batches:
        found.follow(decode_batch(batch(rows)))
    return found


def test_frames_that_ascend_are_there_once() -> None:
    found = ascent([asked(1), answered(1), asked(4)], [answered(4), row(5, kind="NOTICE")])
    other = ascent([asked(1, capture="d"), asked(2)], [asked(3, capture="d"), asked(7)])
    assert found.unbroken
    assert other.unbroken
    assert [span.capture for span in other.ranges] == ["d", "c"]
    assert not do_not_overlap([*found.ranges, *other.ranges])
    assert do_not_overlap(
        [*found.ranges, *ascent([asked(6)]).ranges, *ascent([asked(6, capture="d")]).ranges]
    )
    damage = row(0, kind="NOTICE", notice="DAMAGE", capture=None)
    assert ascent([asked(1), damage, answered(1)]).unbroken


def test_frames_that_may_be_there_twice_are_told_of() -> None:
    assert not ascent([asked(1), asked(1)]).unbroken
    assert not ascent([asked(1)], [asked(1)]).unbroken
    assert not ascent([asked(2), asked(1)]).unbroken
    assert not do_not_overlap(
        [EventRange("c", 0, 9), EventRange("d", 0, 9), EventRange("c", 9, 12)]
    )
