"""A resolver that does not answer: operations end at their own time, not at the resolver's."""

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from kwire.admin import sync
from kwire.errors import ConnectionFailed
from tests.support.cli.command import Command
from tests.support.eventually import TOO_LONG

HOST = "slow.example:9092"


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Answer no name lookup before the test is over."""
    over = threading.Event()

    def lookup(*_: Any, **__: Any) -> Any:
        over.wait(TOO_LONG)
        raise socket.gaierror(socket.EAI_AGAIN, "no answer")

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    yield
    over.set()


@pytest.mark.usefixtures("resolver")
def test_a_command_ends_at_its_timeout(kwire: Command) -> None:
    run = kwire("topics", "list", "--bootstrap-server", HOST, "--timeout", "0.6")
    assert run.error.startswith(f"{HOST} could not be connected to within 0.1 s: it is slow, or")


@pytest.mark.usefixtures("resolver")
@pytest.mark.parametrize("command", [["export"], ["doctor"], ["quorum", "check"], ["shell", "ls"]])
def test_commands_with_a_loop_of_their_own_end_at_theirs(
    kwire: Command, command: list[str]
) -> None:
    run = kwire(*command, "--bootstrap-controller", HOST, "--timeout", "0.1")
    assert run.code == 1


@pytest.mark.usefixtures("resolver")
def test_a_synchronous_client_closes_at_once() -> None:
    with sync.AdminClient(HOST, timeout=0.1) as admin, pytest.raises(ConnectionFailed):
        admin.list_topics()
