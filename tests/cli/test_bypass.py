"""`kwire proxy` says which nodes are not behind it; with --strict that is its end."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme

from kwire.messages.a03_metadata import MetadataRequest, MetadataResponse, MetadataResponseBroker
from tests.support.cli.command import Command
from tests.support.cli.proxy_process import PATIENCE, end_with_ctrl_c, proxy
from tests.support.cli.service_process import listener, running, service, write
from tests.support.proxy.dialogue import answered, asked

ASKED = asked(MetadataRequest(), 12, 1)
BROKER = MetadataResponseBroker(node_id=2, host="broker-2", port=9092)
ANSWER = answered(MetadataResponse(brokers=[BROKER]), 12, 1)
SAYS = "node 2 at broker-2:9092 is not behind the proxy"


@pytest.fixture
def node() -> Iterator[str]:
    """A broker that names another one."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    peer, _ = server.accept()
                    with peer:
                        while peer.recv(len(ASKED), socket.MSG_WAITALL) == ASKED:
                            peer.sendall(ANSWER)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join(PATIENCE)


def ask(address: tuple[str, int], times: int = 1) -> None:
    with socket.create_connection(address, timeout=PATIENCE) as client:
        for _ in range(times):
            client.sendall(ASKED)
            assert client.recv(len(ANSWER), socket.MSG_WAITALL) == ANSWER


def test_a_node_that_is_not_behind_the_proxy_is_told_of_once(node: str) -> None:
    with proxy("--listen", f"1@127.0.0.1:0={node}") as (run, address):
        ask(address, 2)
        assert run.stdout
        line = next(line for line in run.stdout if "bypassed" in line)
        assert SAYS in line
        lines, _ = end_with_ctrl_c(run)
    assert not [line for line in lines if "bypassed" in line]


def test_with_strict_that_is_a_failure(node: str) -> None:
    with proxy("--strict", "--listen", f"1@127.0.0.1:0={node}") as (run, address):
        ask(address)
        out, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == 1
    assert SAYS in " ".join(err.split())
    assert "Traceback" not in err
    assert "Metadata v12" in out


def test_a_service_that_is_strict_ends_and_another_goes_on(node: str, tmp_path: Path) -> None:
    for strict in (False, True):
        config = service(listener(node), strict=strict)
        with running(write(tmp_path / "kwire-proxy.yaml", config)) as run:
            address = run.listening()
            run.next_event("ready")
            ask(address)
            assert run.next_event(SAYS)["event"] == "bypassed"
            if not strict:
                ask(address)
                assert run.end() == 0
            else:
                run.next_event("draining")
                assert run.ended() == 1


@pytest.mark.parametrize("other", [["--rewrite-endpoints"], ["--serve", "metadata"]])
def test_strict_is_for_nodes_that_advertise_the_proxy(kwire: Command, other: list[str]) -> None:
    done = kwire("proxy", "--strict", "--listen", "1@127.0.0.1:0=127.0.0.1:9", *other)
    assert done.code == 2
    assert "--strict is for nodes that advertise the proxy" in done.error


def test_a_listener_that_rewriting_opens_is_announced_as_the_first_are(node: str) -> None:
    options = ("--rewrite-endpoints", "--allowed-nodes", "broker-2")
    with proxy(*options, "--listen", f"1@127.0.0.1:0={node}") as (run, address):
        with socket.create_connection(address, timeout=PATIENCE) as client:
            client.sendall(ASKED)
            assert client.recv(4, socket.MSG_WAITALL)
        assert run.stderr
        first, opened, lost = (run.stderr.readline().strip() for _ in range(3))
        assert first.endswith(f"or --listen 1@{address[0]}:{address[1]}={node}")
        at = re.fullmatch(r"listening at (\S+) in front of broker-2:9092 of node 2", opened)
        assert at
        assert lost.startswith(f"a restarted proxy would not listen at {at[1]}, where nodes and ")
        assert lost.endswith(f"or --listen 2@{at[1]}=broker-2:9092")
        lines, _ = end_with_ctrl_c(run)
    assert not [line for line in lines if "bypassed" in line]


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_an_address_that_is_not_allowed_is_told_of_once(node: str, form: tuple[str, ...]) -> None:
    options = ("--rewrite-endpoints", *form, "--listen", f"1@127.0.0.1:0={node}")
    with proxy(*options) as (run, address):
        ask(address, 2)
        assert run.stdout
        told = "the address broker-2:9092 of node 2 in Metadata stays as it is: its host is no"
        line = next(line for line in run.stdout if "refused" in line)
        assert told in line
        assert "--allowed-nodes" in line
        lines, _ = end_with_ctrl_c(run)
    assert not [line for line in lines if "refused" in line]


def test_a_certificate_that_has_expired_is_a_warning_at_the_start(
    node: str, tmp_path: Path
) -> None:
    begin, end = (datetime.now(UTC) - timedelta(days=days) for days in (9, 2))
    issued = trustme.CA().issue_cert("127.0.0.1", not_before=begin, not_after=end)
    pem = tmp_path / "proxy.pem"
    issued.private_key_and_cert_chain_pem.write_to_path(str(pem))
    listens = [f"--listen={id}@127.0.0.1:0={node}" for id in (1, 2, 3)]
    with proxy(f"--listen-tls={pem},{pem}", *listens) as (run, _):
        assert run.stderr
        # What is said of a listener comes before the next one's line.
        lines: list[str] = []
        while sum(line.startswith("listening at") for line in lines) < 2:
            lines.append(run.stderr.readline())
            assert lines[-1], lines
        _, err = end_with_ctrl_c(run)
    said = " ".join("".join([*lines, err]).split())
    assert said.count("expired on") == 1
    assert f"the certificate in {pem}" in said
