"""Latencies by API: quantiles of the latest, long polls told apart."""

from kwire.messages.a01_fetch import FetchRequest, FetchResponse
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.proxy.flows.latencies import APIS, LATEST, Latencies
from tests.support.proxy.flows.decoded_flows import flow


def test_quantiles_are_of_the_latest() -> None:
    latencies = Latencies()
    for number in range(LATEST + 100):
        latencies.add(flow(VoteRequest(), VoteResponse(), 2, latency=number / 1000))
    (vote,) = latencies.apis
    assert (vote.api, vote.count, vote.failed) == ("Vote", LATEST + 100, 0)
    assert round(vote.quantile(0.5), 3) == 0.600
    assert round(vote.quantile(0.99), 3) == 1.090
    assert round(vote.quantile(1.0), 3) == 1.099


def test_what_was_not_answered_has_no_latency_and_errors_are_counted() -> None:
    latencies = Latencies()
    latencies.add(flow(VoteRequest(), None, 2))
    latencies.add(flow(VoteRequest(), VoteResponse(error_code=41), 2))
    (vote,) = latencies.apis
    assert (vote.count, vote.failed) == (1, 1)


def test_a_fetch_is_a_long_poll() -> None:
    latencies = Latencies()
    latencies.add(flow(FetchRequest(max_wait_ms=500), FetchResponse(), 17))
    latencies.add(flow(VoteRequest(), VoteResponse(), 2))
    assert {api.api: api.is_long_poll for api in latencies.apis} == {"Fetch": True, "Vote": False}


def test_made_up_apis_do_not_fill_the_memory() -> None:
    latencies = Latencies()
    for key in range(APIS + 100):
        strange = flow(VoteRequest(), VoteResponse(), 2)
        strange.flow.key = 10_000 + key
        latencies.add(strange)
    assert len(latencies.apis) == APIS
