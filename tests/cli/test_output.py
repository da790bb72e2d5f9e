"""One Table, six forms; their shapes are those of docs/reference/output.md."""

import json

import pytest
import yaml

from kwire.admin.errors import OutcomeUnknown
from kwire.admin.outcomes import Outcomes
from kwire.cli.errors import WrongUsage
from kwire.cli.output import Column, Output, OutputForm, Table, error_document, time_values
from kwire.errors import BrokerError, ConnectionFailed, KwireError

COLUMNS = [
    Column(key="topic"),
    Column(key="replicas"),
    Column(key="isInternal", wide=True),
    Column(key="leader", right=True),
]
ROWS = [
    {"topic": "a", "replicas": [1, 2], "isInternal": True, "leader": 1},
    {"topic": "b", "replicas": [], "isInternal": False, "leader": None},
]
BY_KEY: dict[str, int | KwireError] = {
    "a": 1,
    "b": BrokerError(36, "it exists"),
    "c": OutcomeUnknown("no answer came: it may have been carried out"),
}


def printed(
    capsys: pytest.CaptureFixture[str], form: OutputForm, table: Table | None = None
) -> str:
    Output(form).show(table or Table("topics", COLUMNS, ROWS))
    return capsys.readouterr().out


def outcomes() -> Table:
    return Table.of_outcomes(
        "topics",
        [Column(key="topic"), Column(key="partitions")],
        Outcomes[str, int](BY_KEY),
        lambda name, number: {"topic": name, "partitions": number},
    )


def test_a_table_in_a_pipe_has_a_line_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, OutputForm.TABLE).splitlines() == [
        "Topic  Replicas  Leader",
        "a      1,2       1",
        "b      -         -",
    ]


def test_wide_shows_every_column(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, OutputForm.WIDE).splitlines()[:2] == [
        "Topic  Replicas  IsInternal  Leader",
        "a      1,2       yes         1",
    ]


def test_json_is_one_object_with_every_column(capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(printed(capsys, OutputForm.JSON)) == {"topics": ROWS}


def test_yaml_is_the_same_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert yaml.safe_load(printed(capsys, OutputForm.YAML)) == {"topics": ROWS}


def test_tsv_has_no_header_and_a_dash_for_what_is_not_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert printed(capsys, OutputForm.TSV) == "a\t1,2\ttrue\t1\nb\t-\tfalse\t-\n"


def test_a_tab_in_a_value_does_not_make_a_column(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("topics", [Column(key="topic")], [{"topic": "a\tb\nc"}])
    assert len(printed(capsys, OutputForm.TSV, table).split("\t")) == 1


def test_names_are_those_that_worked(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, OutputForm.NAME, outcomes()) == "a\n"


def test_every_row_says_what_became_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(printed(capsys, OutputForm.JSON, outcomes()))["topics"]
    assert [row["error"] for row in rows] == [None, "TOPIC_ALREADY_EXISTS", "OUTCOME_UNKNOWN"]
    assert rows[1] == {
        "topic": "b",
        "partitions": None,
        "error": "TOPIC_ALREADY_EXISTS",
        "message": "it exists",
    }


def test_a_failed_row_makes_the_run_fail() -> None:
    output = Output(OutputForm.JSON)
    output.show(Table("topics", COLUMNS, ROWS))
    assert not output.failed
    output.show(outcomes())
    assert output.failed


def test_errors_are_columns_only_where_there_are_some(capsys: pytest.CaptureFixture[str]) -> None:
    assert "TOPIC_ALREADY_EXISTS  it exists" in printed(capsys, OutputForm.TABLE, outcomes())
    assert "Error" not in printed(capsys, OutputForm.TABLE)


def test_text_from_the_wire_cannot_command_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    table = Table("topics", [Column(key="topic")], [{"topic": "\x1b[2Jgone"}])
    for form in (OutputForm.TABLE, OutputForm.TSV, OutputForm.NAME):
        assert "\x1b" not in printed(capsys, form, table)


def test_facts_stand_above_the_table_and_in_the_object(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("topics", COLUMNS, ROWS, facts={"dryRun": True})
    assert printed(capsys, OutputForm.TABLE, table).startswith("DryRun:                 yes\n")
    assert json.loads(printed(capsys, OutputForm.JSON, table))["dryRun"] is True


def test_one_object_has_no_names() -> None:
    with pytest.raises(WrongUsage, match="-o json"):
        Output(OutputForm.NAME).show_document({"leaderId": 1}, lambda: None)


def test_an_error_as_a_whole_is_an_object_too() -> None:
    assert error_document(BrokerError(41, "ask 3")) == {
        "error": "NOT_CONTROLLER",
        "message": "ask 3",
    }
    assert error_document(ConnectionFailed("nobody"))["error"] == "CONNECTION_FAILED"


def test_times_are_exact_and_readable() -> None:
    assert time_values("lastFetch", 1_700_000_000_123) == {
        "lastFetchMs": 1_700_000_000_123,
        "lastFetch": "2023-11-14T22:13:20.123+00:00",
    }
    assert time_values("lastFetch", -1) == {"lastFetchMs": None, "lastFetch": None}


@pytest.mark.parametrize("name", ["orders", 'ü\u2028日😀\x7f\\"', "\udcff"])
def test_json_is_that_of_python_s_own_module_whatever_a_name_holds(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    document = {"topics": [{"topic": name, "isr": [1, 2], "elr": [], "of": {}, "at": 1.5}]}
    Output(OutputForm.JSON).print_document(document)
    assert capsys.readouterr().out == json.dumps(document, indent=2) + "\n"


def test_a_number_that_json_does_not_have_is_text(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"topic": "a", "replicas": [float("nan")], "isInternal": True, "leader": float("inf")}]
    text = printed(capsys, OutputForm.JSON, Table("topics", COLUMNS, rows))
    (row,) = json.loads(text, parse_constant=pytest.fail)["topics"]
    assert (row["replicas"], row["leader"]) == (["NaN"], "Infinity")
