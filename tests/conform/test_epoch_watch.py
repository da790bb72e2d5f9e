"""A check that fails is repeated once if the quorum's leader changed meanwhile, and only then."""

from collections.abc import Iterable

import pytest

from kwire.conform.check import CheckSection, scenario
from kwire.conform.result import ConformanceRun
from kwire.conform.runner import run_checks
from kwire.conform.server import Server
from kwire.conform.vocabulary import ConformanceVerdict as V
from kwire.conform.vocabulary import Deviation, guide
from kwire.messages.a55_describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    ReplicaState,
    ResponsePartitionData,
    ResponseTopicData,
)
from kwire.net.frames import RequestFrame
from scripted_node import ScriptedNode
from tests.support.conform.mortal_node import target_of

NOBODY = None


def described(epoch: int | None, voters: int) -> DescribeQuorumResponse:
    """Return an answer of a leader in this epoch, or of a node that follows nobody."""
    partition = ResponsePartitionData(
        partition_index=0,
        error_code=6 if epoch is NOBODY else 0,
        leader_id=1,
        leader_epoch=0 if epoch is NOBODY else epoch,
        current_voters=[ReplicaState(replica_id=number) for number in range(voters)],
    )
    topic = ResponseTopicData(topic_name="__cluster_metadata", partitions=[partition])
    return DescribeQuorumResponse(topics=[topic])


async def run_with(
    failures: Iterable[bool], *epochs: int | None, voters: int = 3
) -> tuple[ConformanceRun, int]:
    """Run one check that fails or not, in a quorum that passes through epochs, the first of them
    when the run begins, the others before and after each run; return how often it ran too."""
    coming, outcomes, runs = list(epochs), iter(failures), 0

    def describe(frame: RequestFrame) -> DescribeQuorumResponse:
        epoch = coming.pop(0) if len(coming) > 1 else coming[0]
        return described(epoch, voters)

    @scenario("It holds.", guide("a test"))
    async def check(server: Server) -> None:
        nonlocal runs
        runs += 1
        if next(outcomes):
            raise Deviation("a topic", "none")

    section = CheckSection("test/watch", "Of a test")
    section[1] = check
    async with ScriptedNode({DescribeQuorumRequest: describe}) as node:
        return await run_checks(list(section), await target_of(node)), runs


async def test_a_failure_is_repeated_where_the_leader_changed() -> None:
    run, runs = await run_with([True, False], 4, 4, 5)
    assert (run.results[0].verdict, runs) == (V.PASS, 2)
    assert "from epoch 4 to epoch 5" in run.results[0].reason


async def test_a_failure_stays_where_nothing_moved() -> None:
    run, runs = await run_with([True, False], 4)
    assert (run.results[0].verdict, run.results[0].reason, runs) == (V.FAIL, "", 1)


async def test_a_leader_that_changed_before_the_check_excuses_nothing() -> None:
    run, runs = await run_with([True, False], 4, 5)
    assert (run.results[0].verdict, runs) == (V.FAIL, 1)


async def test_what_fails_again_fails() -> None:
    run, runs = await run_with([True, True], 4, 4, 5)
    assert (run.results[0].verdict, runs) == (V.FAIL, 2)
    assert "repeated" in run.results[0].reason


async def test_an_election_under_way_is_waited_for() -> None:
    run, runs = await run_with([True, False], 4, NOBODY, NOBODY, 5)
    assert (run.results[0].verdict, runs) == (V.PASS, 2)
    assert "from an election to epoch 5" in run.results[0].reason


@pytest.mark.parametrize("voters", [0, 1])
async def test_a_quorum_without_others_does_not_move(voters: int) -> None:
    run, runs = await run_with([True, False], 4, 5, 6, voters=voters)
    assert (run.results[0].verdict, runs) == (V.FAIL, 1)
