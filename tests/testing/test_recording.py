"""A recording answers clients in a test, and says in what they differ from it."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

import pytest

from kwire.capture.editing import write_events
from kwire.codec.declaration import Request, Response
from kwire.errors import FileError, InvalidValue
from kwire.messages.a03_metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseBroker,
)
from kwire.messages.a12_heartbeat import HeartbeatRequest, HeartbeatResponse
from kwire.messages.a16_list_groups import ListGroupsRequest, ListGroupsResponse
from kwire.net.frames import encode_request
from kwire.proxy import Flow
from kwire.testing import Recording
from kwire.testing.recording import same_fault
from tests.support.proxy.capture.replay.recorded_flows import flow, records

CLIENT = """
import os, socket, sys
host, _, port = os.environ["KWIRE_BOOTSTRAP"].partition(":")
assert sys.argv[1] == f"{host}:{port}"
with socket.create_connection((host, int(port))) as connection:
    for frame in sys.argv[2:]:
        connection.sendall(bytes.fromhex(frame))
        answer = connection.recv(4096)
assert b"kafka-1.example" not in answer, "an address outside"
refused = answer[12:14] == b"\\xff\\xff"  # UNKNOWN_SERVER_ERROR of ListGroups
sys.exit(f"refused in {os.getpid()}" if refused else 0)
"""
ENDLESS = "import subprocess; subprocess.run(['sleep', '60'])"


def rpc(request: Request, response: Response, version: int) -> Flow:
    return flow(request, response, version, latency=0.0)


def metadata(*topics: str) -> MetadataRequest:
    return MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in topics])


NODES = MetadataResponse(
    brokers=[MetadataResponseBroker(node_id=7, host="kafka-1.example", port=9)]
)
FLOWS = [
    rpc(metadata("orders"), NODES, 12),
    rpc(HeartbeatRequest(group_id="g"), HeartbeatResponse(), 4),
    rpc(ListGroupsRequest(), ListGroupsResponse(), 2),
]


def client(*requests: tuple[Request, int], address: str = "{bootstrap}") -> str:
    frames = [encode_request(body, version, correlation_id=9).hex() for body, version in requests]
    return shlex.join([sys.executable, "-S", "-c", CLIENT, address, *frames])


ORDERS, GROUPS = (metadata("orders"), 12), (ListGroupsRequest(), 2)


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    path = tmp_path / "orders.avro"
    write_events(records(*FLOWS), path)
    return path


def test_a_client_that_does_as_recorded_passes_whatever_its_heartbeats(capture: Path) -> None:
    with Recording(capture) as recording:
        assert recording.run(client(ORDERS, GROUPS, GROUPS)) == ""
        recording.check()
        assert recording.requests == 3


@pytest.mark.parametrize(
    ("requests", "sentence"),
    [
        (
            [(metadata("invoices"), 12)],
            "the client sent what was not recorded: Metadata v12 lacks topics[orders], which was",
        ),
        ([ORDERS, (ListGroupsRequest(), 3)], "ListGroups v3 was not recorded: it was in v2"),
        ([ORDERS], "the client did not send ListGroups v2, which was recorded"),
    ],
)
def test_another_client_fails_with_the_first_difference(
    requests: list[tuple[Request, int]], sentence: str
) -> None:
    with Recording(FLOWS) as recording:
        recording.run(client(*requests))
        with pytest.raises(AssertionError) as failed:
            recording.check()
    assert sentence in str(failed.value)


def test_fields_that_may_differ_make_no_difference() -> None:
    with Recording(FLOWS[:1], ignore=["topics"]) as recording:
        recording.run(client((metadata("invoices"), 12)))
        recording.check()


def test_a_failure_of_the_client_is_one_of_the_test() -> None:
    with Recording(FLOWS) as recording:
        fault = recording.run(client(ORDERS, GROUPS, address="elsewhere"))
        assert fault.startswith("exit code 1: AssertionError")
        with pytest.raises(AssertionError, match=r"did not send Metadata v12.*; the client f"):
            recording.check()


def test_a_client_without_end_is_killed_with_what_it_has_started() -> None:
    began = time.monotonic()
    with Recording(FLOWS) as recording:
        assert recording.run(shlex.join([sys.executable, "-c", ENDLESS]), timeout=0.5) == (
            "no end in time"
        )
    assert time.monotonic() - began < 20


def test_a_fault_is_gone_if_the_client_ends_well_or_comes_further_than_the_recording() -> None:
    refused = rpc(ListGroupsRequest(), ListGroupsResponse(), 2)
    failing = [rpc(HeartbeatRequest(group_id="g"), HeartbeatResponse(), 4), refused]
    with Recording(failing) as recording:
        fault = recording.run(client(GROUPS, (ListGroupsRequest(), 1)))
        assert fault.startswith("exit code 1: refused in ")
        recording.check_fault("exit code 1: another")
        with pytest.raises(AssertionError, match="the client still fails as it did: exit code 1"):
            recording.check_fault("exit code 1: refused in 12")
    with Recording(failing) as recording:
        recording.run(client(GROUPS))
        recording.check_fault(fault)
        recording.run("false")
        with pytest.raises(AssertionError, match="failed, but in another way: exit code 1"):
            recording.check_fault(fault)


def test_faults_are_alike_whose_numbers_and_ids_differ() -> None:
    assert same_fault("exit code 1: at 0x7f, 12 s", "exit code 1: at 0x81, 3 s")
    assert not same_fault("exit code 1: a", "exit code 1: b")
    assert not same_fault("", "")


def test_what_cannot_answer_is_refused(tmp_path: Path, capture: Path) -> None:
    with pytest.raises(InvalidValue, match="no request that is whole"):
        Recording([])
    broken = tmp_path / "broken.avro"
    broken.write_bytes(capture.read_bytes()[:-20])
    with pytest.raises(InvalidValue, match="kwire capture repair"):
        Recording(broken)
    broken.write_bytes(b"no capture")
    with pytest.raises(FileError):
        Recording(broken)
