"""Batches of the JVM are brought into a form that pyarrow can work with, wherever they come in."""

from pathlib import Path

import pyarrow as pa
import pytest

from kwire.pipeline.arrow_tasks import normal
from tests.support.source_files import source_files

TEXTS = pa.list_(pa.string())
INNER = pa.struct([("texts", TEXTS)])


def as_spark_sends(rows: int) -> pa.RecordBatch:
    """Lists without an element, whose own lists have no offsets: `nbytes` of it ends the process.

    Spark 4.0 sends `voters.endpoints` so, in a batch of a quorum without voters.
    """
    nowhere = pa.foreign_buffer(0, 0)
    texts = pa.Array.from_buffers(TEXTS, 0, [None, nowhere], children=[pa.array([], pa.string())])
    structs = pa.Array.from_buffers(INNER, 0, [None], children=[texts])
    offsets = pa.array([0] * (rows + 1), pa.int32()).buffers()[1] if rows else nowhere
    lists = pa.Array.from_buffers(pa.list_(INNER), rows, [None, offsets], children=[structs])
    return pa.RecordBatch.from_arrays([lists], ["voters"])


@pytest.mark.parametrize("rows", [0, 2])
def test_no_offsets_are_missing(rows: int) -> None:
    batch = as_spark_sends(rows)
    assert not _is_whole(batch)
    made = normal(batch)
    assert _is_whole(made)  # first: what follows would end the process
    assert made.equals(batch)
    assert made.nbytes == 4 * rows
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, made.schema) as writer:
        writer.write_batch(made)
    assert pa.ipc.open_stream(stream.getvalue()).read_all().num_rows == rows


def test_other_batches_stay_as_they_are() -> None:
    rows = [{"a": 1, "b": [{"texts": ["x"]}, {"texts": None}]}, {"a": None, "b": None}]
    schema = pa.schema([("a", pa.int64(), False), ("b", pa.list_(INNER))], {"k": "v"})
    batch = pa.RecordBatch.from_pylist(rows, schema)
    assert normal(batch.slice(1)).equals(batch.slice(1), check_metadata=True)


def test_all_tasks_get_batches_by_the_one_function() -> None:
    users = {file.path.name for file in source_files("kwire") if "mapInArrow(" in _code(file.path)}
    assert users == {"arrow_tasks.py", "decoding.py"}  # the second in its docstring


def _code(path: Path) -> str:
    return path.read_text()


def _is_whole(batch: pa.RecordBatch) -> bool:
    buffers = [buffer for column in batch.columns for buffer in column.buffers()]
    return all(buffer is None or buffer.address for buffer in buffers)
