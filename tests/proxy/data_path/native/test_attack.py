"""The data path in C under attack, briefly; `make sanitize` does it at length."""

from __future__ import annotations

from tests.support.proxy.data_path.native import attack
from tests.support.seed import SEED


def test_it_follows_conversations_as_python_does() -> None:
    assert attack.conversations(SEED, 50) > 20


def test_bytes_of_any_kind_are_followed_or_given_back() -> None:
    assert attack.noise(SEED, 300) > 1_000


def test_connections_that_are_described_wrongly_are_refused() -> None:
    assert attack.misdescribed(SEED, 300) > 100


def test_connections_may_come_talk_and_break_all_at_once() -> None:
    assert attack.all_at_once(SEED, 0.3) >= 20
