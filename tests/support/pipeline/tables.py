"""The tables of the recorded history."""

from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from kwire.pipeline.ingest import Summary


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of the history: its captures, and the metadata log of node 3000."""

    folder: Path
    summary: Summary
    spark: SparkSession

    def __getitem__(self, name: str) -> DataFrame:
        return self.spark.read.parquet(str(self.folder / name))
