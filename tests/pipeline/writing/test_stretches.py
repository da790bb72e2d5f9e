"""The course of a slice tells what it has, and whether a frame may be there twice."""

from typing import Any

from kwire.pipeline.decoding import decode_batch
from kwire.pipeline.store.sources import Stretch, joined
from kwire.pipeline.writing.stretches import Course, FrameRange, overlapping
from tests.support.pipeline.captured_rows import AT, answered, asked, batch, row

SECOND = 1_000_000


def course(*batches: list[dict[str, Any]]) -> Course:
    found = Course()
    for rows in batches:
        found.follow(decode_batch(batch(rows)))
    return found


def spans(stretches: list[Stretch]) -> list[tuple[str, str, int, int, int]]:
    return [(one.kind, one.source, one.first, one.last, one.rows) for one in stretches]


def test_frames_that_ascend_are_there_once() -> None:
    found = course([asked(1), answered(1), asked(4)], [answered(4), row(5, kind="NOTICE")])
    other = course([asked(1, capture="d"), asked(2)], [asked(3, capture="d"), asked(7)])
    assert found.unbroken
    assert other.unbroken
    assert [span.capture for span in other.ranges] == ["d", "c"]
    assert overlapping([*found.ranges, *other.ranges]) == {"c"}
    assert not overlapping(
        [*found.ranges, *course([asked(6)]).ranges, *course([asked(6, capture="d")]).ranges]
    )
    damage = row(0, kind="NOTICE", notice="DAMAGE", capture=None)
    assert course([asked(1), damage, answered(1)]).unbroken


def test_frames_that_may_be_there_twice_are_told_of() -> None:
    assert not course([asked(1), asked(1)]).unbroken
    assert not course([asked(1)], [asked(1)]).unbroken
    assert not course([asked(2), asked(1)]).unbroken
    ranges = [FrameRange("c", 0, 9), FrameRange("d", 0, 9), FrameRange("c", 9, 12)]
    assert overlapping(ranges) == {"c"}


def test_a_gap_is_of_missing_events_and_of_time() -> None:
    later = AT + 5 * SECOND
    found = course(
        [asked(1), answered(1), asked(9), asked(10, at=later)],
        [asked(12, at=later + SECOND), asked(13, at=later + 9 * SECOND)],
    )
    # 9 comes at once behind 1, and 10 is next to 9; 12 misses 11 for a second.
    assert spans(found.stretches) == [("CAPTURE", "c", 1, 10, 4), ("CAPTURE", "c", 12, 13, 2)]
    assert found.stretches[0].begin == AT + 1
    assert found.stretches[1].end == later + 9 * SECOND


def test_stretches_of_slices_are_joined_file_by_file() -> None:
    def part(first: int, last: int, *, file: str = "a", at: int = 0) -> Stretch:
        return Stretch(
            kind="CAPTURE",
            source="c",
            file=file,
            first=first,
            last=last,
            begin=at,
            end=at + 1,
            rows=1,
        )

    parts = [part(7, 9, at=9), part(0, 6), part(20, 30, at=2 * SECOND), part(10, 12, file="b")]
    assert spans(joined(parts)) == [
        ("CAPTURE", "c", 0, 9, 2),
        ("CAPTURE", "c", 20, 30, 1),
        ("CAPTURE", "c", 10, 12, 1),
    ]


def test_damage_is_a_stretch_of_its_file() -> None:
    damage = row(0, kind="NOTICE", notice="DAMAGE", capture=None) | {"event": None, "at": None}
    assert spans(course([damage, asked(1)], [damage]).stretches) == [
        ("DAMAGE", "night.avro", 0, 0, 0),
        ("CAPTURE", "c", 1, 1, 1),
    ]
