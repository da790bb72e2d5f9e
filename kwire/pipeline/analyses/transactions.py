"""Transactions of producers, by transactional id (KIP-98, KIP-890)."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from kwire.pipeline.analyses.bodies import NO_ERRORS, asked_and_answered, errors_by, text_in
from kwire.pipeline.analyses.clusters import CLUSTER, join

ADDING = ("AddPartitionsToTxn", "AddOffsetsToTxn", "TxnOffsetCommit", "Produce")
"""Requests that begin a transaction, or add to it. Newer producers send no other (KIP-890)."""

ID = (CLUSTER, "transactional_id")

CLOSING = ("EndTxn", "InitProducerId")
BATCH = "transactions array<struct<transactional_id string, verify_only boolean>>"
"""Of AddPartitionsToTxn from version 4 on: brokers ask so, mostly to verify."""


def transactions(messages: DataFrame) -> DataFrame:
    """Return a row for every transactional id, the one with most errors first.

    inits: times that a producer began with it. started, committed, aborted, open: transactions as
    `transaction_events` tells. longest_open_ms: of a transaction whose begin was recorded, also of
    one that is open still. first, last: requests. errors: with their numbers, the most frequent
    first.
    """
    told = _requests(messages)
    ids = told.groupBy(*ID).agg(
        f.count_if((f.col("api") == "InitProducerId") & f.col("error").isNull()).alias("inits"),
        f.min("at").alias("first"),
        f.max("at").alias("last"),
    )
    outcome = f.col("outcome")
    counts = (
        _events(told, messages)
        .groupBy(*ID)
        .agg(
            f.count_if(f.col("begin").isNotNull()).alias("started"),
            *(f.count_if(outcome == name).alias(name.lower()) for name in OUTCOMES),
            f.max("open_ms").alias("longest_open_ms"),
        )
    )
    known = join(join(ids, counts, ID, "left"), errors_by(told, ID), ID, "left")
    joined = known.select(
        *(*ID, "inits"),
        *(
            f.coalesce(name, f.lit(0)).alias(name)
            for name in ("started", *map(str.lower, OUTCOMES))
        ),
        *("longest_open_ms", "first", "last"),
        f.coalesce("errors", f.array().cast(NO_ERRORS)).alias("errors"),
    )
    many = f.aggregate("errors", f.lit(0), lambda total, error: total + error["count"])
    return joined.orderBy(f.desc(many), f.desc("started"), *ID)


OUTCOMES = ("COMMITTED", "ABORTED", "OPEN")


def transaction_events(messages: DataFrame) -> DataFrame:
    """Return a row for every transaction, in their order.

    1. It begins with the first request that adds to it; null if that was not recorded.
    2. It ends with an answer to EndTxn without an error: `COMMITTED`, `ABORTED`. An InitProducerId
       aborts what is open.
    3. It is `OPEN` if nothing ended it: then `end` is the last time of its cluster in the table. A
       coordinator that aborts it by its time-out is not seen.

    open_ms: from begin to end.
    """
    return _events(_requests(messages), messages)


def _requests(messages: DataFrame) -> DataFrame:
    """Return every request of a transaction, with its transactional id."""
    calls = asked_and_answered(messages, (*ADDING, *CLOSING))
    batch = f.filter(
        f.from_json("asked", BATCH)["transactions"],
        lambda part: ~f.coalesce(part["verify_only"], f.lit(False)),
    )
    batched = f.transform(batch, lambda part: part["transactional_id"])
    single = f.coalesce(
        text_in("asked", "transactional_id"), text_in("asked", "v3_and_below_transactional_id")
    )
    is_single = f.coalesce(single, f.lit("")) != ""
    ids = f.when(is_single, f.array(single)).otherwise(batched)
    committed = text_in("asked", "committed") == "true"
    columns = (CLUSTER, "at", "answered_at", "api", "client_id", "error")
    return calls.select(
        *columns, committed.alias("committed"), f.explode(ids).alias("transactional_id")
    )


def _events(told: DataFrame, messages: DataFrame) -> DataFrame:
    """Return the transactions of `_requests`; see `transaction_events`."""
    adds = f.col("api").isin(*ADDING)
    # 2.
    closes = ~adds & f.col("error").isNull() & f.col("answered_at").isNotNull()
    useful = told.where(adds & f.col("error").isNull() | closes).withColumn("closes", closes)
    before = Window.partitionBy(*ID).orderBy("at", "closes")
    number = f.count_if("closes").over(before.rowsBetween(Window.unboundedPreceding, -1))
    closed = f.col("closes")
    grouped = (
        useful.withColumn("number", f.coalesce(number, f.lit(0)))
        .groupBy(*ID, "number")
        .agg(
            f.min(f.when(~closed, f.col("at"))).alias("begin"),  # 1.
            f.max(f.when(closed, f.col("answered_at"))).alias("closed_at"),
            f.max(f.when(closed, f.col("api"))).alias("closed_by"),
            f.bool_or(f.when(closed, f.col("committed"))).alias("committed"),
        )
    )
    # An InitProducerId with nothing open begins a producer and ends nothing.
    real = grouped.where("begin is not null or closed_by = 'EndTxn'")
    outcome = f.when(f.col("closed_at").isNull(), "OPEN").otherwise(
        f.when(f.col("committed") & (f.col("closed_by") == "EndTxn"), "COMMITTED").otherwise(
            "ABORTED"
        )
    )
    end = messages.groupBy(CLUSTER).agg(f.max("at").alias("table_end"))
    # 3.
    ended = join(real, f.broadcast(end), [CLUSTER], "left").withColumn(
        "end", f.coalesce("closed_at", "table_end")
    )
    return ended.select(
        *(*ID, "begin", "end", outcome.alias("outcome")),
        _ms(f.col("begin"), f.col("end")).alias("open_ms"),
    ).orderBy("end", *ID)


def _ms(begin: Column, end: Column) -> Column:
    return (f.unix_micros(end) - f.unix_micros(begin)) / 1000
