"""Rows of several clusters in one table: analyses keep them apart by `cluster_id`.

Node ids, epochs and offsets begin anew in every cluster. Rows whose cluster is unknown have null,
and count as one cluster: joins take null for equal to null.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

CLUSTER = "cluster_id"


def join(left: DataFrame, right: DataFrame, by: Sequence[str], how: str = "inner") -> DataFrame:
    """Join on columns of the same names, null equal to null; the result has them once.

    how: as Spark takes it. Spark hashes this equality as it does any other.
    """
    renamed = right.withColumnsRenamed({name: f"_{name}" for name in by})
    same = reduce(and_, (f.col(name).eqNullSafe(f.col(f"_{name}")) for name in by))
    joined = left.join(renamed, same, how)
    if how == "full_outer":
        joined = joined.withColumns({name: f.coalesce(name, f"_{name}") for name in by})
    return joined.drop(*(f"_{name}" for name in by))


def of_cluster(rows: DataFrame, cluster_id: str | None) -> DataFrame:
    """Return the rows of one cluster; None: those whose cluster is unknown."""
    return rows.where(f.col(CLUSTER).eqNullSafe(f.lit(cluster_id)))
