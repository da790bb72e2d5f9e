"""The data source `spark.read.format("kwire")`, in Python: it needs no JVM package.

spark.dataSource.register(KwireSource)
spark.read.format("kwire").load("captures/")
spark.read.format("kwire").option("rows", "records").load("data/__cluster_metadata-0")
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from kwire.errors import InvalidValue
from kwire.pipeline.decoding import CAPTURED
from kwire.pipeline.reading.captured import read_captured
from kwire.pipeline.reading.logged import LOGGED, read_logged
from kwire.pipeline.reading.planning import SPLIT, Slice, plan
from kwire.pipeline.reading.storage import CAPTURED as CAPTURED_KINDS
from kwire.pipeline.reading.storage import LOGGED as LOGGED_KINDS
from kwire.pipeline.reading.storage import find
from kwire.pipeline.spark_columns import spark_schema

if TYPE_CHECKING:
    import pyarrow as pa


class KwireSource(DataSource):
    """The data source. Options, besides the path:

    rows: `frames` (default), the records of captures and packet files; `records`, those of
    metadata logs and snapshots. paths: a JSON list, instead of one path. split: bytes of a file
    that one task reads.
    """

    @classmethod
    def name(cls) -> str:
        return "kwire"

    def schema(self) -> StructType:
        return spark_schema(LOGGED if self._logged else CAPTURED)

    def reader(self, schema: StructType) -> DataSourceReader:
        listed = self.options.get("paths")
        paths = json.loads(listed) if listed else [self.options["path"]]
        split = int(self.options.get("split", SPLIT))
        return SliceReader(paths, logged=self._logged, split=split)

    @property
    def _logged(self) -> bool:
        rows = self.options.get("rows", "frames")
        if rows not in ("frames", "records"):
            raise InvalidValue(f"rows is {rows!r}: frames or records.")
        return rows == "records"


class SlicePartition(InputPartition):
    """The work of one task."""

    def __init__(self, part: Slice) -> None:
        super().__init__(part)
        self.part = part


class SliceReader(DataSourceReader):
    """Plans slices on the driver, reads each in a task."""

    def __init__(self, paths: list[str], *, logged: bool, split: int) -> None:
        self._paths = paths
        self._logged = logged
        self._split = split

    def partitions(self) -> Sequence[InputPartition]:
        kinds = LOGGED_KINDS if self._logged else CAPTURED_KINDS
        return [SlicePartition(part) for part in plan(find(self._paths, kinds), self._split)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, SlicePartition)
        return (read_logged if self._logged else read_captured)(partition.part)
