"""Every key with values right and wrong: the verdicts of Kafka's controller, to the letter."""

from itertools import groupby
from pathlib import Path

import pytest

from config_keys.judged import read
from kwire.configs.values import as_text, parse
from kwire.messages.config_resource import ConfigType
from tests.support.configs.verdicts import judge


def test_values_are_valid_or_refused_as_in_kafka(subtests: pytest.Subtests) -> None:
    judged = read(Path(__file__).with_name("judged_4.3.1.tsv").read_text())
    for key, rows in groupby(judged, lambda row: f"{row.type}:{row.key}"):
        with subtests.test(key):
            found, expected = {}, {}
            for row in rows:
                ours = judge(row.type, {row.key: row.value}, {}, {})
                found[row.value] = (ours.code, ours.message or "")
                expected[row.value] = (row.code, row.message)
            assert found == expected


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("0.5", "0.5"),
        ("1e-5", "1.0E-5"),
        ("0.001", "0.001"),
        ("9999999", "9999999.0"),
        ("1e7", "1.0E7"),
        ("1234567890.5", "1.2345678905E9"),
        ("-0", "-0.0"),
        ("1e400", "Infinity"),
        ("NaN", "NaN"),
        ("0x1p3", "8.0"),
        ("2.5d", "2.5"),
    ],
)
def test_doubles_are_printed_as_java_does(text: str, shown: str) -> None:
    assert as_text(parse("a", text, ConfigType.DOUBLE)) == shown
