"""Java's hash of a text, by what `jshell` prints of String.hashCode."""

import pytest

from kwire.text.java_hash import java_hash


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", 0),
        ("hello", 99162322),
        ("Aa", 2112),
        ("BB", 2112),
        ("polygenelubricants", -2147483648),
        ("retention.ms", -1339220362),
        ("\U0001f600", 1772899),
    ],
)
def test_a_text_has_javas_hash(text: str, number: int) -> None:
    assert java_hash(text) == number % (1 << 32)
