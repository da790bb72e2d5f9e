"""A resolver that does not answer: operations end at their own time, not at the resolver's."""

import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from kwire.admin import sync
from kwire.errors import ConnectionFailed
from tests.support.cli.command import Command

PATIENCE = 60.0
HOST = "slow.example:9092"


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Answer no name lookup before the test is over."""
    over = threading.Event()

    def lookup(*_: Any, **__: Any) -> Any:
        over.wait(PATIENCE)
        raise socket.gaierror(socket.EAI_AGAIN, "no answer")

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    yield
    over.set()


@pytest.mark.usefixtures("resolver")
def test_a_command_ends_at_its_timeout(kwire: Command) -> None:
    begin = time.monotonic()
    run = kwire("topics", "list", "--bootstrap-server", HOST, "--timeout", "0.3")
    assert run.error.startswith(f"{HOST} could not be connected to within 0.3 s: check")
    assert time.monotonic() - begin < PATIENCE / 2


@pytest.mark.usefixtures("resolver")
@pytest.mark.parametrize("command", [["export"], ["doctor"], ["quorum", "check"], ["shell", "ls"]])
def test_commands_with_a_loop_of_their_own_end_at_theirs(
    kwire: Command, command: list[str]
) -> None:
    begin = time.monotonic()
    run = kwire(*command, "--bootstrap-controller", HOST, "--timeout", "0.3")
    assert run.code == 1
    assert time.monotonic() - begin < PATIENCE / 2


@pytest.mark.usefixtures("resolver")
def test_a_synchronous_client_closes_at_once() -> None:
    begin = time.monotonic()
    with sync.AdminClient(HOST, timeout=0.3) as admin, pytest.raises(ConnectionFailed):
        admin.list_topics()
    assert time.monotonic() - begin < PATIENCE / 2
