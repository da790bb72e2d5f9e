"""`kwire protocol vectors` prints bytes and JSON of messages."""

import pytest

from kwire.messages.a52_vote import VoteRequest
from kwire.messages.registry import message
from tests.support.cli.command import Command


def test_bytes_and_json_of_a_version(kwire: Command) -> None:
    rows = kwire("protocol", "vectors", "VoteRequest", "--version", "2", "--json").json["vectors"]
    assert [row["example"] for row in rows] == [
        "defaults", "filled", "empty", "extremes", "unknown-tags",
    ]  # fmt: skip
    for row in rows:
        body = VoteRequest.decode(bytes.fromhex(row["hex"]), 2)
        assert body.encode(2).hex() == row["hex"]
        assert row["json"]["voterId"] == body.voter_id
    printed = kwire("protocol", "vectors", "VoteRequest", "--version", "2").out.splitlines()
    assert printed[0].split() == ["Name", "Version", "Example", "Hex"]
    assert [line.split()[3] for line in printed[1:]] == [row["hex"] for row in rows]


def test_an_api_has_request_and_response_in_each_version(kwire: Command) -> None:
    rows = kwire("protocol", "vectors", "52", "-o", "tsv").out.splitlines()
    pairs = {tuple(row.split("\t")[:2]) for row in rows}
    names = ("VoteRequest", "VoteResponse")
    assert pairs == {(name, str(each)) for name in names for each in message(name).versions}


@pytest.mark.parametrize("words", [["NoSuchMessage"], ["VoteRequest", "--version", "x"]])
def test_what_is_not_there_is_refused(kwire: Command, words: list[str]) -> None:
    assert kwire("protocol", "vectors", *words).code != 0


def test_a_version_that_is_not_there_has_none(kwire: Command) -> None:
    run = kwire("protocol", "vectors", "VoteRequest", "--version", "99")
    assert (run.code, run.out) == (0, "no such version\n")
