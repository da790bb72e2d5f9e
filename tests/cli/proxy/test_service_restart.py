"""A service that rewrites addresses listens again where it did, or says that it would not."""

import signal
import socket
from pathlib import Path

import pytest

from kwire.capture import RESPONSE, CaptureRecord, read_capture
from kwire.errors import FileError
from real_kafka import free_port
from tests.support.cli.proxy_process import ANSWER, PATIENCE
from tests.support.cli.service_process import GatedNode, ask, listener, running, service, write
from tests.support.eventually import eventually_blocking


def recorded_responses(folder: Path) -> int:
    """Count the responses in captures, also in those that are being written; 0 while one moves."""
    files = [*folder.rglob("*.avro"), *folder.rglob(".*.part")]
    try:
        records = [one for file in files for one in read_capture(file)]
    except FileError:
        return 0
    return sum(isinstance(one, CaptureRecord) and one.kind == RESPONSE for one in records)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_kept_address_is_listened_at_again(
    gated_node: GatedNode, tmp_path: Path, number: signal.Signals
) -> None:
    """Also one of a listener that is not configured any more."""
    # Of ports that the system gives, another process may have one when it is wanted again.
    first, other = (
        listener(gated_node.address, node, f"127.0.0.1:{free_port()}") for node in (1, 2)
    )
    kept = {"rewrite_endpoints": True, "address_file": "addresses.yaml"}
    file = tmp_path / "kwire-proxy.yaml"
    with running(write(file, service(first, other, **kept))) as run:
        addresses = {run.listening(), run.listening()}
        run.next_event("ready")
        run.end(number)
    write(file, service(listener(gated_node.address), **kept))
    with running(file) as run:
        assert {run.listening(), run.listening()} == addresses
        run.next_event("ready")
        for address in addresses:
            with socket.create_connection(address, timeout=PATIENCE) as client:
                assert ask(client) == ANSWER
        run.reload(service(listener(gated_node.address), rewrite_endpoints=True))
        assert "another address_file needs a restart" in run.next_event("not loaded")["message"]


def test_an_address_that_is_not_kept_is_told_when_it_is_opened(
    gated_node: GatedNode, tmp_path: Path
) -> None:
    config = service(listener(gated_node.address), rewrite_endpoints=True)
    with running(write(tmp_path / "kwire-proxy.yaml", config)) as run:
        host, port = run.listening()
        line = run.next_line()
        assert (line["level"], line["message"]) == (
            "warning",
            f"a restarted proxy would not listen at {host}:{port}, where nodes and clients that"
            " were given this address go on connecting: give --address-file (in a file:"
            f" address_file), or --listen 1@{host}:{port}={gated_node.address}",
        )


@pytest.mark.parametrize("name", ["captures", "one.avro"])
def test_the_same_command_goes_on_after_kills_and_keeps_what_was_recorded(
    gated_node: GatedNode, tmp_path: Path, name: str
) -> None:
    """Into a folder and into one file, as `-w NAME`: a kill leaves files that are not finished."""
    (tmp_path / "captures").mkdir()
    record = {"path": str(tmp_path / name)}
    config = service(listener(gated_node.address), record=record)
    file = write(tmp_path / "kwire-proxy.yaml", config)
    for run_number, end in enumerate((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM), start=1):
        with running(file) as run:
            with socket.create_connection(run.listening(), timeout=PATIENCE) as client:
                assert ask(client) == ANSWER
            eventually_blocking(lambda: recorded_responses(tmp_path), run_number.__eq__)
            run.end(end)
    assert recorded_responses(tmp_path) == 3
    assert len([*tmp_path.rglob("*.avro")]) == 3
    assert not [*tmp_path.rglob(".*.part")]
