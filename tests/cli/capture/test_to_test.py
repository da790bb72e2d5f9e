"""`kwire capture to-test`: a recording becomes a test that passes with the client recorded."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from subprocess import PIPE

import pytest

from kwire.capture.editing import write_events
from kwire.messages.a00_produce import ProduceRequest, ProduceResponse
from kwire.messages.a16_list_groups import ListGroupsRequest, ListGroupsResponse
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.net.frames import encode_request
from kwire.proxy import Flow
from kwire.testing import Recording
from kwire.testing.recording import recorded_flows
from real_kafka import Cluster
from tests.support.cli.command import KWIRE, Command
from tests.support.cli.proxy_process import end_with_ctrl_c, proxy
from tests.support.proxy.capture.replay.recorded_flows import flow, records
from tests.support.real_kafka.own_names import OwnNames

CLIENT = """
import socket, sys
host, _, port = sys.argv[1].partition(":")
with socket.create_connection((host, int(port))) as connection:
    for frame in sys.argv[2:]:
        connection.sendall(bytes.fromhex(frame))
        answer = connection.recv(4096)
        if answer[12:14] == b"\\x00\\x1d":
            sys.exit("not allowed")
"""
SOFTWARE = ApiVersionsRequest(client_software_name="rust-rdkafka", client_software_version="0.36")


def listed(version: int, error: int = 0) -> Flow:
    return flow(ListGroupsRequest(), ListGroupsResponse(error_code=error), version, latency=0.0)


def client(*versions: int, path: str = "{bootstrap}") -> str:
    frames = [
        encode_request(ListGroupsRequest(), version, correlation_id=9).hex() for version in versions
    ]
    return shlex.join([sys.executable, "-S", "-c", CLIENT, path, *frames])


def made(path: Path, *flows: Flow) -> Path:
    write_events(records(*flows), path)
    return path


def run_test(path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command: list[str | Path] = [sys.executable]
    command += ["-m", "pytest", "-q", "-p", "no:cacheprovider", path, *options]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, cwd=path.parent, check=False
    )


@pytest.mark.costly
def test_a_test_passes_with_its_client_and_fails_with_another(
    kwire: Command, tmp_path: Path
) -> None:
    capture = made(tmp_path / "groups.avro", *map(listed, (2, 1, 1, 1)))
    path = tmp_path / "test_groups.py"
    run = kwire("capture", "to-test", str(capture), "--out", str(path))
    assert run.out == f"{path}: 2 of 4 recorded requests, in test_groups.avro\n"
    assert "kwire_client: str" in path.read_text(encoding="utf-8")
    assert run_test(path, "--kwire-client", client(2, 1)).returncode == 0
    other = run_test(path, "--kwire-client", client(2, 3))
    sentence = "ListGroups v3 was not recorded: it was in v1, v2"
    assert f"AssertionError: the client sent what was not recorded: {sentence}" in other.stdout
    assert "give pytest the command of one" in run_test(path).stdout


@pytest.mark.costly
def test_its_client_stands_in_it_and_is_seen_to_pass(kwire: Command, tmp_path: Path) -> None:
    capture = made(tmp_path / "a.avro", flow(SOFTWARE, ApiVersionsResponse(), 3), listed(2))
    path = tmp_path / "test_a.py"
    arguments = ["capture", "to-test", str(capture), "-o", str(path), "--exec"]
    run = kwire(*arguments, client(2), "--json")
    assert run.code == 1
    assert json.loads(run.out)["problem"] == (
        "the client did not send ApiVersions v3, which was recorded"
    )
    text = path.read_text(encoding="utf-8")
    assert text.startswith('"""A client against 2 requests of ')
    (written,) = re.findall(r"^CLIENT = (.*)$", text, re.MULTILINE)
    assert ast.literal_eval(written) == client(2)
    checks = [["ruff", "check", "--isolated"], ["ruff", "format", "--isolated", "--check"]]
    for check in [*checks, ["mypy", "--strict"]]:
        subprocess.run([Path(sys.executable).with_name(check[0]), *check[1:], path], check=True)
    again = kwire(*arguments, client(2))
    assert again.err.startswith(f"Error: {path} exists already")


def test_what_nodes_ask_each_other_and_what_is_cut_is_left_out(
    kwire: Command, tmp_path: Path
) -> None:
    cut = flow(ProduceRequest(), ProduceResponse(), 9)
    cut.request_size += 1
    vote = flow(VoteRequest(), VoteResponse(), 2)
    other = flow(ListGroupsRequest(), ListGroupsResponse(), 1, client_id="other")
    capture = made(tmp_path / "a.avro", vote, cut, listed(2), other)
    path = tmp_path / "test_a.py"
    run = kwire("capture", "to-test", str(capture), "-o", str(path))
    assert run.err.splitlines() == [
        "1 flows are left out: not whole, or unreadable",
        "2 clients are in it: --view '~client NAME' takes one of them",
    ]
    assert [one.version for one in recorded_flows(path.with_suffix(".avro"))] == [2, 1]


