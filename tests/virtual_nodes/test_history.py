"""The checks find what they are there for."""

from random import Random

import pytest

from tests.support.seed import SEED
from virtual_nodes.history import TopicWrite, WriteHistory, WriteOutcome
from virtual_nodes.virtual_network import RETRANSMISSION_TIMEOUTS, VirtualNetwork


def write(ended: float = 11.0, outcome: WriteOutcome = WriteOutcome.ANSWERED) -> TopicWrite:
    return TopicWrite(
        number=0,
        client="client-0",
        node_id=3000,
        names=("a", "b"),
        timeout=5.0,
        sent=10.0,
        ended=ended,
        outcome=outcome,
        errors={"a": 0, "b": 41},
    )


def test_an_acknowledged_topic_that_a_node_does_not_have_is_lost() -> None:
    history = WriteHistory(writes=[write()])
    assert not list(history.lost({3000: {"a"}, 3001: {"a", "b"}}))
    (lost,) = history.lost({3000: {"a"}, 3001: {"b"}})
    assert "not on node 3001: a" in lost


@pytest.mark.parametrize(
    ("ended", "standstills", "late"),
    [
        (15.5, [], False),
        (16.5, [], True),
        (19.5, [(12.0, 16.0)], False),
        (19.5, [(2.0, 6.0)], True),
        (19.5, [(8.0, 12.0)], True),
    ],
)
def test_time_in_which_the_node_stood_still_is_not_counted(
    ended: float, standstills: list[tuple[float, float]], late: bool
) -> None:
    history = WriteHistory(writes=[write(ended=ended)])
    assert bool(list(history.late({3000: standstills}))) is late


@pytest.mark.parametrize(("seconds", "late"), [(0.0, True), (0.4, True), (0.6, False)])
def test_time_in_which_lost_packets_were_sent_again_is_not_counted(
    seconds: float, late: bool
) -> None:
    history = WriteHistory(writes=[write(ended=16.5)])
    assert bool(list(history.late({3000: []}, retransmitted=lambda write: seconds))) is late


def test_packets_of_others_and_of_other_times_do_not_excuse() -> None:
    network = VirtualNetwork(Random(SEED))
    network.faults.loss = 1.0
    network.latency("client-0", "node-3000", at=11.0)
    for others in (("client-0", "node-3000", 9.0), ("client-1", "node-3000", 11.0)):
        network.latency(*others[:2], at=others[2])
    delay = network.retransmitted({"node-3000", "client-0"}, 10.0, 15.0)
    assert delay in RETRANSMISSION_TIMEOUTS


def test_a_request_without_an_answer_is_late() -> None:
    history = WriteHistory(writes=[write(ended=30.0, outcome=WriteOutcome.UNANSWERED)])
    assert len(list(history.late({3000: []}))) == 1
