"""Merging and splitting lose nothing and keep what belongs together."""

from itertools import chain
from pathlib import Path

import pytest

from kwire.capture import RESPONSE, CaptureRecord, Damage
from kwire.capture.editing import merge_captures, split_capture, write_events
from tests.support.capture.capture_records import read, record, write

SECOND = 1_000_000


def flow(event: int, at: int, capture: str = "a") -> list[CaptureRecord]:
    """A request and its response, a second later."""
    return [
        record(event, at_us=at * SECOND, capture=capture),
        record(event, at_us=(at + 1) * SECOND, capture=capture, kind=RESPONSE, ending=None),
    ]


def never(damage: Damage) -> None:
    raise AssertionError(damage)


def test_events_are_merged_by_time_and_pairs_stay_together(tmp_path: Path) -> None:
    write(tmp_path / "a", flow(0, 10) + flow(1, 30))
    write(tmp_path / "b", flow(0, 20, "b") + flow(1, 30, "b"))
    assert merge_captures([tmp_path / "a", tmp_path / "b"], tmp_path / "c", never) == 4
    expected = flow(0, 10) + flow(0, 20, "b") + flow(1, 30) + flow(1, 30, "b")
    assert read(tmp_path / "c") == (expected, [])


def test_what_stands_in_two_captures_is_written_once(tmp_path: Path) -> None:
    write(tmp_path / "a", flow(0, 10) + flow(1, 20))
    write(tmp_path / "b", flow(1, 20) + flow(2, 30))
    assert merge_captures([tmp_path / "a", tmp_path / "b"], tmp_path / "c", never) == 3
    assert len(read(tmp_path / "c")[0]) == 6


def test_damage_is_told_and_the_rest_is_merged(tmp_path: Path) -> None:
    write(tmp_path / "a", flow(0, 10) + flow(1, 20), block=2)
    (tmp_path / "a").write_bytes((tmp_path / "a").read_bytes()[:-1])
    told: list[Damage] = []
    assert merge_captures([tmp_path / "a"], tmp_path / "c", told.append) == 1
    assert [damage.torn for damage in told] == [True]


def test_a_merge_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def broken() -> list[list[CaptureRecord]]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_events((group for group in broken()), tmp_path / "c")
    assert list(tmp_path.iterdir()) == []


def test_a_capture_is_split_by_time(tmp_path: Path) -> None:
    flows = [flow(number, at) for number, at in enumerate((3599, 3600, 3605, 7199, 7200))]
    write(tmp_path / "a.avro", list(chain(*flows)))
    paths = split_capture(tmp_path / "a.avro", tmp_path, never, seconds=3600.0, size=None)
    assert [path.name for path in paths] == [
        "a-19700101T005959Z.avro",
        "a-19700101T010000Z.avro",
        "a-19700101T020000Z.avro",
    ]
    found = [read(path)[0] for path in paths]
    assert found == [flows[0], flows[1] + flows[2] + flows[3], flows[4]]


def test_a_capture_is_split_by_size_and_names_do_not_clash(tmp_path: Path) -> None:
    flows = [flow(number, 10) for number in range(3)]
    write(tmp_path / "a.avro", list(chain(*flows)))
    paths = split_capture(tmp_path / "a.avro", tmp_path, never, seconds=None, size=1)
    assert [read(path)[0] for path in paths] == flows
    assert len(set(paths)) == 3
