"""`kwire protocol`: what changed between releases, and the tables of errors and the like."""

import json

import pytest

from kwire.protocol import facts
from kwire.protocol.document import document_text
from tests.support.cli.command import Command


def test_a_diff_goes_from_the_older_to_the_newer_release(kwire: Command) -> None:
    run = kwire("protocol", "diff", "4.4.0", "4.3.1", "--only", "messages,versions", "--json")
    assert run.code == 1
    assert (run.json["old"], run.json["new"], run.json["equal"]) == ("4.3.1", "4.4.0", False)
    assert {
        "change": "changed",
        "section": "versions",
        "name": "ApiVersions",
        "field": None,
        "old": "0-4",
        "new": "0-5",
    } in run.json["differences"]
    assert {row["section"] for row in run.json["differences"]} == {"messages", "versions"}


def test_a_diff_of_an_api_is_about_its_messages_alone(kwire: Command) -> None:
    run = kwire("protocol", "diff", "3.9.1", "4.4", "--api", "vote", "-o", "tsv")
    rows = [line.split("\t") for line in run.out.splitlines()]
    assert ["changed", "versions", "Vote", "-", "0-1", "0-2"] in rows
    assert {row[2] for row in rows} == {"Vote", "VoteRequest"}


def test_no_difference_ends_with_0(kwire: Command) -> None:
    run = kwire("protocol", "diff", "4.4.0", "4.4.0", "--json")
    assert (run.code, run.json["equal"], run.json["differences"]) == (0, True, [])
    assert kwire("protocol", "diff", "4.3.1", "4.4.0", "--api", "Vote").code == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["3.9.1", "9.9"], "no facts of Kafka '9.9' are known, only of 3.6.2, 3.9.1, 4.3.1, 4.4.0"),
        (["3.9.1", "4.4.0", "--api", "Fetsch"], "did you mean 'Fetch'?"),
        (
            ["3.9.1", "4.4.0", "--only", "bytes"],
            "--only bytes: there is no such section, only",
        ),
    ],
)
def test_trouble_ends_with_2_and_one_sentence(
    kwire: Command, arguments: list[str], sentence: str
) -> None:
    run = kwire("protocol", "diff", *arguments)
    assert run.code == 2
    assert sentence in run.error


def test_trouble_is_a_document_in_json(kwire: Command) -> None:
    run = kwire("protocol", "diff", "3.9.1", "9.9", "--json")
    assert run.json["error"] == "UNKNOWN_RELEASE"


def test_errors_are_found_by_code_and_by_name(kwire: Command) -> None:
    (row,) = kwire("protocol", "errors", "126", "--json").json["errors"]
    assert (row["name"], row["retriable"]) == ("DUPLICATE_VOTER", False)
    assert row["releases"] == ["3.9.1", "4.3.1", "4.4.0"]
    named = kwire("protocol", "errors", "*voter*", "-o", "name").out.split()
    assert named == [
        "INCONSISTENT_VOTER_SET",
        "INVALID_VOTER_KEY",
        "DUPLICATE_VOTER",
        "VOTER_NOT_FOUND",
    ]
    assert kwire("protocol", "errors", "4711").out == "no such error\n"
    assert "no facts" in kwire("protocol", "errors", "--release", "1").error


def test_levels_of_features_name_their_metadata_version(kwire: Command) -> None:
    rows = kwire("protocol", "features", "--release", "4.4.0", "--json").json["features"]
    levels = {(row["feature"], row["level"]): row for row in rows}
    assert levels["metadata.version", 31]["name"] == "4.4-IV0"
    assert levels["share.version", 2]["since"] == "4.4-IV0"
    assert not levels["metadata.version", 34]["production"]


def test_configurations_have_a_row_for_each_default(kwire: Command) -> None:
    run = kwire("protocol", "configs", "linger.ms", "--of", "producer", "-o", "tsv")
    rows = [line.split("\t") for line in run.out.splitlines()]
    assert [(row[3], row[-1]) for row in rows] == [("0", "3.6.2,3.9.1"), ("5", "4.3.1,4.4.0")]


def test_the_document_is_printed(kwire: Command) -> None:
    printed = kwire("protocol", "json").out
    assert printed == document_text()
    assert json.loads(printed)["releases"] == list(facts().releases)
