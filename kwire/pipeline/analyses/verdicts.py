"""What was checked, and what does not hold."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as f


def checks(verdicts: DataFrame) -> DataFrame:
    """Failing ones first: a row for every check.

    held, broken: how many verdicts. first: when one was broken. detail: what was wrong with it.
    """
    broken = ~f.col("passed")
    found = verdicts.groupBy("check").agg(
        f.count_if("passed").alias("held"),
        f.count_if(broken).alias("broken"),
        f.min(f.when(broken, f.col("at"))).alias("first"),
        f.min_by("detail", f.when(broken, f.col("at"))).alias("detail"),
    )
    return found.orderBy(f.desc("broken"), "check")
