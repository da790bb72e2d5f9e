"""A request that waits too long is late, unless nobody could have answered it meanwhile."""

import pytest

from virtual_nodes.brokers.sent_requests import Interval, SentRequest, SentRequests


@pytest.mark.parametrize(
    ("waited", "excused", "late"),
    [
        (5.5, [], False),
        (6.5, [], True),
        (9.0, [(101.0, 105.0)], False),
        (9.0, [(101.0, 103.0), (102.0, 103.5)], True),
        (9.0, [(90.0, 99.0), (110.0, 120.0)], True),
        (None, [], False),
    ],
    ids=["in time", "late", "stood still", "stood still too short", "at other times", "killed"],
)
def test_the_limit_counts_without_standstills(
    waited: float | None, excused: list[Interval], late: bool
) -> None:
    sent = SentRequests()
    request = SentRequest(name="Envelope", sender="broker-1", node_id=3000, limit=5.0, sent=100.0)
    request.ended = None if waited is None else 100.0 + waited
    sent.all.append(request)
    assert bool(list(sent.late(lambda request: excused))) is late
    request.is_broken = True
    assert list(sent.late(lambda request: [])) == []
