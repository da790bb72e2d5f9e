"""A table in Python, asked in Spark."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column
from pyspark.sql import functions as f


def lookup(table: Mapping[int, int | str] | Mapping[str, str], key: Column) -> Column:
    """What a table says of a key; null where it says nothing."""
    return f.create_map(*(f.lit(one) for pair in table.items() for one in pair))[key]
