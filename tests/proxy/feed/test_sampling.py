"""A viewer that samples gets each error, some of each API, and the number of the others."""

from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest, DescribeQuorumResponse
from kwire.proxy import Flow, Notice, NoticeKind, Outcome
from kwire.proxy.feed.receiver import Receiver
from kwire.proxy.feed.sampling import BURST, RATE, WAITING, Sampler
from tests.support.eventually import eventually
from tests.support.proxy.feed.voting_traffic import ShownEvents, traffic, viewer
from tests.support.proxy.flows.decoded_flows import AT, connection, flow

MANY = int(BURST) * 2


def vote(error: int = 0) -> Flow:
    return flow(VoteRequest(), VoteResponse(error_code=error), 2).flow


def exhausted() -> Sampler:
    sampler = Sampler()
    assert sum(sampler.takes(vote(), 50.0, 0) for _ in range(MANY)) == BURST + 1
    return sampler


def test_errors_losses_notices_and_rare_ones_are_in_the_sample() -> None:
    sampler = exhausted()
    lost = flow(VoteRequest(), None, 2).flow
    assert lost.outcome is Outcome.LOST
    unreadable = vote()
    unreadable.response_copy = bytes(2)
    notice = Notice(connection=connection(), at=AT, kind=NoticeKind.REFUSED, text="no")
    rare = flow(DescribeQuorumRequest(), DescribeQuorumResponse(), 2).flow
    taken = [sampler.takes(event, 50.0, 0) for event in (vote(41), lost, unreadable, notice, rare)]
    assert taken == [True] * 5
    assert [sampler.takes(event, 50.0, 0) for event in (vote(), rare)] == [False, False]


def test_after_a_pause_all_are_in_it_again() -> None:
    sampler = exhausted()
    assert sum(sampler.takes(vote(), 50.2, 0) for _ in range(MANY)) == 0.2 * RATE + 1
    assert all(sampler.takes(vote(), 100 + number / RATE, 0) for number in range(MANY))


def test_where_too_many_wait_to_be_sent_errors_alone_are_in_it() -> None:
    sampler = Sampler()
    assert [sampler.takes(vote(), 50.0, waiting) for waiting in (WAITING - 1, WAITING)] == [
        True
    ] * 2
    assert [sampler.takes(event, 50.0, WAITING) for event in (vote(), vote(41))] == [False, True]


async def test_a_viewer_that_samples_is_told_what_was_left_out_and_another_gets_all() -> None:
    sample, everything = ShownEvents(), ShownEvents()
    async with traffic() as run:
        sampling = Receiver(run.feed.address, sample.append, samples=True)
        async with sampling, viewer(run.feed.address, everything) as whole:
            await eventually(lambda: sampling.status is not None and whole.status is not None)
            for number in range(MANY):
                run.feed(vote(error=41 if number % 100 == 0 else 0))
            await eventually(lambda: len(everything) + whole.lost == MANY)
            await eventually(lambda: sampling.left_out > 0)
            await eventually(lambda: len(sample) + sampling.left_out + sampling.lost == MANY)
            assert whole.left_out == 0
    failed = [event for event in sample if b"\x00\x29" in (event.event.response_copy or b"")]  # type: ignore[union-attr]
    assert len(failed) + sampling.lost >= MANY // 100
