"""Each datagram of a session counts once, and soon, whatever the network does with it."""

from kwire.proxy.feed.datagrams import Stamp
from kwire.proxy.feed.sessions import PATIENCE, Session

FEED, ID = b"F" * 16, b"S" * 24


def ends() -> tuple[Session, Session]:
    return Session(FEED, ID), Session(FEED, ID)


def test_both_ends_understand_each_other_and_nothing_twice() -> None:
    viewer, proxy = ends()
    stamps = [viewer.stamp(1.5) for _ in range(3)]
    assert stamps[0] == Stamp(FEED, ID, 1, 1500)
    assert [proxy.take(stamp, 2.0) for stamp in stamps] == [True] * 3
    assert [proxy.take(stamp, 2.0) for stamp in stamps] == [False] * 3
    assert viewer.take(proxy.stamp(2.0), 2.0)


def test_a_datagram_that_a_later_one_has_overtaken_is_lost() -> None:
    viewer, proxy = ends()
    early, late = viewer.stamp(1.0), viewer.stamp(1.0)
    assert [proxy.take(stamp, 1.0) for stamp in (late, early)] == [True, False]
    assert not proxy.take(Stamp(FEED, ID, 0, 1000), 1.0)
    assert proxy.take(viewer.stamp(1.0), 1.0)


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
