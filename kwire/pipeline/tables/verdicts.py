"""The table `verdicts`: the results of checks of frames and of metadata logs."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from kwire import message
from kwire.capture import RESPONSE
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.pipeline.columns import struct_of
from kwire.pipeline.frame import DECODED, UNDECODABLE
from kwire.pipeline.tables.eligibility import ISR, LEADER, eligibility
from kwire.pipeline.tables.shape import shaped

ROUND_TRIP, VERSION = "round-trip", "response-version"
RECORD_ROUND_TRIP, SINGLE_CHANGE = "record-round-trip", "kip-853-single-change"
CHECKS = (ROUND_TRIP, VERSION, RECORD_ROUND_TRIP, ISR, LEADER, SINGLE_CHANGE)


def frame_verdicts(decoded: DataFrame) -> DataFrame:
    """Return a row for every frame that was copied whole, and a second one for every response."""
    judged = decoded.where(f.col("status").isin(DECODED, UNDECODABLE))
    checks = f.array(
        _check(ROUND_TRIP, f.col("kind").isNotNull(), _round_trip()),
        _check(VERSION, f.col("kind") == RESPONSE, _version()),
    )
    checked = judged.withColumn("found", f.explode(checks)).where("found.applies")
    return shaped(_flat(checked), "verdicts")


def log_verdicts(logged: DataFrame) -> DataFrame:
    """Return rows for every record, every batch and every voter set of every log."""
    checks = [_records(logged), eligibility(logged), _voters(logged)]
    rows = checks[0]
    for more in checks[1:]:
        rows = rows.unionByName(more, allowMissingColumns=True)
    return shaped(rows, "verdicts")


def _check(name: str, applies: Column, wrong: Column) -> Column:
    """Return a check. wrong: a sentence about what is wrong; null if nothing is."""
    parts = {"check": f.lit(name), "applies": applies, "detail": wrong}
    return f.struct(*(column.alias(alias) for alias, column in parts.items()))


def _flat(checked: DataFrame) -> DataFrame:
    passed = f.col("found.detail").isNull()
    return checked.withColumns(
        {"check": f.col("found.check"), "passed": passed, "detail": f.col("found.detail")}
    )


def _round_trip() -> Column:
    left = f.concat(f.col("left_over"), f.lit(" bytes behind the body"))
    return (
        f.when(f.col("status") != DECODED, f.col("error"))
        .when(f.col("left_over") > 0, left)
        .when(~f.col("identical"), f.lit("encodes to other bytes"))
    )


def _version() -> Column:
    """Return what is wrong with the version or the correlation id of a response, or null."""
    # A node may answer an ApiVersions request of a version that it does not know in v0 (KIP-511).
    key = ApiVersionsRequest.key
    other = (f.col("body_version") != f.col("api_version")) & (f.col("api_key") != key)
    ids = f.col("wire_correlation_id"), f.col("correlation_id")
    return (
        f.when(f.col("status") != DECODED, f.col("error"))
        .when(other, f.concat(f.lit("its body is of version "), f.col("body_version")))
        .when(
            ids[0] != ids[1],
            f.concat(f.lit("correlation id "), ids[0], f.lit(" answers "), ids[1]),
        )
    )


def _records(logged: DataFrame) -> DataFrame:
    """Return the round trips of records; those of unknown types are kept as bytes and left out."""
    judged = logged.where(f.col("identical").isNotNull() | f.col("error").isNotNull())
    wrong = f.coalesce(f.col("error"), f.when(~f.col("identical"), f.lit("encodes to other bytes")))
    return judged.select(
        f.lit(RECORD_ROUND_TRIP).alias("check"),
        wrong.isNull().alias("passed"),
        wrong.alias("detail"),
        *("at", "log", "offset", "epoch"),
    )


def _voters(logged: DataFrame) -> DataFrame:
    """Compare each voter set with the one before it (KIP-853: one voter at a time)."""
    name = "VotersRecord"
    voters = f.from_json("body", struct_of(message(name)))["voters"]
    ids = f.transform(
        voters, lambda voter: f.concat_ws("@", voter["voter_id"], voter["voter_directory_id"])
    )
    # A snapshot's set holds from its last offset on: half an offset before the log goes on.
    ends = f.split("snapshot", "-")[0].cast("long") - f.lit(0.5)
    by_order = Window.partitionBy("log").orderBy("order")
    sets = logged.where(f.col("name") == name).select(
        "log", "offset", "epoch", "at", f.coalesce(ends, "offset").alias("order"), ids.alias("ids")
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
        *("at", "log", "offset", "epoch"),
    )
