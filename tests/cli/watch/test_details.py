"""The value of a field that an edit starts with: a number without the name behind it."""

import re

import pytest


@pytest.fixture
def named_number() -> re.Pattern[str]:
    from kwire.cli.watch.screen.details import NAMED_NUMBER  # textual

    return NAMED_NUMBER


@pytest.mark.parametrize("value", ["2 FULL", "41 NOT_CONTROLLER", "-1 UNKNOWN_SERVER_ERROR"])
def test_a_number_with_a_name_is_recognised(value: str, named_number: re.Pattern[str]) -> None:
    assert named_number.fullmatch(value)


def test_the_number_of_an_error_without_a_name_is_recognised(
    named_number: re.Pattern[str],
) -> None:
    assert named_number.fullmatch("999 ERROR 999")


@pytest.mark.parametrize("value", ["2", '"2 FULL"', "16 B", "16 bytes: 00", "[1, 2]", "null"])
def test_other_values_are_edited_whole(value: str, named_number: re.Pattern[str]) -> None:
    assert not named_number.fullmatch(value)
