"""The period that an analysis or a report is asked for, as `--from` and `--to` give it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f


@dataclass(frozen=True, slots=True)
class AnalysedPeriod:
    """A period: begin <= time < end, with a zone; None is open."""

    begin: datetime | None = None
    end: datetime | None = None

    def of(self, tables: Mapping[str, DataFrame]) -> dict[str, DataFrame]:
        """Return tables with their rows of the period; those without a time are in none."""
        return {name: self.rows(name, table) for name, table in tables.items()}

    def rows(self, name: str, table: DataFrame) -> DataFrame:
        """Return the rows of one table; what was recorded ends with the period, too."""
        if self.begin is None and self.end is None:
            return table
        if name == "sources":
            return self._clipped(table)
        inside = f.col("at").isNotNull()
        for edge, is_begin in ((self.begin, True), (self.end, False)):
            if edge is not None:
                moment = f.lit(edge)
                inside &= f.col("at") >= moment if is_begin else f.col("at") < moment
                if {"date", "hour"} <= set(table.columns):
                    inside &= _in_hours(edge, is_begin)
        return table.where(inside)

    def _clipped(self, sources: DataFrame) -> DataFrame:
        clipped = sources
        if self.begin is not None:
            begin = f.lit(self.begin)
            clipped = clipped.where(f.col("end") >= begin)
            clipped = clipped.withColumn("begin", f.greatest("begin", begin))
        if self.end is not None:
            end = f.lit(self.end)
            clipped = clipped.where(f.coalesce("begin", "end") < end)
            clipped = clipped.withColumn("end", f.least("end", end))
        return clipped


ALWAYS = AnalysedPeriod()


def _in_hours(edge: datetime, is_begin: bool) -> Column:
    """Return the condition for folders of hours, so that Spark opens no file of the others."""
    date, hour = f.to_date(f.lit(edge)), f.hour(f.lit(edge))
    day, same = f.col("date"), f.col("date") == date
    if is_begin:
        return (day > date) | (same & (f.col("hour") >= hour))
    return (day < date) | (same & (f.col("hour") <= hour))
