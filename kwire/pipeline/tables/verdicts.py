"""The table `verdicts` for logs, and the names of all checks; see `frame_verdicts` for frames."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f

from kwire import message
from kwire.pipeline.columns import struct_of
from kwire.pipeline.spark_columns import spark_schema
from kwire.pipeline.tables.eligibility import ISR, LEADER, eligibility
from kwire.pipeline.tables.frame_verdicts import ROUND_TRIP, VERSION
from kwire.pipeline.tables.shape import shaped

RECORD_ROUND_TRIP, SINGLE_CHANGE = "record-round-trip", "kip-853-single-change"
CHECKS = (ROUND_TRIP, VERSION, RECORD_ROUND_TRIP, ISR, LEADER, SINGLE_CHANGE)


def log_verdicts(logged: DataFrame) -> DataFrame:
    """Return rows for every record, every batch and every voter set of every log."""
    checks = [_records(logged), eligibility(logged), _voters(logged)]
    rows = checks[0]
    for more in checks[1:]:
        rows = rows.unionByName(more, allowMissingColumns=True)
    return shaped(rows, "verdicts")


def _records(logged: DataFrame) -> DataFrame:
    """Return the round trips of records; those of unknown types are kept as bytes and left out."""
    judged = logged.where(f.col("identical").isNotNull() | f.col("error").isNotNull())
    wrong = f.coalesce(f.col("error"), f.when(~f.col("identical"), f.lit("encodes to other bytes")))
    return judged.select(
        f.lit(RECORD_ROUND_TRIP).alias("check"),
        wrong.isNull().alias("passed"),
        wrong.alias("detail"),
        *("at", "log", "snapshot", "offset", "epoch"),
    )


def _voters(logged: DataFrame) -> DataFrame:
    """Compare each voter set with the one before it (KIP-853: one voter at a time)."""
    name = "VotersRecord"
    voters = f.from_json("body", spark_schema(struct_of(message(name))))["voters"]
    ids = f.transform(
        voters, lambda voter: f.concat_ws("@", voter["voter_id"], voter["voter_directory_id"])
    )
    # A snapshot's set holds from its last offset on: half an offset before the log goes on.
    # bootstrap.checkpoint has no offset in its name, and stands before everything.
    ends = f.split("snapshot", "-")[0].try_cast("long") - f.lit(0.5)
    by_order = Window.partitionBy("log").orderBy("order")
    sets = logged.where(f.col("name") == name).select(
        *("log", "snapshot", "offset", "epoch", "at"),
        f.coalesce(ends, "offset").alias("order"),
        ids.alias("ids"),
    )
    paired = sets.withColumn("before", f.lag("ids").over(by_order)).where("before is not null")
    came, went = f.array_except("ids", "before"), f.array_except("before", "ids")
    wrong = f.concat(
        f.lit("came: "), f.array_join(came, ", "), f.lit("; went: "), f.array_join(went, ", ")
    )
    passed = f.size(came) + f.size(went) <= 1
    return paired.select(
        f.lit(SINGLE_CHANGE).alias("check"),
        passed.alias("passed"),
        f.when(~passed, wrong).alias("detail"),
        *("at", "log", "snapshot", "offset", "epoch"),
    )
