"""Version sets in the words of Kafka's schemas."""

import pytest

from kwire.codec.versions import OPEN, Versions


@pytest.mark.parametrize("text", ["0-4", "2+", "3", "none", "0,2-3"])
def test_a_set_prints_as_it_was_written(text: str) -> None:
    assert str(Versions(text)) == text


def test_membership_and_bounds() -> None:
    versions = Versions("0,2-3")
    assert [version in versions for version in range(5)] == [True, False, True, True, False]
    assert (versions.first, versions.last, len(versions), list(versions)) == (0, 3, 3, [0, 2, 3])
    assert Versions("2+").last == OPEN
    assert not len(Versions("none"))


def test_a_set_is_made_of_single_versions() -> None:
    assert Versions.of([3, 0, 2]) == Versions("0,2-3")
    assert Versions.of([]) == Versions("none")
    assert len({Versions("1-2"), Versions.of([2, 1])}) == 1
