"""`kwire protocol show` prints layouts by release, kwire's declarations and single versions."""

from io import StringIO

import pytest
from rich.console import Console

from kwire.cli.protocol.construct_tree import as_data
from kwire.cli.protocol.field_tree import fields_tree
from kwire.cli.protocol.show import declaration_text
from kwire.codec.compiler import source
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.registry import all_messages, names
from kwire.protocol.document import described
from kwire.protocol.release_facts import messages_of
from tests.support.cli.command import Command


def test_the_declaration_is_shown_with_the_structs_it_uses(kwire: Command) -> None:
    run = kwire("protocol", "show", "AddRaftVoterRequest", "--declaration")
    assert run.code == 0
    listener, request = run.out.index("class Listener(Group)"), run.out.index("class AddRaftVoter")
    assert listener < request
    assert "ack_when_committed: bool = since(1, boolean, default=True)" in run.out


@pytest.mark.parametrize(("version", "expected"), [("0", False), ("1", True)])
def test_a_version_shows_the_fields_that_it_has(
    kwire: Command, version: str, expected: bool
) -> None:
    run = kwire("protocol", "show", "AddRaftVoterRequest", "--version", version)
    assert run.out.startswith(f"AddRaftVoterRequest v{version}\n")
    assert ("ack_when_committed: bool" in run.out) is expected
    assert "listeners: array of Listener, compact length" in run.out
    assert "tagged fields" in run.out


def test_lengths_and_tags_depend_on_the_version(kwire: Command) -> None:
    assert (
        "client_id: string, 2-byte length, nullable"
        in kwire("protocol", "show", "RequestHeader", "--version", "2").out
    )
    old, new = (kwire("protocol", "show", "FetchResponse", "--version", v).out for v in ("4", "12"))
    assert "responses: array of FetchableTopicResponse, 4-byte length" in old
    assert "tagged fields" not in old
    assert "current_leader: LeaderIdAndEpoch  tag 1" in new


def test_the_compiled_code_is_shown_as_it_is_run(kwire: Command) -> None:
    run = kwire("protocol", "show", "VoteRequest", "--version", "2", "--compiled")
    assert run.out.rstrip() == source(VoteRequest.reference(2)).rstrip()
    compile(run.out, "VoteRequest", "exec")


def test_json_has_the_fields_of_a_version(kwire: Command) -> None:
    shown = kwire("protocol", "show", "AddRaftVoterRequest", "--version", "1", "--json").json
    (layout,) = shown["messages"]
    assert (layout["name"], shown["version"]) == ("AddRaftVoterRequest", 1)
    assert [field["name"] for field in layout["fields"]][-2:] == ["listeners", "ack_when_committed"]
    assert [field["name"] for field in layout["fields"][-2]["fields"]] == ["name", "host", "port"]


def test_an_api_shows_the_fields_of_both_messages_in_the_newest_release(kwire: Command) -> None:
    run = kwire("protocol", "show", "vote")
    assert run.out.startswith("VoteRequest: API, key 52, versions 0-2, served by controller")
    assert "\nVoteResponse: response, key 52, versions 0-2" in run.out
    assert "ReplicaEpoch: int32, versions 0+" in run.out
    assert kwire("protocol", "show", "52").out == run.out


@pytest.mark.parametrize("width", [80, 160, 100_000])
def test_what_a_field_is_for_stands_beside_it_where_there_is_room(width: int) -> None:
    fact = described(messages_of("4.4.0")["VoteRequest"])
    console = Console(width=width, file=StringIO(), color_system=None)
    with console.capture() as capture:
        console.print(fields_tree(fact, width))
    lines = [line.rstrip() for line in capture.get().splitlines()]
    assert max(map(len, lines)) <= width
    at = next(at for at, line in enumerate(lines) if "PreVote: bool" in line)
    sentence = "True: only asks whether the vote would be granted; no epoch changes (KIP-996)."
    beside = width > 80
    assert lines[at].endswith(sentence) is beside
    below = " ".join(line.strip() for line in lines[at + 1 :])
    assert below == ("" if beside else sentence)


def test_json_has_what_a_field_is_for(kwire: Command) -> None:
    (row,) = kwire("protocol", "show", "AddRaftVoterRequest", "--json").json["messages"]
    texts = {field["name"]: field["description"] for field in row["fields"]}
    assert texts["VoterId"] == "Node id of the observer that shall become a voter."


def test_a_release_shows_the_fields_as_it_has_them(kwire: Command) -> None:
    run = kwire("protocol", "show", "VoteRequest", "--release", "3.9")
    assert run.out.startswith("VoteRequest: API, key 52, versions 0-1")
    assert "CandidateEpoch: int32, versions 0+" in run.out
    (row,) = kwire("protocol", "show", "VoteRequest", "--release", "3.9.1", "--json").json[
        "messages"
    ]
    assert (row["kind"], row["key"], row["releases"]) == ("request", 52, ["3.9.1"])


def test_the_list_has_every_api_with_its_versions_by_release(kwire: Command) -> None:
    lines = kwire("protocol", "show").out.splitlines()
    assert lines[0].split()[:6] == ["Key", "Name", "3.6.2", "3.9.1", "4.3.1", "4.4.0"]
    assert lines[1].split()[:6] == ["0", "Produce", "0-9", "0-11", "3-13", "3-13"]
    rows = kwire("protocol", "show", "--json").json["messages"]
    assert [row["name"] for row in rows] == [line.split()[1] for line in lines[1:]]
    assert rows[4]["versions"] == {"3.6.2": "0-7", "3.9.1": "0-7", "4.3.1": None, "4.4.0": None}
    (first, *_) = kwire("protocol", "show", "--release", "4.4.0").out.splitlines()
    assert first.split() == ["Key", "Name", "4.4.0", "Flexible", "Listeners"]


def test_the_list_of_all_has_every_declared_message(kwire: Command) -> None:
    listed = {row["name"] for row in kwire("protocol", "show", "--all", "--json").json["messages"]}
    requests = {name.removesuffix("Request") for name in names() if name.endswith("Request")}
    others = {n for n in names() if not n.endswith(("Request", "Response"))}
    assert requests | others <= listed


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
        (
            ["VoteRequest", "--release", "1.0"],
            1,
            "no facts of Kafka '1.0' are known, only of",
        ),
        (["UnregisterController", "--release", "3.9.1"], 1, "3.9.1 has no UnregisterController"),
        (["VoteRequest", "--version", "9"], 1, "VoteRequest has versions 0-2, not 9"),
        (["VoteRequest", "--all"], 2, "name one message, or give --all"),
        (["VoteRequest", "--version", "1", "--declaration"], 2, "--declaration stands alone"),
        (["VoteRequest", "--declaration", "--json"], 2, "--declaration prints Python"),
        (["VoteRequest", "--compiled"], 2, "--compiled needs a --version"),
        (["VoteRequest", "--version", "9", "--compiled"], 1, "VoteRequest has versions 0-2, not 9"),
        (["--version", "1"], 2, "--version belongs to one message"),
        (["VoteRequest", "--version", "one"], 2, "valid int"),
    ],
)
def test_what_cannot_be_shown_is_one_sentence(
    kwire: Command, arguments: list[str], code: int, sentence: str
) -> None:
    run = kwire("protocol", "show", *arguments)
    assert run.code == code
    assert sentence in run.error
