"""The rows of `sources`: stretches of one file that follow each other are one."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from kwire.pipeline.store.sources import CAPTURE, LOST_US, Stretch, joined, source_rows

FIRST = Stretch(
    kind=CAPTURE, source="one", file="one.avro", first=0, last=9, begin=100, end=200, rows=20
)
SECOND = replace(FIRST, first=10, last=14, begin=300, end=400, rows=5)


def test_stretches_that_follow_each_other_are_one() -> None:
    (whole,) = joined([replace(SECOND, cluster_id="cluster"), FIRST])
    assert whole == replace(FIRST, last=14, end=400, rows=25, cluster_id="cluster")


@pytest.mark.parametrize(
    ("left", "right", "begin", "end"),
    [
        ((100, 200), (None, None), 100, 200),
        ((None, None), (300, 400), 300, 400),
        ((None, None), (None, None), None, None),
        ((100, 500), (300, 400), 100, 500),
        ((150, 200), (100, 400), 100, 400),
    ],
)
def test_their_times_are_the_first_and_the_last_that_any_has(
    left: tuple[int | None, int | None],
    right: tuple[int | None, int | None],
    begin: int | None,
    end: int | None,
) -> None:
    both = [
        replace(FIRST, begin=left[0], end=left[1]),
        replace(SECOND, begin=right[0], end=right[1]),
    ]
    (whole,) = joined(both)
    assert (whole.begin, whole.end) == (begin, end)


@pytest.mark.parametrize(
    ("later", "are_one"),
    [
        (replace(SECOND, first=11, begin=200 + LOST_US - 1), True),
        (replace(SECOND, first=11, begin=200 + LOST_US), False),
        (replace(SECOND, begin=200 + 60 * LOST_US), True),
        (replace(SECOND, file="other.avro"), False),
        (replace(SECOND, source="other"), False),
    ],
    ids=["few lost", "a gap", "a pause", "another file", "another recording"],
)
def test_a_gap_divides_them(later: Stretch, are_one: bool) -> None:
    assert len(joined([FIRST, later])) == (1 if are_one else 2)


def test_rows_have_times_of_the_calendar() -> None:
    now = datetime(2026, 11, 26, tzinfo=UTC)
    untimed = replace(SECOND, begin=None, end=None)
    rows = source_rows([FIRST, untimed], ingest="id", tables=["frames"], now=now).to_pylist()
    assert [row["begin"] for row in rows] == [datetime(1970, 1, 1, 0, 0, 0, 100, UTC), None]
    assert [(row["ingest"], row["ingested_at"], row["rows"]) for row in rows] == [
        ("id", now, 20),
        ("id", now, 5),
    ]
