"""The checks of frames and logs, and how often they failed."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from kwire.pipeline.analyses.clusters import CLUSTER


def checks(verdicts: DataFrame) -> DataFrame:
    """Return a row for every check in a cluster, failed ones first.

    held, broken: how many verdicts. first: when one was broken. detail: what was wrong with it.
    """
    broken = ~f.col("passed")
    by_check = verdicts.groupBy(CLUSTER, "check").agg(
        f.count_if("passed").alias("held"),
        f.count_if(broken).alias("broken"),
        f.min(f.when(broken, f.col("at"))).alias("first"),
        f.min_by("detail", f.when(broken, f.col("at"))).alias("detail"),
    )
    return by_check.orderBy(f.desc("broken"), CLUSTER, "check")
