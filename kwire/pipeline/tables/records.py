"""The table `records`: the records of metadata logs and snapshots, typed."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from kwire import message
from kwire.messages.index import METADATA_RECORDS
from kwire.pipeline.columns import struct_of
from kwire.pipeline.tables.shape import shaped
from kwire.pipeline.typed import CONTROL_RECORDS, column_name


def records(logged: DataFrame) -> DataFrame:
    """Return a row for every row of LOGGED."""
    names = [*METADATA_RECORDS.values(), *CONTROL_RECORDS.values()]
    columns = {
        column_name(name): f.when(
            f.col("name") == name, f.from_json("body", struct_of(message(name)))
        )
        for name in names
        if message(name).fields
    }
    return shaped(logged.withColumns(columns), "records")
