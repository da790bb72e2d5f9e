"""Fixtures of the tests of the conformance suite."""

import pytest

from kwire.conform import connection, runner


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for no server longer than a moment."""
    monkeypatch.setattr(runner, "LOOK_AGAIN", (0.0, 0.05))
    monkeypatch.setattr(runner, "LOOK_TIMEOUT", 0.5)
    monkeypatch.setattr(connection, "PATIENCE", 0.2)
