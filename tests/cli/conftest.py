"""The `kwire` command for the tests of its parts."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli.command import Command
from tests.support.cli.proxy_process import fixed_answers_node
from tests.support.cli.service_process import GatedNode


@pytest.fixture
def kwire(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run commands in this process."""
    return Command(capsys, monkeypatch)


@pytest.fixture
def node() -> Iterator[str]:
    """The address of a node with fixed answers."""
    with fixed_answers_node() as address:
        yield address


@pytest.fixture
def gated_node() -> Iterator[GatedNode]:
    """A node that answers while its gate is open."""
    with GatedNode() as node:
        yield node


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The place of a configuration file."""
    return tmp_path / "kwire-proxy.yaml"


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """Let commands handle Ctrl-C, also in a background job, and restore the handlers."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
