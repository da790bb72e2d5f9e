"""`kwire replay` against real Kafka: the same cluster gives the same, and so does the recording."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE
from typing import Any, cast

import pytest

from kwire.error_codes import ErrorCode
from kwire.messages.a16_list_groups import ListGroupsRequest, ListGroupsResponse
from kwire.messages.a55_describe_quorum import DescribeQuorumResponse
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.quorum_request import quorum_request
from real_kafka import Cluster
from tests.support.cli.command import KWIRE, Command
from tests.support.cli.proxy_process import end_with_ctrl_c, proxy
from tests.support.eventually import eventually_blocking
from tests.support.real_kafka.own_names import OwnNames

MESSAGES = 20


@pytest.fixture
def topic(combined: Cluster, own_name: OwnNames) -> str:
    """A topic with messages."""
    from kafka import KafkaProducer
    from kafka.admin import KafkaAdminClient, NewTopic

    name = own_name("replay", at=combined.bootstrap_servers)
    admin = KafkaAdminClient(bootstrap_servers=combined.bootstrap_servers)
    admin.create_topics([NewTopic(name, 1, 1)])
    admin.close()
    producer = KafkaProducer(bootstrap_servers=combined.bootstrap_servers)
    for number in range(MESSAGES):
        producer.send(name, f"message {number}".encode(), partition=0)
    producer.close()
    return name


def session(bootstrap: str, topic: str) -> dict[str, Any]:
    """The requests of a client to a cluster, and their answers."""
    from kafka import KafkaConsumer, TopicPartition
    from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient

    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    told = {
        "controller": admin.describe_cluster()["controller_id"],
        "partitions": len(admin.describe_topics([topic])[0]["partitions"]),
        "configs": str(admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])),
    }
    admin.close()
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest")
    consumer.assign([TopicPartition(topic, 0)])
    values: list[bytes] = []
    while len(values) < MESSAGES:
        for records in consumer.poll(timeout_ms=10_000).values():
            values += [record.value for record in records]
    consumer.close()
    return told | {"messages": values}


@pytest.fixture
def recorded(combined: Cluster, topic: str, tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """The capture of a session, and what the client was told in it."""
    path = tmp_path / "session.avro"
    listen = f"1@127.0.0.1:0={combined.bootstrap_servers}"
    with proxy("--rewrite-endpoints", "--listen", listen, "-w", str(path)) as (run, (host, port)):
        told = session(f"{host}:{port}", topic)
        end_with_ctrl_c(run)
    return path, told


@contextmanager
def server(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """`kwire replay --server` as a process, and where it listens."""
    command = [str(KWIRE), "replay", "--server", *arguments, "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=PIPE, stderr=PIPE, text=True) as run:
        try:
            assert run.stderr
            found = re.match(r"listening at (.+:\d+): \d+ recorded", run.stderr.readline())
            assert found
            yield run, found[1]
        finally:
            if run.poll() is None:
                run.kill()


def test_a_recorded_session_is_the_same_again_and_can_be_served(
    kwire: Command, combined: Cluster, topic: str, recorded: tuple[Path, dict[str, Any]]
) -> None:
    from kafka.admin import KafkaAdminClient

    path, told = recorded
    assert len(told["messages"]) == MESSAGES
    to = ["--target", combined.bootstrap_servers, "--json"]

    run = kwire("replay", "--client", str(path), *to)
    *outcomes, summary = [json.loads(line) for line in run.out.splitlines()]
    assert [outcome for outcome in outcomes if outcome["verdict"] in ("different", "failed")] == []
    assert {outcome["api"] for outcome in outcomes} >= {
        "ApiVersions",
        "Metadata",
        "ListOffsets",
        "Fetch",
    }
    assert summary["counts"]["same"] >= 8
    assert run.code == 0

    admin = KafkaAdminClient(bootstrap_servers=combined.bootstrap_servers)
    admin.create_partitions({topic: 2})
    admin.close()
    run = kwire("replay", "--client", str(path), *to, "--fast", "--only", "~api Metadata,Describe*")
    outcomes = [json.loads(line) for line in run.out.splitlines()][:-1]
    found = {pair["path"]: pair for outcome in outcomes for pair in outcome["differences"]}
    (grown,) = [pair for name, pair in found.items() if name.endswith(".partitions[1]")]
    assert (grown["recorded"], grown["answered"]) == ("nothing", "there")
    assert run.code == 1
    ignore = ["--fast", "--only", "~api Metadata,Describe*", "--ignore", "partitions"]
    assert kwire("replay", "--client", str(path), *to, *ignore).code == 0
    nothing = kwire("replay", "--client", str(path), *to, "--only", "~api Vote")
    assert (nothing.code, "nothing was sent" in nothing.error) == (1, True)

    with server(str(path), "--fast") as (process, address):
        assert session(address, topic) == told
        lines, _ = end_with_ctrl_c(process)
    assert [line for line in lines if "· answered from the recording" in line]


def test_a_quorum_replayed_against_itself_has_only_grown(
    kwire: Command, combined: Cluster, tmp_path: Path
) -> None:
    """Between the two its log goes on: a NoOpRecord every 500 ms."""
    capture = tmp_path / "quorum.avro"
    listen = f"1@127.0.0.1:0={combined.bootstrap_servers}"
    with proxy("--listen", listen, "-w", str(capture)) as (recorder, (host, port)):
        for _ in range(2):
            recorded = asyncio.run(ask_of_the_quorum(Address(host, port)))
        end_with_ctrl_c(recorder)
    node = Address.parse(combined.bootstrap_servers)
    eventually_blocking(lambda: asyncio.run(ask_of_the_quorum(node)) > recorded)

    target = ["--target", combined.bootstrap_servers, "--fast", "--json"]
    run = kwire("replay", "--client", str(capture), *target)
    *outcomes, summary = [json.loads(line) for line in run.out.splitlines()]
    assert [outcome["differences"] for outcome in outcomes] == [[]] * len(outcomes)
    assert run.code == 0
    assert {"high_watermark", "log_end_offset"} <= set(summary["grown"])
    told = kwire("replay", "--client", str(capture), *target[:-1], "--from", "+0s", "--to", "+1h")
    assert re.search(r"grown since, which is no difference: .*high_watermark \(\d+\)", told.err)
    exact = kwire("replay", "--client", str(capture), *target, "--exact")
    assert exact.code == 1
    assert kwire("replay", "--client", str(capture), *target, "--to", "+0s").code == 1


async def ask_of_the_quorum(address: Address) -> int:
    """Send DescribeQuorum; return the high watermark."""
    async with await Connection.open(address.host, address.port) as connection:
        response = await connection.send(quorum_request())
    assert isinstance(response, DescribeQuorumResponse)
    return response.topics[0].partitions[0].high_watermark


async def ask_for_groups(address: Address) -> ListGroupsResponse:
    async with await Connection.open(address.host, address.port) as connection:
        return cast(ListGroupsResponse, await connection.send(ListGroupsRequest(), 4))


@pytest.mark.parametrize("form", ["--verbose", "--json"])
def test_all_is_sent_though_nobody_reads_what_came_of_it(
    combined: Cluster, recorded: tuple[Path, dict[str, Any]], form: str
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    options = ["--fast", "--only", "~api Metadata,ApiVersions,DescribeConfigs", form]
    to = ["--target", combined.bootstrap_servers, *options]
    done = subprocess.run(
        [KWIRE, "replay", "--client", recorded[0], *to],
        stdout=writing,
        stderr=PIPE,
        text=True,
        timeout=120,
        check=False,
    )
    os.close(writing)
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr
    assert re.search(r"[1-9]\d* sent: ", done.stderr) or form == "--json"


def test_what_was_not_recorded_is_answered_with_an_error_and_told(
    recorded: tuple[Path, dict[str, Any]],
) -> None:
    path, _ = recorded
    with server(str(path)) as (process, address):
        answer = asyncio.run(ask_for_groups(Address.parse(address)))
        assert answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR
        lines, err = end_with_ctrl_c(process)
    refused = re.compile(r"not in the recording: ListGroups v\d+ .*; answered with UNKNOWN_SERV")
    assert list(filter(refused.search, lines))
    assert re.search(r"\d+ requests were not in the recording", err)


WRONG = {
    "neither": ([], "Give one of --client and --server"),
    "nowhere": (["--client", "x.avro"], "--client takes --target HOST:PORT"),
    "no address": (["--client", "x.avro", "--target", "a"], "'a' is no address"),
    "twice": (["--client", "x.avro", "--target", "a:1", "--target", "b:1"], "a second address"),
    "two ways of TLS": (
        ["--client", "x.avro", "--target", "a:1", "--upstream-tls", "ca", "--command-config", "c"],
        "--command-config sets TLS: omit --upstream-tls",
    ),
    "no listener": (["--server", "x.avro", "--target", "a:1"], "--server takes --listen"),
}


@pytest.mark.parametrize(("arguments", "sentence"), WRONG.values(), ids=list(WRONG))
def test_wrong_usage_is_exit_code_2(kwire: Command, arguments: list[str], sentence: str) -> None:
    run = kwire("replay", *arguments)
    assert run.code == 2
    assert sentence in run.error
