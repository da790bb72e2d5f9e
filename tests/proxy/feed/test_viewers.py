"""Viewers are remembered while they renew, and only where they have shown to be."""

from kwire.proxy.feed.viewers import LEASE, VIEWER_LIMIT, Viewers

HERE, THERE = ("127.0.0.1", 5000), ("127.0.0.1", 5001)


def test_a_cookie_is_good_for_its_address_alone() -> None:
    viewers = Viewers(b"secret")
    cookie = viewers.cookie(HERE)
    assert viewers.proven(HERE, cookie)
    assert not viewers.proven(THERE, cookie)
    assert not viewers.proven(HERE, b"")
    assert not Viewers(b"another").proven(HERE, cookie)


def test_a_viewer_that_does_not_renew_is_forgotten() -> None:
    viewers = Viewers(b"secret")
    assert viewers.renew(HERE, 0.0)[1]
    viewers.renew(THERE, 1.0)
    assert not viewers.renew(HERE, LEASE - 1)[1]
    viewers.expire(LEASE + 1)
    assert [viewer.address for viewer in viewers] == [HERE]


def test_there_is_room_for_so_many() -> None:
    viewers = Viewers(b"secret")
    for port in range(VIEWER_LIMIT):
        assert viewers.renew(("::1", port), 0.0)[0]
    assert viewers.renew(HERE, 0.0) == (None, True)
    viewers.remove(("::1", 3))
    assert viewers.renew(HERE, 0.0)[0]
    assert len(viewers) == VIEWER_LIMIT
