"""Latencies by API: quantiles of the latest, and long polls that found nothing apart."""

from kwire.apis.a01_fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from kwire.apis.a52_vote import VoteRequest, VoteResponse
from proxy.latencies import LATEST, Latencies
from tests.cli.flows import flow


def test_quantiles_are_of_the_latest() -> None:
    latencies = Latencies()
    for number in range(LATEST + 100):
        latencies.add(flow(VoteRequest(), VoteResponse(), 2, latency=number / 1000))
    (vote,) = latencies.kinds
    assert (vote.api, vote.count, vote.failed) == ("Vote", LATEST + 100, 0)
    assert round(vote.quantile(0.5), 3) == 0.600
    assert round(vote.quantile(0.99), 3) == 1.090
    assert round(vote.quantile(1.0), 3) == 1.099


def test_what_was_not_answered_has_no_latency_and_errors_are_counted() -> None:
    latencies = Latencies()
    latencies.add(flow(VoteRequest(), None, 2))
    latencies.add(flow(VoteRequest(), VoteResponse(error_code=41), 2))
    (vote,) = latencies.kinds
    assert (vote.count, vote.failed) == (1, 1)


def test_a_fetch_that_waited_in_vain_is_a_long_poll() -> None:
    found = PartitionData(high_watermark=1, records=b"x" * 70)
    full = FetchResponse(responses=[FetchableTopicResponse(partitions=[found])])
    latencies = Latencies()
    for waited, answer in ((500, FetchResponse()), (500, full), (0, FetchResponse())):
        latencies.add(flow(FetchRequest(max_wait_ms=waited), answer, 17))
    latencies.add(flow(FetchRequest(max_wait_ms=500), FetchResponse(error_code=6), 17))
    kinds = {one.long_poll: one.count for one in latencies.kinds}
    assert kinds == {True: 1, False: 3}
