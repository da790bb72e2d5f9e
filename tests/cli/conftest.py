"""The `kwire` command for the tests of its parts."""

import signal
from collections.abc import Iterator

import pytest

from tests.support.cli.command import Command


@pytest.fixture
def kwire(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs commands in this process."""
    return Command(capsys, monkeypatch)


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """Commands hear Ctrl-C even where the tests run in the background, and change nothing here."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
