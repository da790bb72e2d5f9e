"""The ring keeps the latest events within its bytes."""

from kwire.proxy import Flow, Ring
from tests.support.proxy.flows.dialogue_flows import votes


def test_old_events_leave_when_new_ones_need_their_room() -> None:
    flows = votes(10, padding=1000)
    ring = Ring(limit=3 * flows[0].weight)
    for flow in flows:
        ring(flow)
    assert list(ring) == flows[-3:]
    assert (len(ring), ring.dropped) == (3, 7)
    assert ring.weight == sum(flow.weight for flow in flows[-3:])


def test_one_event_is_kept_however_long_it_is() -> None:
    (flow,) = votes(1, padding=20_000)
    ring = Ring(limit=100)
    ring(flow)
    assert list(ring) == [flow]


def test_the_ring_can_be_read_while_it_is_filled() -> None:
    flows = votes(3)
    ring = Ring()
    for flow in flows:
        ring(flow)
    seen: list[Flow] = []
    for event in ring:
        ring(flows[0])
        assert isinstance(event, Flow)
        seen.append(event)
    assert seen == flows
