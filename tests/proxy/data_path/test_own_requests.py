"""The ids of filters' own requests are none that the client uses, and are found at once."""

from struct import pack
from time import process_time

from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.net.frames import request_head
from kwire.proxy.data_path.own_requests import PairingWithOwn
from kwire.proxy.data_path.pairing import PENDING_LIMIT
from kwire.proxy.filters.filter import Ask, Call, Filter
from kwire.proxy.flows.interest import Direction
from tests.support.proxy.dialogue import answered, asked
from tests.support.proxy.filter_dialogue import through

LOWEST = -(1 << 31)


def test_a_client_that_uses_up_the_ids_of_filters_costs_no_time() -> None:
    dialogue = through()
    many = (pack(">ihhih", 10, 18, 0, LOWEST + n, -1) for n in range(PENDING_LIMIT - 1))
    dialogue.ask(b"".join(many))
    pairing, held = dialogue.pairing, dialogue.pairing.first
    assert isinstance(pairing, PairingWithOwn)
    assert held is not None
    begin = process_time()
    frame = pairing.begin_own(Ask(ApiVersionsRequest(), 0), held, 0.0, print)
    assert process_time() - begin < 1.0  # it took ten seconds
    assert request_head(frame[4:]).correlation_id == LOWEST + PENDING_LIMIT - 1


class _Asking(Filter):
    async def on_vote_response(self, response: VoteResponse, call: Call) -> None:
        await call.ask(ApiVersionsRequest(), 0)


def test_an_answer_that_no_filter_waits_for_any_more_decides_nothing() -> None:
    dialogue = through(_Asking())
    dialogue.ask(asked(VoteRequest(), 2, 1))
    dialogue.answer(answered(VoteResponse(), 2, 1))
    dialogue.ask(asked(ApiVersionsRequest(), 0, LOWEST))
    dialogue.runner.output_ended(Direction.REQUEST)  # the client has sent its last byte
    dialogue.answer(answered(ApiVersionsResponse(), 0, LOWEST))
    assert [flow.client_id for flow in dialogue.flows][-1] == "me"  # paired with the client's
    assert not dialogue.connection.paired
