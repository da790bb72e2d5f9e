"""A service that rewrites addresses listens again where it did, or says that it would not."""

import signal
import socket
from pathlib import Path

import pytest

from tests.support.cli.proxy_process import ANSWER, PATIENCE
from tests.support.cli.service_process import GatedNode, ask, listener, running, service, write


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_kept_address_is_listened_at_again(
    gated_node: GatedNode, tmp_path: Path, number: signal.Signals
) -> None:
    """Also one of a listener that is not configured any more."""
    other = listener(gated_node.address, 2)
    kept = {"rewrite_endpoints": True, "address_file": "addresses.yaml"}
    file = tmp_path / "kwire-proxy.yaml"
    with running(write(file, service(listener(gated_node.address), other, **kept))) as run:
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
