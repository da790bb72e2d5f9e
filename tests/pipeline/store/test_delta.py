"""Delta tables that another version of kwire, or somebody else, has made."""

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Schema

from kwire.pipeline.schemas import TABLES, arrow_schema_of
from kwire.pipeline.store.delta import TableUnusable, writable_table
from kwire.pipeline.store.location import Location


def make_table(folder: Path, name: str, schema: pa.Schema) -> None:
    """Make an empty table with these columns."""
    DeltaTable.create(str(folder / name), schema=Schema.from_arrow(schema))


def test_a_table_gets_the_columns_that_it_lacks(tmp_path: Path) -> None:
    whole = arrow_schema_of("frames")
    make_table(tmp_path, "frames", pa.schema(list(whole)[:-2]))
    table = writable_table(Location.of(str(tmp_path)), "frames")
    assert [field.name for field in table.schema().fields] == TABLES["frames"].names


def test_a_column_of_another_type_makes_a_table_unusable(tmp_path: Path) -> None:
    columns = [
        pa.field(field.name, pa.float64() if field.name == "event" else field.type)
        for field in arrow_schema_of("frames")
    ]
    make_table(tmp_path, "frames", pa.schema(columns))
    with pytest.raises(TableUnusable, match="other types than this version of kwire") as caught:
        writable_table(Location.of(str(tmp_path)), "frames")
    assert str(caught.value).endswith(": ingest into another folder.")
    assert DeltaTable(str(tmp_path / "frames")).version() == 0
