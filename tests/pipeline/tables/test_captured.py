"""All tables of captures from batches of frames, and only those that are asked for."""

from kwire.pipeline.decoding import decode_batch
from kwire.pipeline.schemas import ADDED, TABLES, arrow_schema_of
from kwire.pipeline.tables.captured import CapturedTables
from tests.support.pipeline.captured_rows import answered, asked, batch, damage, notice

ALL = ("frames", "calls", "messages", "quorum", "verdicts")
ROWS = [asked(1), answered(1), asked(2), notice(3), damage(), answered(4)]


def test_rows_have_the_columns_of_their_tables() -> None:
    tables = CapturedTables(ALL)
    made = list(tables.take(decode_batch(batch(ROWS))))
    assert {name: rows.num_rows for name, rows in made} == {
        "frames": 6,
        "messages": 4,
        "verdicts": 6,
        "calls": 1,
        "quorum": 1,
    }
    for name, rows in made:
        rows.validate(full=True)
        assert rows.schema == arrow_schema_of(name)
        assert rows.schema.names == [one for one in TABLES[name].names if one not in ADDED]


def test_halves_are_rows_of_calls_in_the_end() -> None:
    tables = CapturedTables({"calls", "quorum"})
    assert [name for name, _ in tables.take(decode_batch(batch(ROWS)))] == ["calls", "quorum"]
    halves = tables.halves()
    assert halves is not None
    assert halves.schema == decode_batch(batch(ROWS)).schema
    ends = [(name, rows["event"].to_pylist()) for name, rows in tables.finish()]
    assert ends == [("calls", [2, 4]), ("quorum", [2])]


def test_without_calls_and_quorum_nothing_is_paired() -> None:
    tables = CapturedTables({"frames"})
    ((name, rows),) = tables.take(decode_batch(batch(ROWS), bodies=False))
    assert (name, rows.num_rows) == ("frames", len(ROWS))
    assert tables.halves() is None
    assert list(tables.finish()) == []


def test_a_batch_that_makes_no_rows_of_a_table_yields_none() -> None:
    tables = CapturedTables(ALL)
    assert [name for name, _ in tables.take(decode_batch(batch([notice(1)])))] == ["frames"]
    assert list(tables.take(decode_batch(batch([])))) == []
