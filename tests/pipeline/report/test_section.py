"""Tables to be downloaded: plain file names, and no cell that a spreadsheet calculates."""

import csv
from datetime import datetime
from io import StringIO
from urllib.parse import unquote

import pytest

from kwire.pipeline.report.section import FigureTable, Grid, Section

AT = datetime(2026, 11, 21, 3, 0, 0, 500_000)


def cells(table: FigureTable) -> list[list[str]]:
    return list(csv.reader(StringIO(table.csv().removeprefix("\ufeff"))))


def test_a_table_is_csv_in_a_link() -> None:
    table = FigureTable(
        "Calls / by:API", ("at", "API", "calls"), [(AT, 'a"b,c\nd é', 7), (None, "", 0.5)]
    )
    assert table.file_name == "calls-by-api.csv"
    assert cells(table) == [
        ["at", "API", "calls"],
        ["2026-11-21T03:00:00.500000Z", 'a"b,c\nd é', "7"],
        ["", "", "0.5"],
    ]
    head, content = table.link.split(",", 1)
    assert head == "data:text/csv;charset=utf-8"
    assert unquote(content) == table.csv()
    assert not set(content) & set("<>\"'& #")


@pytest.mark.parametrize(
    "text",
    [
        "=1+1",
        "+cmd|'/C calc'!A0",
        "-2+3",
        "@SUM(A1)",
        "\t=1",
        "\r=1",
        " =1",
        "\uff1d1",
        "--",
        "\n-1",
    ],
)
def test_text_that_would_be_calculated_gets_an_apostrophe(text: str) -> None:
    assert cells(FigureTable("t", (text,), [(text,)])) == [[f"'{text}"]] * 2


@pytest.mark.parametrize("text", ["-", "-1.5", "+3", "1,234", "12.5%", "a=b", "x-y", ""])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert cells(FigureTable("t", ("a", "b"), [(text, -4)]))[1] == [text, "-4"]


def test_each_figure_has_its_table() -> None:
    first, second = (FigureTable(name, (), []) for name in "ab")
    section = Section(topic="In-sync replicas", finding="", figures=[1, 2], tables=[first, second])
    assert list(section.pictures) == [(1, first), (2, second)]
    assert list(Section(topic="A", finding="", tables=[first]).pictures) == []
    assert Grid("The worst", ["a"], [["=1"]]).table.file_name == "the-worst.csv"
