"""Programs that are not Spark read the tables, and find in them what Spark finds."""

import json
import re
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from kwire.pipeline.ingest import ingest
from kwire.pipeline.opening import open_tables
from kwire.pipeline.schemas import OF_CAPTURES, TABLES
from kwire.pipeline.store.delta import append
from kwire.pipeline.store.ledger import Ledger
from kwire.pipeline.store.location import Location
from tests.support.paths import ROOT
from tests.support.pipeline.decodable_calls import write_captures
from tests.support.pipeline.ledgered import small_ingest

ALL = (*OF_CAPTURES, "sources")


@pytest.fixture(scope="module")
def folder(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of two captures."""
    folder = tmp_path_factory.mktemp("read")
    (folder / "captures").mkdir()
    write_captures(folder / "captures", captures=2)
    ingest(spark, [str(folder / "captures")], str(folder / "tables"))
    return folder / "tables"


@pytest.fixture(scope="module")
def opened(spark: SparkSession, folder: Path) -> dict[str, DataFrame]:
    """The tables as Spark opens them."""
    return open_tables(spark, str(folder))


def by_files(table: DeltaTable) -> pa.Table:
    """DuckDB reads the files that the newest version names."""
    files = [uri.removeprefix("file://") for uri in table.file_uris()]
    relation = duckdb.read_parquet(files, hive_partitioning=True, union_by_name=True)
    return relation.to_arrow_table()


def by_dataset(table: DeltaTable) -> pa.Table:
    """DuckDB reads a dataset of Arrow, which knows the partitions."""
    dataset = table.to_pyarrow_dataset()
    return duckdb.from_arrow(dataset).to_arrow_table()


def by_pandas(table: DeltaTable) -> pa.Table:
    """deltalake makes a data frame of pandas, by way of Arrow."""
    return pa.Table.from_pandas(table.to_pandas(types_mapper=_arrow_backed), preserve_index=False)


def _arrow_backed(kind: pa.DataType) -> object:
    import pandas

    return pandas.ArrowDtype(kind)


def as_text(rows: pa.Table, names: list[str]) -> list[str]:
    """The rows, in an order that does not depend on files."""
    return sorted(json.dumps(row, default=str) for row in rows.select(names).to_pylist())


@pytest.mark.parametrize("name", ALL)
def test_every_row_is_the_same(opened: dict[str, DataFrame], folder: Path, name: str) -> None:
    names = TABLES[name].names
    expected = opened[name].select(*names).toArrow()
    assert expected.num_rows > 0
    for read in (by_files, by_dataset, by_pandas):
        found = read(DeltaTable(str(folder / name)))
        utc = pa.Table.from_arrays(
            [_utc(found[one]).cast(expected.schema.field(one).type) for one in names], names
        )
        assert as_text(utc, names) == as_text(expected, names), read.__name__


def _utc(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """DuckDB gives times in the zone of its session."""
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp("us", "UTC"))
    return column


def test_fields_of_structs_and_of_json_are_to_be_had(
    opened: dict[str, DataFrame], folder: Path
) -> None:
    messages = DeltaTable(str(folder / "messages")).to_pyarrow_dataset()
    struct = "vote_request.topics[1].partitions[1].replica_epoch"
    body = "json_extract_string(body, '$.error_code')"
    with duckdb.connect() as connection:
        connection.register("messages", messages)
        epochs = connection.sql(f"select {struct} from messages where vote_request is not null")
        codes = connection.sql(
            f"select {body} from messages where api = 'ApiVersions' and kind = 'RESPONSE'"
        )
        found = sorted(row[0] for row in epochs.fetchall()), [row[0] for row in codes.fetchall()]
    # See `decodable_calls`: the epoch is the number of the event, which is even.
    assert found == (list(range(0, 60, 2)), ["35"] * 30)
    rows = opened["messages"]
    spark_struct = "vote_request.topics[0].partitions[0].replica_epoch"
    seen = rows.where("vote_request is not null").selectExpr(spark_struct).collect()
    assert sorted(row[0] for row in seen) == found[0]


def of_the_page(name: str) -> str:
    """The part of docs/debuggers/pipeline.md between two marks."""
    page = (ROOT / "docs" / "debuggers" / "pipeline.md").read_text()
    _, part, _ = re.split(f"<!-- {name}: (?:begin|end) -->", page)
    return part


def test_the_pages_query_sees_each_ingest_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second ingest is decided, and in `frames`; its process is gone."""
    ledger = Ledger(Location.of(str(tmp_path / "tables")))
    ledger.publish(small_ingest(tmp_path / "tables", "one"))

    def only_frames(location: Location, name: str, *rest: object) -> None:
        if name == "calls":
            raise KeyboardInterrupt
        append(location, name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr("kwire.pipeline.store.ledger.append", only_frames)
    with pytest.raises(KeyboardInterrupt):
        ledger.publish(small_ingest(tmp_path / "tables", "two"))
    monkeypatch.undo()
    program = of_the_page("readers").replace("```python", "").replace("```", "")
    monkeypatch.chdir(tmp_path)
    found = []
    for _ in range(2):
        exec(program, {})
        shown = capsys.readouterr().out
        found.append(re.findall(r"(frames|calls)\s\W+(\d+)", shown))
        ledger.finish_all()
    assert found == [[("frames", "3"), ("calls", "3")], [("frames", "6"), ("calls", "6")]]
    counts = {name: DeltaTable(f"tables/{name}").count() for name in ("frames", "calls")}
    assert set(counts.values()) == {6}


def test_the_page_names_the_columns_that_duckdb_reserves() -> None:
    names = {field.name for table in TABLES.values() for field in table}
    reserved = set()
    for name in names:
        try:
            duckdb.sql(f'select {name} from (select 1 as "{name}")')
        except duckdb.Error:
            reserved.add(name)
    assert set(re.findall("`(.+?)`", of_the_page("reserved"))) == reserved
