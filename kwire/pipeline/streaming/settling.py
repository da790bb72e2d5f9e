"""Joins requests and responses of different batches, if they do not come too late.

A recording has a request and its response side by side, so that few rows wait; from a topic of many
partitions, or captures that were cut apart, they come in any order. Waiting rows are a table of
their own: a join of two streams would decode twice, in a query of its own (docs/decisions/0024).
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from kwire.capture import REQUEST, RESPONSE
from kwire.pipeline.tables.calls import KEY
from kwire.proxy.flows.flow import Outcome


def waiting(decoded: DataFrame, watermark_us: int) -> DataFrame:
    """Return answered requests and responses whose other half has not come.

    Those of before the watermark, in microseconds of Unix time, wait no longer.
    """
    asked = decoded.where(f.col("kind") == REQUEST)
    answered = decoded.where(f.col("kind") == RESPONSE)
    expecting = asked.where(f.col("ending") == Outcome.ANSWERED.name)
    alone = _without(expecting, answered).unionByName(_without(answered, asked))
    return alone.where(f.unix_micros("at") >= watermark_us)


def settled(decoded: DataFrame, waits: DataFrame) -> DataFrame:
    """Return all other rows: their calls will not change."""
    return _without(decoded, waits)


def _without(rows: DataFrame, others: DataFrame) -> DataFrame:
    return rows.join(others.select(*KEY), list(KEY), "left_anti")
