"""Whole numbers in text."""

import pytest

from kwire.text.untrusted import whole_number


@pytest.mark.parametrize(("text", "number"), [("0", 0), (" 42 ", 42), ("007", 7), ("65535", 65535)])
def test_a_number_from_0_on_is_read(text: str, number: int) -> None:
    assert whole_number(text, bits=16) == number


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "-1",
        "+1",
        "1_0",
        "1.0",
        "x",
        "²",
        "٣",
        "65536",
        pytest.param("9" * 5000, id="long"),
    ],
)
def test_any_other_text_is_none(text: str) -> None:
    assert whole_number(text, bits=16) is None
