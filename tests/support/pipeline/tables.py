"""The tables of the recorded history, and tables of rows made by hand."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from kwire.pipeline.ingest import Summary
from kwire.pipeline.opening import open_tables
from kwire.pipeline.schemas import arrow_schema_of
from kwire.pipeline.store.files import TableFiles
from kwire.pipeline.store.ledger import Ingest, Ledger, new_id
from kwire.pipeline.store.location import Location
from kwire.pipeline.store.sources import CAPTURE, Stretch


@dataclass(frozen=True)
class Tables:
    """The tables of the history: its captures, and the metadata log of node 3000."""

    folder: Path
    summary: Summary
    spark: SparkSession

    @cached_property
    def opened(self) -> dict[str, DataFrame]:
        """All tables, by name."""
        return open_tables(self.spark, str(self.folder))

    def __getitem__(self, name: str) -> DataFrame:
        return self.opened[name]


def write_table(folder: str, table: str, rows: Sequence[dict[str, Any]]) -> None:
    """Add rows to a table; columns that they lack are null."""
    ingest, schema = new_id(), arrow_schema_of(table)
    whole = [{name: row.get(name) for name in schema.names} for row in rows]
    with TableFiles(folder, ingest) as files:
        files.write(table, pa.RecordBatch.from_pylist(whole, schema))
    stretch = Stretch(
        kind=CAPTURE,
        source="hand",
        file="hand.avro",
        first=0,
        last=len(rows),
        begin=0,
        end=0,
        rows=len(rows),
    )
    ledger = Ledger(Location.of(folder))
    ledger.look()
    ledger.publish(Ingest(id=ingest, tables=[table], files=files.files, stretches=[stretch]))
