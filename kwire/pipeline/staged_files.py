"""The Parquet files of a task: one of pairs of request and response, one of all other rows.

They are in folders `paired=true` and `paired=false`, so that the join of requests with responses
opens the others alone.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import PurePosixPath
from typing import Self
from uuid import uuid4

import fsspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

PAIRED = "paired"


class StagedFiles:
    """Writes rows of DECODED. paths: of the files, below a folder or URL."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._writers: dict[bool, pq.ParquetWriter] = {}
        self._closing = ExitStack()
        self._written: list[pq.FileMetaData] = []
        self.paths: list[str] = []

    @property
    def rows(self) -> int:
        """The number of rows that the files themselves report, once they are closed."""
        return sum(file.num_rows for file in self._written)

    def write(self, decoded: pa.RecordBatch) -> None:
        """Append rows to two files: that of paired frames and that of the others."""
        paired, rows = decoded[PAIRED], decoded.drop_columns([PAIRED])
        for side, chosen in ((True, paired), (False, pc.invert(paired))):
            selected = rows.filter(chosen)
            if selected.num_rows:
                self._writer(side, rows.schema).write_batch(selected)

    def _writer(self, paired: bool, schema: pa.Schema) -> pq.ParquetWriter:
        if paired not in self._writers:
            # A random name: a task that runs twice writes other files, of which one report is kept.
            path = f"{self._folder}/{PAIRED}={str(paired).lower()}/{uuid4().hex}.parquet"
            filesystem, inside = fsspec.core.url_to_fs(path)
            filesystem.makedirs(str(PurePosixPath(inside).parent), exist_ok=True)
            file = self._closing.enter_context(filesystem.open(inside, "wb"))
            writer = pq.ParquetWriter(
                file,
                schema,
                compression="lz4",
                write_statistics=False,
                metadata_collector=self._written,
            )
            self._writers[paired] = self._closing.enter_context(writer)
            self.paths.append(path)
        return self._writers[paired]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._closing.close()
