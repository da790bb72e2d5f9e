"""Writes tables as plain Parquet: a copy for programs that do not read Delta."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import fsspec
from pyspark.sql import DataFrame, Observation

from kwire.errors import LocalError
from kwire.pipeline.schemas import PARTITIONED
from kwire.pipeline.store.location import absolute, of_hadoop
from kwire.pipeline.writing.reports import count_rows


class NotFree(LocalError):
    """The folder for an export has something in it."""


def ensure_free(output: str) -> None:
    """Raise NotFree if there is anything in a folder."""
    filesystem, path = fsspec.core.url_to_fs(output)
    if filesystem.exists(path) and (filesystem.isfile(path) or filesystem.ls(path)):
        raise NotFree(f"{output} is not empty: export into a new folder.")


def export_tables(
    tables: Mapping[str, DataFrame], output: str, on_step: Callable[[str], None]
) -> dict[str, int]:
    """Write each table to a folder of its name; return the rows of each.

    If it does not come to an end, what was written is removed.
    """
    rows = {}
    try:
        for name, frame in tables.items():
            on_step(f"writing {name}")
            counted = Observation()
            writer = frame.observe(counted, count_rows()).write
            dated = [column for column in PARTITIONED if column in frame.columns]
            writer.partitionBy(*dated).parquet(of_hadoop(f"{absolute(output)}/{name}"))
            rows[name] = int(counted.get["rows"])
    except BaseException:
        filesystem, path = fsspec.core.url_to_fs(output)
        for name in tables:
            if filesystem.exists(f"{path}/{name}"):
                filesystem.rm(f"{path}/{name}", recursive=True)
        raise
    return rows
