"""Tables of hand-made rows: sides that are missing, and checks that do not hold."""

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from kwire.messages.data.voters_record import Voter, VotersRecord
from kwire.pipeline.body import json, replace_fields, replacements
from kwire.pipeline.decoding import DECODED, decode_batch
from kwire.pipeline.reading.logged import LOGGED
from kwire.pipeline.tables.calls import calls
from kwire.pipeline.tables.verdicts import frame_verdicts, log_verdicts
from tests.support.pipeline.captured_rows import answered, asked, batch, row, vote


def decoded(spark: SparkSession, rows: list[dict[str, Any]]) -> DataFrame:
    return spark.createDataFrame(decode_batch(batch(rows)).to_pylist(), DECODED)


def test_every_side_is_kept_without_the_other(spark: SparkSession) -> None:
    rows = [
        asked(1),
        answered(1),
        asked(2, ending="LOST", problems=["the connection closed"]),
        answered(3),
        asked(4, capture="other"),
        answered(4),
        row(5, kind="NOTICE", notice="OPENED"),
    ]
    columns = ("capture", "event", "outcome", "latency_ms", "request_status", "response_status")
    found = calls(decoded(spark, rows)).orderBy("event", "capture").select(*columns, "error")
    error = "BROKER_ID_NOT_REGISTERED"
    assert [tuple(entry) for entry in found.collect()] == [
        ("c", 1, "ANSWERED", 5.0, "DECODED", "DECODED", error),
        ("c", 2, "LOST", None, "DECODED", None, None),
        ("c", 3, "ORPHAN", None, None, "DECODED", error),
        ("c", 4, "ORPHAN", None, None, "DECODED", error),
        ("other", 4, "ANSWERED", None, "DECODED", None, None),
    ]


def test_checks_of_frames_tell_what_is_wrong(spark: SparkSession) -> None:
    rows = [
        asked(1),
        asked(2, frame=vote() + b"more"),
        asked(3, frame=vote()[:30], size=30),
        answered(4),
        answered(5, correlation_id=8),
        answered(6, api_key=53, api_version=1),
        answered(7, frame=None),
    ]
    verdicts = frame_verdicts(decoded(spark, rows)).orderBy("event", "check").collect()
    wrong = {
        (verdict["event"], verdict["check"]): verdict["detail"]
        for verdict in verdicts
        if not verdict["passed"]
    }
    assert set(wrong) == {(2, "round-trip"), (3, "round-trip"), (5, "response-version")}
    assert wrong[2, "round-trip"] == "4 bytes behind the body"
    assert "VoteRequest v2" in wrong[3, "round-trip"]
    assert wrong[5, "response-version"] == "correlation id 9 answers 8"
    assert len(verdicts) == 3 + 3 * 2


def voters(offset: int, *ids: int, snapshot: str | None = None) -> dict[str, Any]:
    record = VotersRecord(voters=[Voter(voter_id=id_) for id_ in ids])
    replace_fields(record, replacements(VotersRecord))
    return {
        **dict.fromkeys(LOGGED.names),
        "log": "log",
        "snapshot": snapshot,
        "offset": offset,
        "last_offset": offset,
        "epoch": 1,
        "control": True,
        "name": "VotersRecord",
        "identical": offset != 30,
        "body": json(record),
    }


def test_voters_change_one_at_a_time(spark: SparkSession) -> None:
    rows = [
        voters(2, 1, 2, 3, snapshot="00000000000000000000-0000000000"),
        voters(10, 1, 2, 3, 4),
        voters(2, 1, 2, 3, snapshot="00000000000000000020-0000000001"),
        voters(30, 1, 2, 3),
        voters(40, 1, 2, 5),
    ]
    found = log_verdicts(spark.createDataFrame(rows, LOGGED))
    single = found.where("check = 'kip-853-single-change'").orderBy("offset").collect()
    zero = "AAAAAAAAAAAAAAAAAAAAAA"
    assert [(one["offset"], one["passed"], one["detail"]) for one in single] == [
        (2, True, None),
        (10, True, None),
        (30, True, None),
        (40, False, f"came: 5@{zero}; went: 3@{zero}"),
    ]
    broken = found.where("check = 'record-round-trip' and not passed").collect()
    assert [(one["offset"], one["detail"]) for one in broken] == [(30, "encodes to other bytes")]
