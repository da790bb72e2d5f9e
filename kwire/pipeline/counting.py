"""Counts that Spark takes while it writes: rows read must be rows written."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as f

from kwire.errors import LocalError


class CountsDiffer(LocalError):
    """Not every row that was read was written: a fault of the pipeline, or a file that changed."""


def count_rows() -> Column:
    """Return the count of all rows, as `rows`."""
    return f.count(f.lit(1)).alias("rows")


def ensure_same(read: int, written: int, what: str) -> None:
    """Raise CountsDiffer unless the counts are equal. what: the noun for the message."""
    if read != written:
        raise CountsDiffer(
            f"{read} {what} were read and {written} written: a file has changed meanwhile, or kwire"
            " is at fault; do not use these tables."
        )
