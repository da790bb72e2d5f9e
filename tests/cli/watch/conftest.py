"""A feed and a screen whose pauses are short."""

import pytest

from kwire.proxy.feed import receiver, sender


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiver, "RETRY", 0.05)
    monkeypatch.setattr(receiver, "RENEW", 0.2)
    monkeypatch.setattr(sender, "GATHER", 0.02)
    monkeypatch.setattr("kwire.cli.watch.screen.app.PANELS", 0.1)
    monkeypatch.setattr("kwire.cli.watch.screen.app.DRAW", 0.05)
    monkeypatch.setattr("kwire.cli.watch.screen.rules.REFRESH", 0.1)
