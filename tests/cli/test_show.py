"""`kwire show` prints declarations as they are written and versions as they lie on the wire."""

import pytest

from kwire.cli.show_construct import as_data
from kwire.cli.show_declaration import declaration_text
from kwire.codec.compiler import source
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.registry import all_messages, names
from tests.support.cli.command import Command


def test_the_declaration_is_shown_with_the_structs_it_uses(kwire: Command) -> None:
    run = kwire("show", "AddRaftVoterRequest")
    assert run.code == 0
    assert run.out.startswith("# request, key 80, versions 0-1, flexible 0+, served by broker and")
    listener, request = run.out.index("class Listener(Group)"), run.out.index("class AddRaftVoter")
    assert listener < request
    assert "ack_when_committed: bool = since(1, boolean, default=True)" in run.out


@pytest.mark.parametrize(("version", "expected"), [("0", False), ("1", True)])
def test_a_version_shows_the_fields_that_it_has(
    kwire: Command, version: str, expected: bool
) -> None:
    run = kwire("show", "AddRaftVoterRequest", "--version", version)
    assert run.out.startswith(f"AddRaftVoterRequest v{version}\n")
    assert ("ack_when_committed: bool" in run.out) is expected
    assert "listeners: array of Listener, compact length" in run.out
    assert "tagged fields" in run.out


def test_lengths_and_tags_depend_on_the_version(kwire: Command) -> None:
    assert (
        "client_id: string, 2-byte length, nullable"
        in kwire("show", "RequestHeader", "--version", "2").out
    )
    old, new = (kwire("show", "FetchResponse", "--version", v).out for v in ("4", "12"))
    assert "responses: array of FetchableTopicResponse, 4-byte length" in old
    assert "tagged fields" not in old
    assert "current_leader: LeaderIdAndEpoch  tag 1" in new


def test_the_compiled_code_is_shown_as_it_is_run(kwire: Command) -> None:
    run = kwire("show", "VoteRequest", "--version", "2", "--compiled")
    assert run.out.rstrip() == source(VoteRequest.reference(2)).rstrip()
    compile(run.out, "VoteRequest", "exec")


def test_json_has_the_facts_and_the_fields_of_a_version(kwire: Command) -> None:
    shown = kwire("show", "AddRaftVoterRequest", "--version", "1", "--json").json
    assert (shown["name"], shown["kind"], shown["key"]) == ("AddRaftVoterRequest", "request", 80)
    assert [field["name"] for field in shown["fields"]][-2:] == ["listeners", "ack_when_committed"]
    assert [field["name"] for field in shown["fields"][-2]["fields"]] == ["name", "host", "port"]


def test_the_list_has_every_message_once(kwire: Command) -> None:
    lines = kwire("show", "--list").out.splitlines()
    assert sorted(line.split()[0] for line in lines[1:]) == sorted(names())
    assert [one["name"] for one in kwire("show", "--list", "--json").json] == [
        line.split()[0] for line in lines[1:]
    ]


def test_every_version_of_every_message_has_a_tree_and_every_message_a_text() -> None:
    for cls in all_messages():
        compile(declaration_text(cls), cls.__name__, "exec")
        for version in cls.versions:
            in_version = [n for n, field in cls.fields.items() if version in field.versions]
            assert {one["name"] for one in as_data(cls.at(version))} == set(in_version)


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["VoteReqest"], 1, "did you mean 'VoteRequest'?"),
        (["Vote"], 1, "an API has two: 'VoteRequest' and 'VoteResponse'"),
        (["VoteRequest", "--version", "9"], 1, "VoteRequest has versions 0-2, not 9"),
        ([], 2, "name one message, or give --list"),
        (["VoteRequest", "--list"], 2, "name one message, or give --list"),
        (["VoteRequest", "--compiled"], 2, "--compiled needs a --version"),
        (["VoteRequest", "--version", "9", "--compiled"], 1, "VoteRequest has versions 0-2, not 9"),
        (["--list", "--version", "1"], 2, "--version belongs to one message"),
        (["VoteRequest", "--version", "one"], 2, "valid int"),
    ],
)
def test_what_cannot_be_shown_is_one_sentence(
    kwire: Command, arguments: list[str], code: int, sentence: str
) -> None:
    run = kwire("show", *arguments)
    assert run.code == code
    assert sentence in run.error
