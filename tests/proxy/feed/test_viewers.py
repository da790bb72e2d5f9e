"""Viewers are remembered while they renew; a session begins once, where its challenge was sent."""

import pytest

from kwire.proxy.feed.datagrams import Stamp
from kwire.proxy.feed.sessions import PATIENCE
from kwire.proxy.feed.viewers import LEASE, VIEWER_LIMIT, Viewer, ViewerAddress, Viewers

HERE, THERE = ("127.0.0.1", 5000), ("127.0.0.1", 5001)
FEED = b"F" * 16


def feed_viewers(secret: bytes = b"secret") -> Viewers:
    return Viewers(FEED, secret)


def answer_to(viewers: Viewers, address: ViewerAddress, now: float = 0.0) -> Stamp:
    """Return the stamp of a Subscribe that uses a challenge."""
    return viewers.challenge(address, now)._replace(number=1)


def begin(viewers: Viewers, address: ViewerAddress, now: float = 0.0) -> Viewer:
    viewer = viewers.begin(address, answer_to(viewers, address, now), now)
    assert viewer is not None
    return viewer


def test_a_session_is_good_for_the_address_of_its_challenge_alone() -> None:
    viewers = feed_viewers()
    stamp = answer_to(viewers, HERE)
    assert viewers.begin(THERE, stamp, 0.0) is None
    assert viewers.begin(HERE, stamp._replace(session=bytes(24)), 0.0) is None
    assert feed_viewers(b"another").begin(HERE, stamp, 0.0) is None
    assert viewers.begin(HERE, stamp, 0.0) is not None


@pytest.mark.parametrize("ends", ["it left", "its lease ended", "another took its address"])
def test_a_session_begins_once_in_a_run(ends: str) -> None:
    viewers = feed_viewers()
    stamp = answer_to(viewers, HERE)
    viewer = viewers.begin(HERE, stamp, 0.0)
    assert viewer is not None
    match ends:
        case "it left":
            viewers.remove(viewer)
        case "its lease ended":
            viewers.expire(LEASE + 1)
        case _:
            begin(viewers, HERE)
    for number in (1, 2, 3):
        assert viewers.begin(HERE, stamp._replace(number=number), 0.0) is None
        assert viewers.find(HERE, stamp.session) is None


def test_a_challenge_of_another_run_or_of_long_ago_begins_nothing() -> None:
    viewers = feed_viewers()
    stamp = answer_to(viewers, HERE)
    assert viewers.begin(HERE, stamp._replace(feed=b"G" * 16), 0.0) is None
    assert viewers.begin(HERE, stamp, PATIENCE + 1) is None
    assert viewers.begin(HERE, stamp, PATIENCE) is not None


def test_challenges_that_nobody_uses_cost_the_others_nothing() -> None:
    viewers = feed_viewers()
    stamp = answer_to(viewers, HERE)
    for _ in range(1000):
        viewers.challenge(THERE, 0.0)
    assert viewers.begin(HERE, stamp, 0.0) is not None


def test_of_two_that_come_at_once_the_earlier_one_may_have_to_ask_again() -> None:
    viewers = feed_viewers()
    here, there = answer_to(viewers, HERE), answer_to(viewers, THERE)
    assert viewers.begin(THERE, there, 0.0) is not None
    assert viewers.begin(HERE, here, 0.0) is None
    assert begin(viewers, HERE) in viewers
    assert len(viewers) == 2


def test_a_viewer_that_does_not_renew_is_forgotten() -> None:
    viewers = feed_viewers()
    here, there = begin(viewers, HERE), begin(viewers, THERE)
    here.until = LEASE + 2
    viewers.expire(LEASE + 1)
    assert list(viewers) == [here]
    assert there not in viewers


def test_there_is_room_for_so_many() -> None:
    viewers = feed_viewers()
    all_of_them = [begin(viewers, ("::1", port)) for port in range(VIEWER_LIMIT)]
    assert not viewers.has_room(HERE)
    assert viewers.has_room(("::1", 3))
    viewers.remove(all_of_them[3])
    assert viewers.has_room(HERE)
    assert len(viewers) == VIEWER_LIMIT - 1
