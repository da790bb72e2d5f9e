"""A flow is marked by the filter that changed it: --rewrite-endpoints or another one."""

import pytest

from kwire.codec.declaration import Request, Response
from kwire.messages.a03_metadata import MetadataRequest, MetadataResponse, MetadataResponseBroker
from kwire.messages.a18_api_versions import ApiVersion, ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a58_envelope import EnvelopeRequest, EnvelopeResponse
from kwire.messages.a62_broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Listener,
)
from kwire.proxy import Call, Filter, Filters
from kwire.proxy.addresses.rewrite_endpoints import RewriteEndpoints
from kwire.proxy.flows.flow import Effect
from tests.support.proxy.addresses.address_books import InstantListeners
from tests.support.proxy.dialogue import answered, asked
from tests.support.proxy.filter_dialogue import HeldDialogue

REGISTER = BrokerRegistrationRequest(
    broker_id=4, listeners=[Listener(name="L", host="node", port=9092)]
)
BROKERS = [MetadataResponseBroker(node_id=4, host="node", port=9092)]
REWRITTEN, CHANGED = Effect.REWRITTEN, Effect.CHANGED
BOTH = {REWRITTEN, CHANGED}


class Look(Filter):
    """Sees everything and changes nothing."""

    def on_request(self, request: Request, call: Call) -> None:
        pass

    def on_response(self, response: Response, call: Call) -> None:
        pass


class Change(Filter):
    """Changes something that is no address."""

    def on_broker_registration_request(
        self, request: BrokerRegistrationRequest, call: Call
    ) -> None:
        request.rack = "here"

    def on_metadata_response(self, response: MetadataResponse, call: Call) -> None:
        response.cluster_id = "another"


def effects(*filters: Filter, ask: Request, answer: Response, version: int) -> set[Effect]:
    """Return the marks of a flow behind these filters and the one that rewrites."""
    rewrite = RewriteEndpoints(InstantListeners().book)
    dialogue = HeldDialogue(filters=Filters([*filters, rewrite]))
    dialogue.ask(asked(ask, version, 1))
    dialogue.answer(answered(answer, version, 1))
    (flow,) = dialogue.flows
    assert flow.problems == []
    notes = [note for note in flow.notes if "changed by a filter" in note]
    assert bool(notes) is (CHANGED in flow.effects)
    return set(flow.effects) - {Effect.HELD}


@pytest.mark.parametrize(
    ("filters", "found"),
    [([], {REWRITTEN}), ([Look()], {REWRITTEN}), ([Change()], BOTH), ([Change(), Look()], BOTH)],
)
def test_a_request_and_a_response_that_are_rewritten_are_told_apart(
    filters: list[Filter], found: set[Effect]
) -> None:
    response = MetadataResponse(brokers=BROKERS)
    assert effects(*filters, ask=MetadataRequest(), answer=response, version=12) == found
    answer = BrokerRegistrationResponse()
    assert effects(*filters, ask=REGISTER, answer=answer, version=4) == found


@pytest.mark.parametrize(("filters", "found"), [([], set()), ([Change()], {CHANGED})])
def test_what_has_no_address_is_not_rewritten(filters: list[Filter], found: set[Effect]) -> None:
    ask, answer = MetadataRequest(), MetadataResponse()
    assert effects(*filters, ask=ask, answer=answer, version=12) == found


def test_versions_that_are_limited_are_rewritten() -> None:
    for last, found in ((99, {REWRITTEN}), (1, set())):
        offered = ApiVersionsResponse(api_keys=[ApiVersion(api_key=3, max_version=last)])
        assert effects(ask=ApiVersionsRequest(), answer=offered, version=3) == found


@pytest.mark.parametrize(
    ("filters", "found"), [([], {REWRITTEN}), ([Look()], {REWRITTEN}), ([Change()], BOTH)]
)
def test_so_is_what_an_envelope_brings(filters: list[Filter], found: set[Effect]) -> None:
    brokers = MetadataResponse(brokers=BROKERS)
    for ask, answer, version in (
        (REGISTER, BrokerRegistrationResponse(), 4),
        (MetadataRequest(), brokers, 12),
    ):
        inner = asked(ask, version, 7)[4:], answered(answer, version, 7)[4:]
        request = EnvelopeRequest(request_data=inner[0], client_host_address=b"\x7f\0\0\1")
        response = EnvelopeResponse(response_data=inner[1])
        assert effects(*filters, ask=request, answer=response, version=0) == found