@pytest.mark.costly
def test_only_what_makes_a_client_fail_is_left(kwire: Command, tmp_path: Path) -> None:
    recorded = [listed(version, 29 * (version == 1)) for version in (2, 0, 1, 4, 3)]
    capture = made(tmp_path / "a.avro", *recorded)
    path = tmp_path / "test_a.py"
    arguments = ["capture", "to-test", str(capture), "-o", str(path), "--minimise"]
    run = kwire(*arguments, client(2, 0, 1))
    assert run.out.startswith(f"{path}: 1 of 5 recorded requests, in test_a.avro\n")
    assert run.out.endswith(" runs; the client fails with exit code 1: not allowed\n")
    assert "the client still fails as it did: exit code 1: not allowed" in run_test(path).stdout
    fixed = path.read_text(encoding="utf-8").replace('sys.exit("not allowed")', "pass")
    path.write_text(fixed, encoding="utf-8")
    assert run_test(path).returncode == 0


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (client(2), "the client does not fail if it is answered from this recording"),
        ("false", "the client did not connect to the recording: exit code 1: write {bootstrap}"),
        ("no-such-command", "cannot start no-such-command"),
        ("'", "is no command: No closing quotation"),
        ("", "The command is empty"),
    ],
)
def test_nothing_is_written_where_there_is_nothing_to_minimise(
    kwire: Command, tmp_path: Path, command: str, sentence: str
) -> None:
    capture = made(tmp_path / "a.avro", listed(2))
    path = tmp_path / "test_a.py"
    run = kwire("capture", "to-test", str(capture), "-o", str(path), "--minimise", command)
    assert run.code in (1, 2)
    assert sentence in " ".join(run.err.split())
    assert list(tmp_path.iterdir()) == [capture]


@pytest.mark.costly
def test_ctrl_c_keeps_the_fewest_so_far(tmp_path: Path) -> None:
    capture = made(tmp_path / "a.avro", *(listed(version, 29) for version in (1, 2, 0, 3, 4, 5)))
    path = tmp_path / "test_a.py"
    slow = CLIENT.replace("sys.exit(", "import time; time.sleep(1.5); sys.exit(")
    command = client(1).replace(shlex.quote(CLIENT), shlex.quote(slow))
    arguments: list[str | Path] = [KWIRE, "capture", "to-test", capture, "-o", path]
    arguments += ["--minimise", command]
    with subprocess.Popen(arguments, stdout=PIPE, stderr=PIPE, text=True) as run:
        assert run.stderr
        assert run.stderr.readline() == "run 2: 3 of 6 requests are enough\n"
        time.sleep(0.3)  # it waits for the client then
        os.kill(run.pid, signal.SIGINT)
        assert run.wait(20) == 130
        assert run.stderr.read() == "Stopped: fewer requests may do.\n"
    assert len([*recorded_flows(path.with_suffix(".avro"))]) == 3


READER = """
import sys
from kafka import KafkaConsumer
consumer = KafkaConsumer(sys.argv[2], bootstrap_servers=sys.argv[1], group_id=sys.argv[2],
                         client_id="reader", consumer_timeout_ms=4_000)
next(consumer, None)
"""


@pytest.mark.costly
def test_a_fault_of_kafka_python_that_a_rule_provoked(
    kwire: Command, combined: Cluster, own_name: OwnNames, tmp_path: Path
) -> None:
    topic = own_name("empty-assignment", at=combined.bootstrap_servers)
    rules, capture, path = (tmp_path / name for name in ("r.yaml", "a.avro", "test_reader.py"))
    rule = {"match": "~api SyncGroup", "direction": "response", "patch": {"assignment": ""}}
    rules.write_text(json.dumps({"rules": [rule]}), encoding="utf-8")
    reader = tmp_path / "reader.py"
    reader.write_text(READER, encoding="utf-8")
    command = shlex.join([sys.executable, str(reader), "{bootstrap}", topic])
    options = ["--rewrite-endpoints", "--rules", str(rules), "-w", str(capture), "--listen"]
    with proxy(*options, f"127.0.0.1:0={combined.bootstrap_servers}") as (run, (host, port)):
        words = shlex.split(command.replace("{bootstrap}", f"{host}:{port}"))
        failed = subprocess.run(words, stderr=PIPE, text=True, timeout=60, check=False)
        end_with_ctrl_c(run)
    assert failed.stderr.endswith("struct.error: unpack requires a buffer of 2 bytes\n")
    kwire("capture", "to-test", str(capture), "-o", str(path), "--minimise", command)
    fewest = list(recorded_flows(path.with_suffix(".avro")))
    assert fewest[-1].api == "SyncGroup"
    assert len(fewest) < len(list(recorded_flows(capture)))
    fault = "the client still fails as it did: exit code 1: struct.error: unpack requires a buffer"
    assert fault in run_test(path).stdout
    with Recording(fewest) as recording:
        assert recording.run(command).endswith("struct.error: unpack requires a buffer of 2 bytes")
