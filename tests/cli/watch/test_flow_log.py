"""The events that the screen keeps, and those that the filter shows."""

from kwire.cli.watch.screen.flow_log import FlowLog
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from kwire.proxy import Event, Notice, NoticeKind
from kwire.proxy.feed.source import FeedEvent
from kwire.proxy.flows.language import parse
from tests.support.proxy.flows.decoded_flows import AT, connection, flow

VOTE = flow(VoteRequest(), VoteResponse(), 2).flow
QUORUM = flow(DescribeQuorumRequest(), DescribeQuorumResponse(), 2).flow
NOTICE = Notice(connection=connection(), at=AT, kind=NoticeKind.OPENED, text="from here")


def numbers(log: FlowLog) -> list[int]:
    return [entry.number for entry in log.visible]


def filled() -> FlowLog:
    log = FlowLog()
    passed: list[Event] = [NOTICE, VOTE, QUORUM, VOTE]
    for number, event in enumerate(passed):
        log.add(FeedEvent(number, event))
    return log


def test_a_filter_shows_flows_that_were_and_that_come() -> None:
    log = filled()
    assert numbers(log) == [0, 1, 2, 3]
    log.filter(parse("~api Vote"))
    log.add(FeedEvent(4, QUORUM))
    log.add(FeedEvent(5, VOTE))
    assert numbers(log) == [1, 3, 5]
    log.filter(None)
    assert numbers(log) == [0, 1, 2, 3, 4, 5]


def test_a_held_request_becomes_its_flow_in_its_place() -> None:
    log = FlowLog()
    held = log.add(FeedEvent(7, VOTE, held=True))
    log.add(FeedEvent(8, QUORUM))
    assert log.add(FeedEvent(7, VOTE)) is held
    assert not held.held
    assert numbers(log) == [7, 8]


def test_what_the_proxy_holds_no_more_is_not_held() -> None:
    log = FlowLog()
    first, second = (log.add(FeedEvent(number, VOTE, held=True)) for number in (1, 2))
    log.settle((2,))
    assert (first.held, second.held) == (False, True)


def test_the_oldest_leave_and_say_how_many() -> None:
    log = FlowLog(most=20)
    log.filter(parse("~api Vote"))
    for number in range(25):
        log.add(FeedEvent(number, VOTE if number % 2 else QUORUM))
    assert len(log) == 19
    assert numbers(log) == list(range(7, 25, 2))
    assert log.gone == 3


def test_clear_keeps_what_is_held() -> None:
    log = filled()
    log.add(FeedEvent(9, VOTE, held=True))
    log.clear()
    assert numbers(log) == [9]
