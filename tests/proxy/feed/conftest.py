"""A feed whose pauses are short."""

import pytest

from kwire.proxy.feed import receiver, sender


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receiver, "RETRY", 0.05)
    monkeypatch.setattr(sender, "GATHER", 0.02)
