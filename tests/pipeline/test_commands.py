"""`kwire pipeline analyse`, `compare` and `sql`, on tables of a handful of calls."""

import io
import json
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from rich.console import Console

from kwire.cli.pipeline.rows import print_rows
from tests.support.cli.command import Command
from tests.support.pipeline.analyses.table_rows import second
from tests.support.pipeline.tables import write_table

pytestmark = pytest.mark.usefixtures("spark")

CALL = {
    "api": "Fetch",
    "api_key": 1,
    "api_version": 3,
    "client_id": "till\x1b[2J",
    "client": "10.0.0.1:5000",
    "node_id": 1,
    "outcome": "ANSWERED",
    "latency_ms": 12.5,
}


STATEMENTS = [
    "drop table calls",
    "create table t as select 1",
    "/* all */ insert into calls select * from calls",
    "with x as (select 1) insert overwrite directory '{folder}/x' using csv from x select *",
    "from calls insert into calls select * insert into calls select *",
    "execute immediate 'drop view calls'",
    "set spark.sql.session.timeZone = CET",
]
"""What Spark would do with its own catalog, or with files, and say "no rows"."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Only calls."""
    folder = str(tmp_path_factory.mktemp("tables"))
    calls = [CALL | {"at": second(one), "error": error} for one, error in enumerate((None, "X"))]
    write_table(folder, "calls", calls)
    return folder


def test_analyses_are_tables_on_a_screen(kwire: Command, folder: str) -> None:
    done = kwire("pipeline", "analyse", folder, "latencies", "versions")
    assert done.code == 0, done.err
    assert "latencies: how long calls took, long polls apart" in done.out
    assert "12.5" in done.out
    (row,) = (line for line in done.out.splitlines() if line.startswith("till"))
    assert row.split() == ["till\\x1b[2J", "Fetch", "3", "3", "4", "2", "2", "1"]


def test_without_a_name_every_analysis_that_has_its_table_is_made(
    kwire: Command, folder: str
) -> None:
    found = kwire("pipeline", "analyse", folder, "--json").json
    assert set(found) == {
        *("latencies", "errors", "versions", "controller-load"),
        *("throughput", "topic-bytes", "client-to-node"),
    }
    (error,) = found["errors"]
    assert error["cluster_id"] is None
    assert (error["failure"], error["rate"], error["first"]) == ("X", 0.5, "2026-11-21T03:00:01Z")


def test_json_is_bounded_and_says_what_it_leaves_out(kwire: Command, folder: str) -> None:
    arguments = ("pipeline", "analyse", folder, "errors", "versions", "controller-load", "--json")
    whole = kwire(*arguments, "--limit", "0")
    assert whole.err == ""
    assert whole.out == json.dumps(whole.json, indent=2) + "\n"
    assert [len(found) for found in whole.json.values()] == [1, 1, 0]
    query = ("pipeline", "sql", folder, "select at, error from calls order by at", "--json")
    done = kwire(*query, "--limit", "1")
    assert done.json == [{"at": "2026-11-21T03:00:00Z", "error": None}]
    assert done.out == json.dumps(done.json, indent=2) + "\n"
    assert done.err == "the query: only the first 1 rows are printed: --limit 0 prints all.\n"
    assert len(kwire(*query, "--limit", "2").json) == 2


def test_the_cluster_is_a_column_on_a_screen_only_if_there_are_two(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("x", 1), ("x", 2), (None, 3)], "cluster_id string, calls int")
    assert [shown(frame, top).split()[0] for top in (2, 3)] == ["calls", "cluster_id"]


def shown(frame: DataFrame, top: int) -> str:
    console = Console(file=io.StringIO(), width=80)
    print_rows(console, frame, top, left_out_if_same=["cluster_id"])
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_two_recordings_side_by_side(kwire: Command, folder: str) -> None:
    (row,) = kwire("pipeline", "compare", folder, folder, "--json").json["comparison"]
    assert (row["api"], row["slower"], row["versions_after"]) == ("Fetch", 1.0, "3–3")


def test_tables_are_views_for_a_query(kwire: Command, folder: str) -> None:
    query = "select api, count(*) as calls, max(deeds) as deeds from calls group by api"
    assert kwire("pipeline", "sql", folder, query, "--json").json == [
        {"api": "Fetch", "calls": 2, "deeds": None}
    ]
    for asked in ("describe calls", "show tables", "(from calls select 1)", "explain select 1"):
        assert kwire("pipeline", "sql", folder, asked).code == 0
    assert "no rows" in kwire("pipeline", "sql", folder, "select * from calls where false").out
    shown = kwire("pipeline", "sql", folder, "select at from calls order by at", "--top", "1")
    assert "2026-11-21 03:00:00.000" in shown.out
    assert "and more" in shown.out


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["analyse", "{folder}", "elections"], 1, "has no table quorum, only calls, sources."),
        (["analyse", "{folder}/nowhere"], 1, "holds no tables: make them with kwire pipeline"),
        (["sql", "{folder}", "selec 1"], 1, "Syntax error at or near 'selec'"),
        (["sql", "{folder}", "select x from calls"], 1, "`x` cannot be resolved"),
        (
            ["sql", "{folder}", "select * from x.Nope"],
            1,
            "no table is called x.Nope: calls, sources",
        ),
        *((["sql", "{folder}", query], 2, "this is no query, and") for query in STATEMENTS),
    ],
)
def test_what_cannot_be_answered_is_told_in_a_sentence(
    kwire: Command, folder: str, arguments: list[str], code: int, told: str
) -> None:
    done = kwire("pipeline", *(argument.format(folder=folder) for argument in arguments))
    assert (done.code, done.out) == (code, "")
    assert told in (done.error if code == 1 else done.err.replace("\n", " "))


def test_a_report_needs_tables_and_a_place(kwire: Command, folder: str, tmp_path: Path) -> None:
    nowhere = kwire("pipeline", "report", f"{folder}/nowhere", "-o", str(tmp_path / "report.html"))
    assert (nowhere.code, nowhere.out) == (1, "")
    assert "holds no tables" in nowhere.error
    placeless = kwire("pipeline", "report", folder, "-o", str(tmp_path / "missing" / "report.html"))
    assert placeless.code == 2
    assert "is no folder: make it" in placeless.err


def test_an_analysis_that_nobody_knows_is_wrong_usage(kwire: Command, folder: str) -> None:
    done = kwire("pipeline", "analyse", folder, "gossip")
    assert done.code == 2
    assert "no analysis is called 'gossip': latencies, errors," in done.err
