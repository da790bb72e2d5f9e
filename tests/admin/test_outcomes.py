"""The three states of a key: done, refused, unknown."""

import pytest

from kwire.admin.errors import OutcomeUnknown
from kwire.admin.outcomes import Outcomes
from kwire.errors import BrokerError, KwireError

REFUSED = BrokerError(36, "it exists")
UNKNOWN = OutcomeUnknown("no answer came")
BY_KEY: dict[str, int | KwireError] = {"a": 1, "b": REFUSED, "c": UNKNOWN, "d": 4}
OUTCOMES = Outcomes[str, int](BY_KEY)


def test_it_is_a_mapping_of_what_worked() -> None:
    assert dict(OUTCOMES) == {"a": 1, "d": 4}
    assert len(OUTCOMES) == 2
    assert "b" not in OUTCOMES


def test_a_key_that_failed_raises_its_error_when_it_is_read() -> None:
    with pytest.raises(BrokerError) as caught:
        OUTCOMES["b"]
    assert caught.value is REFUSED


def test_failed_and_unknown_keys_are_told_apart() -> None:
    assert OUTCOMES.failed == {"b": REFUSED, "c": UNKNOWN}
    assert OUTCOMES.unknown == {"c": UNKNOWN}
    assert list(OUTCOMES.entries()) == ["a", "b", "c", "d"]


def test_all_raises_every_error_at_once() -> None:
    with pytest.raises(ExceptionGroup, match="2 of 4 failed") as caught:
        OUTCOMES.all()
    assert caught.value.exceptions == (REFUSED, UNKNOWN)
    assert Outcomes({"a": 1}).all() == {"a": 1}


def test_get_returns_the_default_for_a_key_that_failed() -> None:
    assert (OUTCOMES.get("a"), OUTCOMES.get("b"), OUTCOMES.get("b", 7)) == (1, None, 7)
    assert OUTCOMES.get("nowhere", 8) == 8
