"""Tables of hand-made records of a log: checks that do not hold."""

from typing import Any

from pyspark.sql import SparkSession

from kwire.messages.data.voters_record import Voter, VotersRecord
from kwire.pipeline.body import json, replace_fields, replacements
from kwire.pipeline.reading.logged import LOGGED
from kwire.pipeline.spark_columns import spark_schema
from kwire.pipeline.tables.verdicts import log_verdicts


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
    found = log_verdicts(spark.createDataFrame(rows, spark_schema(LOGGED)))
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
