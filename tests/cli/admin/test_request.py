"""`kwire request`: what is sent is what the JSON says, what comes back is printed whole."""

import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwire.codec.json_form import from_json
from kwire.codec.json_template import completed, template
from kwire.errors import EncodeError
from kwire.messages import a03_metadata as metadata
from kwire.messages import a64_unregister_broker as unregistering
from kwire.messages import a65_describe_transactions as describing
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.registry import message, names
from kwire.net.frames import encode_request
from tests.support.admin.scripted_brokers import ScriptedBrokers
from tests.support.admin.scripted_transactions import described
from tests.support.cli.command import Command
from tests.support.cli.scripted_cluster import at, scripted_cluster


@pytest.fixture
def cluster() -> Iterator[ScriptedBrokers]:
    with scripted_cluster(2) as two:
        for node in two.nodes:
            node.scripts[describing.DescribeTransactionsRequest] = described({"a": (1,)})
            node.scripts[unregistering.UnregisterBrokerRequest] = lambda request: (
                unregistering.UnregisterBrokerResponse()
            )
        yield two


def test_a_response_is_printed_as_it_came(kwire: Command, cluster: ScriptedBrokers) -> None:
    body = '{"transactionalIds": ["a"]}'
    run = kwire("request", "DescribeTransactions", "--json", body, *at(cluster))
    [state] = run.json["transactionStates"]
    assert (run.code, state["transactionalId"], state["topics"][0]["partitions"]) == (0, "a", [1])
    assert [type(frame.body).__name__ for frame in cluster.nodes[0].asked] == [
        "ApiVersionsRequest",
        "DescribeTransactionsRequest",
    ]


