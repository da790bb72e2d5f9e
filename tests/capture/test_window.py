"""Times of a recording, as people write them."""

from math import inf
from pathlib import Path

import pytest

from kwire.capture import Window
from kwire.errors import InvalidValue
from tests.support.capture.capture_records import record, write

FIRST = 1_795_246_073


@pytest.fixture
def captures(tmp_path: Path) -> list[Path]:
    """Two captures, together of the seconds 0 to 90, not in their order."""
    for name, seconds in (("a", (10, 0, 40)), ("b", (90, 50))):
        records = [record(second, at_us=(FIRST + second) * 1_000_000) for second in seconds]
        write(tmp_path / f"{name}.avro", records)
    return sorted(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("text", "second"),
    [
        ("2026-11-21T07:27:53Z", 0),
        ("2026-11-21T08:27:54.5+01:00", 1.5),
        ("+30s", 30),
        ("+30", 30),
        ("+1.5m", 90),
        ("+250ms", 0.25),
        ("-1m", 30),
        ("-1h", -3510),
        ("+0us", 0),
    ],
)
def test_a_time_is_absolute_or_counts_from_an_end(
    captures: list[Path], text: str, second: float
) -> None:
    assert Window.read(text, text, captures) == Window(FIRST + second, FIRST + second)


def test_a_window_holds_its_start_and_not_its_end(captures: list[Path]) -> None:
    window = Window.read("+1s", "+2s", captures)
    assert [FIRST + second in window for second in (0.9, 1, 1.9, 2)] == [False, True, True, False]
    assert Window.read(None, None, captures) == Window(-inf, inf)


@pytest.mark.parametrize("text", ["yesterday", "30s", "+30 days", "", "+s"])
def test_what_is_no_time_is_said(captures: list[Path], text: str) -> None:
    with pytest.raises(InvalidValue, match=r"is no time: write 2026-11-21T09:30:00Z, \+30s"):
        Window.read(text, None, captures)
