"""Each datagram of a session counts once, and soon, whatever the network does with it."""

from hypothesis import given
from hypothesis import strategies as st

from kwire.proxy.feed.datagrams import Stamp
from kwire.proxy.feed.sessions import PATIENCE, REORDERED, ReplayWindow, Session

FEED, ID = b"F" * 16, b"S" * 24


@given(st.lists(st.integers(0, 3 * REORDERED) | st.integers(0, 2**64 - 1)))
def test_a_number_counts_once_if_it_is_not_far_behind(numbers: list[int]) -> None:
    window, taken, highest = ReplayWindow(), {0}, 0
    for number in numbers:
        is_new = number not in taken and number > highest - REORDERED
        assert window.take(number) is is_new
        taken.add(number)
        highest = max(highest, number)


def ends() -> tuple[Session, Session]:
    return Session(FEED, ID), Session(FEED, ID)


def test_both_ends_understand_each_other_and_nothing_twice() -> None:
    viewer, proxy = ends()
    stamps = [viewer.stamp(1.5) for _ in range(3)]
    assert stamps[0] == Stamp(FEED, ID, 1, 1500)
    assert [proxy.take(stamp, 2.0) for stamp in (stamps[2], stamps[0], stamps[1])] == [True] * 3
    assert [proxy.take(stamp, 2.0) for stamp in stamps] == [False] * 3
    assert viewer.take(proxy.stamp(2.0), 2.0)


def test_a_datagram_that_was_kept_on_its_way_counts_no_more() -> None:
    viewer, proxy = ends()
    early, late = viewer.stamp(100.0), viewer.stamp(100.0)
    assert proxy.take(early, 100.0 + PATIENCE)
    assert not proxy.take(late, 100.1 + PATIENCE)
    assert not proxy.take(viewer.stamp(100.0), 99.9 - PATIENCE)


def test_another_run_and_another_session_are_strangers() -> None:
    _, proxy = ends()
    assert not proxy.take(Session(b"G" * 16, ID).stamp(0.0), 0.0)
    assert not proxy.take(Session(FEED, b"T" * 24).stamp(0.0), 0.0)