def test_an_error_code_anywhere_is_named_and_exit_code_1(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    words = ("request", "65", "--json", '{"transactionalIds": ["a", "b"]}', *at(cluster))
    run = kwire(*words)
    assert run.code == 1
    assert "transactionStates[1].errorCode is 105, TRANSACTIONAL_ID_NOT_FOUND" in run.err
    document = kwire(*words, "-o", "json").json
    assert (document["api"], document["version"], document["peer"]) == (
        "DescribeTransactions",
        0,
        cluster.addresses[0],
    )
    assert document["errors"] == [
        {
            "path": "transactionStates[1].errorCode",
            "code": 105,
            "error": "TRANSACTIONAL_ID_NOT_FOUND",
        }
    ]


def test_a_request_goes_to_the_node_that_is_named(
    kwire: Command, cluster: ScriptedBrokers, tmp_path: Path
) -> None:
    file = tmp_path / "body.json"
    file.write_text('{"transactionalIds": []}')
    words = ("request", "DescribeTransactions", "--json", f"@{file}", *at(cluster))
    assert kwire(*words, "--node", "1").code == 0
    assert cluster.nodes[1].requests(describing.DescribeTransactionsRequest)
    assert "the cluster has no broker 9, only 0, 1" in kwire(*words, "--node", "9").error


def test_frames_are_shown_in_hex(kwire: Command, cluster: ScriptedBrokers) -> None:
    run = kwire("request", "DescribeTransactions", "--hex", *at(cluster))
    assert run.err.splitlines() == [
        "request  000000180041000000000001000b6b776972652d61646d696e000100",
        "response 0000000b00000001000000000001" + "00",
    ]


def test_a_read_only_profile_refuses_what_may_change_the_cluster(
    kwire: Command, cluster: ScriptedBrokers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles = tmp_path / "config.toml"
    profiles.write_text(
        f'[profiles.look]\nbootstrap_servers = "{cluster.addresses[0]}"\nread_only = true\n'
    )
    monkeypatch.setenv("KWIRE_CONFIG", str(profiles))
    refused = kwire("request", "UnregisterBroker", "-P", "look")
    assert "UnregisterBroker may change the cluster, and this client is read-only" in refused.error
    assert not cluster.nodes[0].asked
    assert kwire("request", "DescribeTransactions", "-P", "look").code == 0


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["Nonsense"], 2, "no API is called 'Nonsense'"),
        (["DescribeTransactions", "--json", "{"], 2, "--json is no JSON"),
        (["DescribeTransactions", "--json", "[]"], 2, "--json is no JSON object"),
        (["DescribeTransactions", "--version", "9"], 1, "has versions 0, not 9"),
        (
            ["DescribeTransactions", "--version", "0", "--json", '{"ids": []}'],
            1,
            "v0 ids: there is no such member; there are transactionalIds",
        ),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_sent(
    kwire: Command, words: list[str], code: int, sentence: str
) -> None:
    run = kwire("request", *words, "--bootstrap-server", "localhost:1")
    assert (run.code, sentence in run.error) == (code, True), run.error


def test_a_template_asks_no_cluster(kwire: Command) -> None:
    run = kwire("request", "DescribeProducers", "--template")
    assert run.json == {"topics": [{"name": "", "partitionIndexes": []}]}


def test_templates_and_empty_objects_are_requests(subtests: pytest.Subtests) -> None:
    for name in names():
        if not name.endswith("Request"):
            continue
        cls = message(name)
        for version in cls.versions:
            with subtests.test(f"{name} v{version}"):
                example = template(cls, version)
                from_json(cls, example, version).encode(version)
                assert from_json(cls, completed(cls, {}, version), version) == cls()


def test_a_member_that_no_field_is_for_is_refused_with_its_path() -> None:
    with pytest.raises(EncodeError, match=r"topics\[1\].nmae: there is no such member"):
        completed(message("DescribeProducersRequest"), {"topics": [{}, {"nmae": 1}]}, 0)


def test_a_form_that_there_is_not_is_refused_before_anything_is_sent(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    run = kwire("request", "UnregisterBroker", "-o", "name", *at(cluster))
    assert (run.code, "-o name is for lists" in run.error) == (2, True)
    assert not cluster.nodes[0].asked


def test_stdin_that_is_no_text_is_said_in_one_sentence(kwire: Command) -> None:
    words = ("request", "Metadata", "--json", "-", "--bootstrap-server", "localhost:1")
    assert kwire(*words, stdin=b"\xff").error.startswith("stdin is no text in UTF-8")


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        ('{"topics": [{"name": "new"}]}', True),
        ('{"topics": [{"name": "new"}], "allowAutoTopicCreation": false}', False),
        ('{"topics": null}', False),
    ],
)
def test_a_read_only_profile_lets_no_metadata_request_create_a_topic(
    kwire: Command,
    cluster: ScriptedBrokers,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    body: str,
    refused: bool,
) -> None:
    profiles = tmp_path / "config.toml"
    profiles.write_text(
        f'[profiles.look]\nbootstrap_servers = "{cluster.addresses[0]}"\nread_only = true\n'
    )
    monkeypatch.setenv("KWIRE_CONFIG", str(profiles))
    run = kwire("request", "Metadata", "--json", body, "-P", "look")
    assert ("allowAutoTopicCreation" in run.err) is refused
    assert bool(cluster.nodes[0].requests(metadata.MetadataRequest)) is not refused


def frame_of(version: int, number: int) -> str:
    return encode_request(ApiVersionsRequest(), version, correlation_id=number).hex()


def test_raw_bytes_are_sent_as_they_are_and_frames_are_decoded(
    kwire: Command, cluster: ScriptedBrokers
) -> None:
    run = kwire("request", "--raw", frame_of(0, 7) + frame_of(3, 8), cluster.addresses[0])
    assert run.code == 0, run.err
    assert run.out.count("ApiVersionsResponse") == 2
    assert re.search(r"^\d+ bytes to 127", run.out, re.MULTILINE)
    assert run.out.splitlines()[-1] == "the connection stays open"
    asked = [frame for node in cluster.nodes for frame in node.asked]
    assert [frame.header.correlation_id for frame in asked] == [7, 8]


def test_raw_bytes_without_an_answer_fail(kwire: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        peer = f"127.0.0.1:{server.getsockname()[1]}"
        run = kwire("request", "--raw", "00 00 00", peer, "--request-timeout", "0.1")
        assert (run.code, run.out.splitlines()[-1]) == (1, "no answer, nothing more within 0.1 s")
        assert "not one whole frame" in run.out
        long = kwire("request", "--raw", "ff" * 600, peer, "--request-timeout", "0.1")
        assert "and 88 bytes more\n" in long.out
    assert "cannot connect" in kwire("request", "--raw", "00", peer).error
    assert kwire("request", "--raw", "0x0", peer).code == 1
    assert kwire("request", "--raw", "00", "no address").code == 2
