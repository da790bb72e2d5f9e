"""Reassignments are begun, taken back and listed at the controller."""

from functools import partial

import pytest

from kwire.admin import AdminClient
from kwire.admin.reassignments import OngoingReassignment
from kwire.admin.topic_partition import TopicPartition
from kwire.codec.declaration import Response
from kwire.errors import UnsupportedVersion
from kwire.messages import a45_alter_partition_reassignments as altered
from kwire.messages import a46_list_partition_reassignments as listed
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.net.frames import RequestFrame
from scripted_node import ScriptedNode, api_versions
from scripted_quorum import ScriptedQuorum, scripted_quorum

A0, A1, B0 = (TopicPartition.parse(text) for text in ("a-0", "a-1", "b-0"))
NOTHING_MOVES, NOT_CONTROLLER = 85, 41


def client(quorum: ScriptedQuorum) -> AdminClient:
    return AdminClient(bootstrap_controllers=quorum.addresses(), timeout=60)


def answer(codes: dict[TopicPartition, int], request: RequestFrame) -> Response:
    assert isinstance(request.body, altered.AlterPartitionReassignmentsRequest)
    return altered.AlterPartitionReassignmentsResponse(
        error_message=None,
        responses=[
            altered.ReassignableTopicResponse(
                name=topic.name,
                partitions=[
                    altered.ReassignablePartitionResponse(
                        partition_index=part.partition_index,
                        error_code=codes.get(TopicPartition(topic.name, part.partition_index), 0),
                        error_message=None,
                    )
                    for part in topic.partitions
                ],
            )
            for topic in request.body.topics
        ],
    )


def sent(node: ScriptedNode) -> dict[str, tuple[int, ...] | None]:
    (request,) = node.requests(altered.AlterPartitionReassignmentsRequest)
    assert isinstance(request, altered.AlterPartitionReassignmentsRequest)
    return {
        f"{topic.name}-{part.partition_index}": part.replicas
        for topic in request.topics
        for part in topic.partitions
    }


async def test_moves_are_begun_and_taken_back_in_one_request() -> None:
    async with scripted_quorum(1) as one:
        script = partial(answer, {B0: NOTHING_MOVES})
        one.nodes[0].scripts[altered.AlterPartitionReassignmentsRequest] = script
        async with client(one) as admin:
            outcomes = await admin.alter_partition_reassignments({A0: [1, 2], A1: None, B0: None})
        assert list(outcomes) == [A0, A1]
        assert (
            str(outcomes.failed[B0])
            == "NO_REASSIGNMENT_IN_PROGRESS: the partition is not being moved"
        )
        assert sent(one.nodes[0]) == {"a-0": (1, 2), "a-1": None, "b-0": None}


async def test_more_partitions_than_a_controller_takes_at_once_are_several_requests() -> None:
    """QuorumController.MAX_RECORDS_PER_USER_OP is 10,000: it refuses what goes beyond."""
    async with scripted_quorum(1) as one:
        request = altered.AlterPartitionReassignmentsRequest
        one.nodes[0].scripts[request] = partial(answer, {})
        many = {TopicPartition("a", number): [1, 2] for number in range(10_001)}
        async with client(one) as admin:
            assert len(await admin.alter_partition_reassignments(many)) == len(many)
        sizes = []
        for sent_request in one.nodes[0].requests(request):
            assert isinstance(sent_request, request)
            sizes.append(sum(len(topic.partitions) for topic in sent_request.topics))
        assert sum(sizes) == len(many)
        assert max(sizes) < 10_000


async def test_the_controller_that_leads_now_is_asked() -> None:
    async with scripted_quorum(2) as two:
        stale = altered.AlterPartitionReassignmentsResponse(
            error_code=NOT_CONTROLLER, error_message=None
        )

        def moved(request: RequestFrame) -> Response:
            two.active = two.leading = 1
            return stale

        two.nodes[0].scripts[altered.AlterPartitionReassignmentsRequest] = moved
        two.nodes[1].scripts[altered.AlterPartitionReassignmentsRequest] = partial(answer, {})
        async with client(two) as admin:
            assert list(await admin.alter_partition_reassignments({A0: [1]})) == [A0]
        assert sent(two.nodes[1]) == {"a-0": (1,)}


async def test_a_fixed_factor_is_not_asked_of_nodes_that_would_overlook_it() -> None:
    """KIP-860: version 0 of the request cannot say it."""
    async with scripted_quorum(1) as one:
        old = api_versions(*one.nodes[0].scripts, AlterPartitionReassignments=(0, 0))
        one.nodes[0].scripts[ApiVersionsRequest] = lambda request: old
        async with client(one) as admin:
            with pytest.raises(UnsupportedVersion, match="cannot refuse a change of the repl"):
                await admin.alter_partition_reassignments(
                    {A0: [1]}, allow_replication_factor_change=False
                )


async def test_what_moves_is_listed_in_order_with_its_goal() -> None:
    async with scripted_quorum(1) as one:
        answer = listed.ListPartitionReassignmentsResponse(
            error_message=None,
            topics=[
                listed.OngoingTopicReassignment(
                    name=key.topic,
                    partitions=[
                        listed.OngoingPartitionReassignment(
                            partition_index=key.partition,
                            replicas=(3, 1, 2),
                            adding_replicas=(3,),
                            removing_replicas=(2,),
                        )
                    ],
                )
                for key in (B0, A1)
            ],
        )
        one.nodes[0].scripts[listed.ListPartitionReassignmentsRequest] = lambda request: answer
        async with client(one) as admin:
            ongoing = await admin.list_partition_reassignments()
            await admin.list_partition_reassignments([A1, B0])
        assert list(ongoing) == [A1, B0]
        assert ongoing[A1] == OngoingReassignment(
            replicas=(3, 1, 2), adding_replicas=(3,), removing_replicas=(2,)
        )
        assert ongoing[A1].target == (3, 1)
        every, some = one.nodes[0].requests(listed.ListPartitionReassignmentsRequest)
        assert isinstance(every, listed.ListPartitionReassignmentsRequest)
        assert isinstance(some, listed.ListPartitionReassignmentsRequest)
        assert every.topics is None
        assert [topic.name for topic in some.topics or []] == ["a", "b"]
