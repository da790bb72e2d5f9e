"""Events as records that fit a datagram: what is cut is said to be, and texts stay short."""

import msgspec
import pytest

from kwire.messages.a03_metadata import MetadataRequest, MetadataResponse, MetadataResponseTopic
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.proxy import DecodedFlow, Flow, Notice, NoticeKind
from kwire.proxy.feed.datagram_records import (
    ROOM,
    event_of_records,
    records_of_event,
    shorten_frames,
)
from kwire.proxy.feed.datagrams import (
    LIMIT,
    BadDatagram,
    Seen,
    ShownEvent,
    Stamp,
    encode,
    encode_array,
    encode_shown_event,
)
from tests.support.proxy.flows.decoded_flows import AT, connection, flow

TOPICS = [MetadataResponseTopic(name=f"topic-{number}") for number in range(2000)]


def back(shown: Flow | Notice) -> Flow | Notice:
    """An event after its journey in a datagram."""
    records = shorten_frames(records_of_event(shown, 7, "feed"))
    event = encode_shown_event(ShownEvent(records=records, held=True))
    assert len(encode(Seen(sequence=1 << 40, events=(event,)), Stamp(), b"")) <= LIMIT
    number, came = event_of_records(records)
    assert number == 7
    return came


def test_a_small_flow_arrives_whole() -> None:
    sent = flow(VoteRequest(cluster_id="x"), VoteResponse(), 2).flow
    came = back(sent)
    assert isinstance(came, Flow)
    assert came.request_copy == sent.request_copy
    assert came.response_copy == sent.response_copy
    assert came.latency == pytest.approx(sent.latency)
    assert (came.at, came.connection.peer, came.connection.node_id) == (AT, 1, 3000)


def test_a_long_answer_is_cut_and_still_says_how_long_it_was() -> None:
    sent = flow(MetadataRequest(), MetadataResponse(topics=TOPICS), 12).flow
    came = back(sent)
    assert isinstance(came, Flow)
    assert came.request_copy == sent.request_copy
    assert came.response_size == sent.response_size
    assert came.response_copy
    assert sent.response_copy
    assert sent.response_copy.startswith(came.response_copy)
    (problem,) = DecodedFlow(came).problems
    assert "bytes were copied" in problem
    assert ROOM - 8 < len(encode_array(shorten_frames(records_of_event(sent, 7, "feed")))) <= ROOM


def test_two_long_frames_share_the_room() -> None:
    sent = flow(VoteRequest(cluster_id="x" * 9000), VoteResponse(), 2).flow
    sent.response_copy, sent.response_size = bytes(9000), 9000
    came = back(sent)
    assert isinstance(came, Flow)
    assert came.request_copy
    assert came.response_copy
    assert abs(len(came.request_copy) - len(came.response_copy)) <= 1


def test_a_peer_cannot_fill_a_datagram_with_its_name_nor_break_it() -> None:
    sent = flow(VoteRequest(), VoteResponse(), 2).flow
    sent.client_id = "\udcff" * 30000
    sent.problems = [f"{'p' * 5000}"] * 50
    sent.notes = ("\x1b[2J" * 5000,) * 50
    came = back(sent)
    assert isinstance(came, Flow)
    assert came.client_id
    assert came.client_id.isprintable()
    assert len(came.problems) == len(came.notes) == 4


def test_a_notice_arrives() -> None:
    sent = Notice(connection=connection(), at=AT, kind=NoticeKind.REFUSED, text="no route")
    came = back(sent)
    assert isinstance(came, Notice)
    assert (came.kind, came.text) == (NoticeKind.REFUSED, "no route")


def test_no_secret_leaves_the_proxy() -> None:
    secret = b"\x00alice\x00sesame"
    sent = flow(SaslAuthenticateRequest(auth_bytes=secret), SaslAuthenticateResponse(), 2).flow
    assert secret in (sent.request_copy or b"")
    assert b"sesame" not in encode_array(records_of_event(sent, 7, "feed"))


def test_records_that_are_no_event_are_refused() -> None:
    (record, answer) = records_of_event(flow(VoteRequest(), VoteResponse(), 2).flow, 7, "feed")
    wrong = (
        (),
        (record, record),
        (msgspec.structs.replace(record, at_us=1 << 60),),
        (msgspec.structs.replace(record, at_us=-1), answer),
    )
    for records in wrong:
        with pytest.raises(BadDatagram):
            event_of_records(records)
