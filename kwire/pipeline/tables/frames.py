"""The table `frames`: what was decoded, without the bodies."""

from __future__ import annotations

from pyspark.sql import DataFrame

from kwire.pipeline.tables.shape import shaped


def frames(decoded: DataFrame) -> DataFrame:
    """A row for every row of DECODED."""
    return shaped(decoded, "frames")
