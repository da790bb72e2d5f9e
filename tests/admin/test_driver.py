"""One driver for every operation: keys to nodes, all nodes at once, again only what may be."""

import asyncio
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from typing import cast

import pytest

from kwire.admin import AdminClient, registry
from kwire.admin.cluster_client import ClusterClient
from kwire.admin.driver import IN_FLIGHT
from kwire.admin.errors import MissingFromAnswer, NodeNotFound, OutcomeUnknown, ReadOnly, refusal
from kwire.admin.operation import Operation, OperationCall
from kwire.admin.outcomes import Outcomes
from kwire.admin.topic_partition import TopicPartition
from kwire.admin.topics import NewTopic
from kwire.codec.declaration import Response
from kwire.errors import (
    AnswerLost,
    BrokerError,
    ConnectionFailed,
    KwireError,
    UnsupportedEndpointType,
    UnsupportedVersion,
)
from kwire.messages import a02_list_offsets as offsets
from kwire.messages import a03_metadata as metadata
from kwire.messages import a10_find_coordinator as coordinator
from kwire.messages import a16_list_groups as listing
from kwire.messages import a19_create_topics as creation
from kwire.messages import a42_delete_groups as deletion
from kwire.net.frames import RequestFrame
from scripted_node import HANG_UP, SILENCE, Raw, Script
from tests.support.admin.scripted_brokers import ScriptedBrokers, scripted_brokers
from tests.support.virtual_time import in_virtual_time

PATIENCE = 60.0


def always(answer: Response, request: RequestFrame) -> Response:
    """Answer every request alike."""
    return answer


DELETE_GROUPS: Operation[str, None, None] = Operation(
    row=registry.DELETE_GROUPS,
    build=lambda call: deletion.DeleteGroupsRequest(groups_names=call.keys),
    parse=lambda response, call: (
        (group.group_id, refusal(group.error_code)) for group in response.results
    ),
)


def offset_request(call: OperationCall[TopicPartition, int]) -> offsets.ListOffsetsRequest:
    topics = [
        offsets.ListOffsetsTopic(
            name=topic,
            partitions=[
                offsets.ListOffsetsPartition(
                    partition_index=key.partition, timestamp=call.arguments
                )
                for key in keys
            ],
        )
        for topic, keys in groupby(sorted(call.keys), key=lambda key: key.topic)
    ]
    return offsets.ListOffsetsRequest(replica_id=-1, topics=topics)


def offsets_of(
    response: offsets.ListOffsetsResponse, call: OperationCall[TopicPartition, int]
) -> Iterator[tuple[TopicPartition, int | KwireError]]:
    for topic in response.topics:
        for partition in topic.partitions:
            key = TopicPartition(topic.name, partition.partition_index)
            yield key, refusal(partition.error_code) or partition.offset


LIST_OFFSETS = Operation(row=registry.LIST_OFFSETS, build=offset_request, parse=offsets_of)


def deleted(*codes: int) -> Script:
    """Answer DeleteGroups with these codes, one a request, then with success."""
    left = list(codes)

    def script(request: RequestFrame) -> Response:
        code = left.pop(0) if left else 0
        names = cast(deletion.DeleteGroupsRequest, request.body).groups_names
        return deletion.DeleteGroupsResponse(
            results=[
                deletion.DeletableGroupResult(group_id=name, error_code=code) for name in names
            ]
        )

    return script


def offset_answer(offset: int, code: Callable[[str, int], int] = lambda *_: 0) -> Script:
    """Answer ListOffsets for every partition asked, with a code by topic and partition."""

    def script(request: RequestFrame) -> Response:
        topics = cast(offsets.ListOffsetsRequest, request.body).topics
        return offsets.ListOffsetsResponse(
            topics=[
                offsets.ListOffsetsTopicResponse(
                    name=topic.name,
                    partitions=[
                        offsets.ListOffsetsPartitionResponse(
                            partition_index=partition.partition_index,
                            offset=offset,
                            error_code=code(topic.name, partition.partition_index),
                        )
                        for partition in topic.partitions
                    ],
                )
                for topic in topics
            ]
        )

    return script


def client(brokers: ScriptedBrokers, timeout: float = PATIENCE, **options: bool) -> ClusterClient:
    return ClusterClient(brokers.addresses, timeout=timeout, **options)  # type: ignore[arg-type]


async def delete(admin: ClusterClient, *groups: str) -> Outcomes[str, None]:
    return await admin.driver.run(DELETE_GROUPS, groups, None)


async def latest(admin: ClusterClient, *keys: TopicPartition) -> Outcomes[TopicPartition, int]:
    return await admin.driver.run(LIST_OFFSETS, keys, -1)


async def test_keys_go_to_their_own_nodes_in_one_request_each() -> None:
    async with scripted_brokers(3) as three:
        three.coordinators = {"a": 1, "b": 2, "c": 1}
        for node in three.nodes:
            node.scripts[deletion.DeleteGroupsRequest] = deleted()
        async with client(three) as admin:
            assert dict(await delete(admin, "a", "b", "c")) == {"a": None, "b": None, "c": None}
        asked = [
            [
                cast(deletion.DeleteGroupsRequest, request).groups_names
                for request in node.requests(deletion.DeleteGroupsRequest)
            ]
            for node in three.nodes
        ]
        assert asked == [[], [("a", "c")], [("b",)]]


async def test_what_was_looked_up_is_remembered() -> None:
    async with scripted_brokers(2) as two:
        two.leaders = {("t", 0): 0, ("t", 1): 1}
        for node in two.nodes:
            node.scripts[offsets.ListOffsetsRequest] = offset_answer(7)
        keys = [TopicPartition("t", 0), TopicPartition("t", 1)]
        async with client(two) as admin:
            for _ in range(3):
                assert dict(await latest(admin, *keys)) == dict.fromkeys(keys, 7)
        (lookup,) = (r for node in two.nodes for r in node.requests(metadata.MetadataRequest))
        # As PartitionLeaderStrategy.buildRequest: a topic that is asked for must not come to be.
        assert not cast(metadata.MetadataRequest, lookup).allow_auto_topic_creation


@in_virtual_time
async def test_a_leader_that_moved_is_looked_up_again_and_the_others_are_kept() -> None:
    async with scripted_brokers(2) as two:
        two.leaders = {("t", 0): 0, ("t", 1): 0}

        def refuse_and_move(topic: str, partition: int) -> int:
            if partition == 0:
                return 0
            two.leaders["t", 1] = 1
            return 6

        two.nodes[0].scripts[offsets.ListOffsetsRequest] = offset_answer(10, refuse_and_move)
        two.nodes[1].scripts[offsets.ListOffsetsRequest] = offset_answer(11)
        kept, moved = TopicPartition("t", 0), TopicPartition("t", 1)
        async with client(two) as admin:
            assert dict(await latest(admin, kept, moved)) == {kept: 10, moved: 11}
        (again,) = two.nodes[1].requests(offsets.ListOffsetsRequest)
        (topic,) = cast(offsets.ListOffsetsRequest, again).topics
        assert [partition.partition_index for partition in topic.partitions] == [1]


@pytest.mark.parametrize("code", [14, 15, 16, 51])
@in_virtual_time
async def test_a_coordinator_that_moves_or_loads_is_asked_again(code: int) -> None:
    async with scripted_brokers(1) as one:
        one.coordinators = {"a": 0}
        one.nodes[0].scripts[deletion.DeleteGroupsRequest] = deleted(code, code)
        async with client(one) as admin:
            assert dict(await delete(admin, "a")) == {"a": None}
        lookups = len(one.nodes[0].requests(coordinator.FindCoordinatorRequest))
        assert lookups == (3 if code in (15, 16) else 1)


async def test_a_code_that_is_final_is_the_key_s_error_and_leaves_its_siblings_done() -> None:
    async with scripted_brokers(2) as two:
        two.coordinators = {"a": 0, "b": 1}
        two.nodes[0].scripts[deletion.DeleteGroupsRequest] = deleted(68)
        two.nodes[1].scripts[deletion.DeleteGroupsRequest] = deleted()
        async with client(two) as admin:
            outcomes = await delete(admin, "a", "b")
        assert dict(outcomes) == {"b": None}
        assert (
            str(outcomes.failed["a"]) == "NON_EMPTY_GROUP: the group has members: stop them first"
        )


@pytest.mark.parametrize("silence", [HANG_UP, SILENCE])
@in_virtual_time
async def test_a_change_whose_answer_is_lost_is_unknown_and_not_repeated(silence: Raw) -> None:
    async with scripted_brokers(2) as two:
        two.coordinators = {"a": 0, "b": 1}
        two.nodes[0].scripts[deletion.DeleteGroupsRequest] = lambda request: silence
        two.nodes[1].scripts[deletion.DeleteGroupsRequest] = deleted()
        async with client(two, timeout=0.5) as admin:
            outcomes = await delete(admin, "a", "b")
        assert dict(outcomes) == {"b": None}
        assert list(outcomes.unknown) == ["a"]
        assert len(two.nodes[0].requests(deletion.DeleteGroupsRequest)) == 1


@in_virtual_time
async def test_a_question_whose_answer_is_lost_is_asked_again() -> None:
    async with scripted_brokers(1) as one:
        one.leaders = {("t", 0): 0}
        answers: list[Script] = [lambda request: HANG_UP, offset_answer(3)]
        one.nodes[0].scripts[offsets.ListOffsetsRequest] = lambda request: answers.pop(0)(request)
        key = TopicPartition("t", 0)
        async with client(one) as admin:
            assert dict(await latest(admin, key)) == {key: 3}


async def test_a_key_that_the_answer_leaves_out_has_failed() -> None:
    async with scripted_brokers(1) as one:
        one.leaders = {("t", 0): 0, ("t", 1): 0}

        def only_the_first(request: RequestFrame) -> Response:
            answer = cast(offsets.ListOffsetsResponse, offset_answer(5)(request))
            del answer.topics[0].partitions[1]
            return answer

        one.nodes[0].scripts[offsets.ListOffsetsRequest] = only_the_first
        first, second = TopicPartition("t", 0), TopicPartition("t", 1)
        async with client(one) as admin:
            outcomes = await latest(admin, first, second)
        assert dict(outcomes) == {first: 5}
        assert isinstance(outcomes.failed[second], MissingFromAnswer)


async def test_an_answer_that_leaves_out_a_change_leaves_it_unknown() -> None:
    async with scripted_brokers(1) as one:
        one.coordinators = {"a": 0}
        one.nodes[0].scripts[deletion.DeleteGroupsRequest] = lambda request: (
            deletion.DeleteGroupsResponse()
        )
        async with client(one) as admin:
            assert list((await delete(admin, "a")).unknown) == ["a"]


@in_virtual_time
async def test_a_partition_that_does_not_exist_is_final_after_about_a_second() -> None:
    async with scripted_brokers(1) as one:
        one.nodes[0].scripts[offsets.ListOffsetsRequest] = offset_answer(0)
        key = TopicPartition("nowhere", 0)
        begin = time.monotonic()
        async with client(one) as admin:
            outcomes = await latest(admin, key)
        assert (
            str(outcomes.failed[key])
            == "UNKNOWN_TOPIC_OR_PARTITION: there is no such topic or partition"
        )
        assert 1 <= time.monotonic() - begin < 2


@in_virtual_time
async def test_a_topic_that_was_just_created_is_waited_for() -> None:
    async with scripted_brokers(1) as one:
        one.nodes[0].scripts[offsets.ListOffsetsRequest] = offset_answer(0)
        answer = one.nodes[0].scripts[metadata.MetadataRequest]

        def late(request: RequestFrame) -> Response | Raw:
            response = answer(request)
            one.leaders = {("new", 0): 0}
            return response

        one.nodes[0].scripts[metadata.MetadataRequest] = late
        key = TopicPartition("new", 0)
        async with client(one) as admin:
            assert dict(await latest(admin, key)) == {key: 0}


@in_virtual_time
async def test_a_dead_leader_costs_one_attempt_until_another_is_elected() -> None:
    async with scripted_brokers(2) as two:
        two.leaders = {("t", 0): 1}
        two.nodes[0].scripts[offsets.ListOffsetsRequest] = offset_answer(9)
        await two.nodes[1].stop()
        key = TopicPartition("t", 0)
        answer = two.nodes[0].scripts[metadata.MetadataRequest]

        def elect_afterwards(request: RequestFrame) -> Response | Raw:
            response = answer(request)
            two.leaders["t", 0] = 0
            return response

        two.nodes[0].scripts[metadata.MetadataRequest] = elect_afterwards
        async with ClusterClient(two.addresses[:1], timeout=PATIENCE) as admin:
            assert dict(await latest(admin, key)) == {key: 9}


@in_virtual_time
async def test_when_time_is_up_each_key_has_its_latest_error() -> None:
    async with scripted_brokers(1) as one:
        one.coordinators = {"a": 0}
        one.nodes[0].scripts[deletion.DeleteGroupsRequest] = deleted()
        async with client(one, timeout=0.3) as admin:
            outcomes = await delete(admin, "a", "b")
        assert dict(outcomes) == {"a": None}
        assert (
            str(outcomes.failed["b"])
            == "COORDINATOR_NOT_AVAILABLE: the coordinator is not available now"
        )


@in_virtual_time
async def test_a_whole_cluster_that_is_gone_is_one_error_not_one_for_each_key() -> None:
    async with scripted_brokers(1) as one:
        await one.nodes[0].stop()
        async with client(one) as admin:
            with pytest.raises(ConnectionFailed, match="nothing listens there"):
                await delete(admin, "a", "b")


async def test_an_api_that_the_nodes_do_not_have_is_one_error() -> None:
    async with scripted_brokers(1) as one:
        one.coordinators = {"a": 0}
        async with client(one) as admin:
            with pytest.raises(UnsupportedVersion, match="does not offer DeleteGroups"):
                await delete(admin, "a")


async def test_every_broker_is_asked_and_one_error_hides_no_other_answer() -> None:
    operation: Operation[int, None, int] = Operation(
        row=registry.LIST_GROUPS,
        build=lambda call: listing.ListGroupsRequest(),
        parse=lambda response, call: [
            (call.keys[0], refusal(response.error_code) or len(response.groups))
        ],
    )
    async with scripted_brokers(3) as three:
        for node, code in zip(three.nodes, (0, 29, 0), strict=True):
            answer = listing.ListGroupsResponse(error_code=code)
            node.scripts[listing.ListGroupsRequest] = partial(always, answer)
        async with client(three) as admin:
            outcomes = await admin.driver.run_everywhere(operation, None)
        assert dict(outcomes) == {0: 0, 2: 0}
        assert (
            str(outcomes.failed[1])
            == "TOPIC_AUTHORIZATION_FAILED: the client has no right to the topic"
        )


async def test_a_node_that_the_cluster_does_not_have_is_named() -> None:
    operation: Operation[int, None, int] = Operation(
        row=registry.DESCRIBE_LOG_DIRS,
        build=lambda call: listing.ListGroupsRequest(),
        parse=lambda response, call: [(call.keys[0], 1)],
    )
    async with scripted_brokers(2) as two:
        for node in two.nodes:
            node.scripts[listing.ListGroupsRequest] = lambda request: listing.ListGroupsResponse()
        async with client(two) as admin:
            outcomes = await admin.driver.run(operation, [1, 7], None)
        assert dict(outcomes) == {1: 1}
        assert isinstance(outcomes.failed[7], NodeNotFound)
        assert str(outcomes.failed[7]) == "the cluster has no broker 7, only 0, 1"


async def test_a_broker_that_is_not_the_controller_of_a_zookeeper_cluster_is_not_asked() -> None:
    async with scripted_brokers(3) as three:
        three.controller_id = 2
        for node in three.nodes:
            node.scripts[creation.CreateTopicsRequest] = lambda request: (
                creation.CreateTopicsResponse(topics=[creation.CreatableTopicResult(name="t")])
            )
        async with AdminClient(three.addresses[:1], timeout=PATIENCE) as admin:
            (await admin.create_topics([NewTopic(name="t")])).all()
        asked = [len(node.requests(creation.CreateTopicsRequest)) for node in three.nodes]
        assert asked == [0, 0, 1]


async def test_a_read_only_client_sends_no_change() -> None:
    async with scripted_brokers(1) as one:
        async with client(one, read_only=True) as admin:
            with pytest.raises(ReadOnly, match="DeleteGroups changes the cluster"):
                await delete(admin, "a")
        assert one.nodes[0].asked == []


async def test_what_controllers_do_not_serve_is_refused_before_a_byte() -> None:
    async with scripted_brokers(1) as one:
        async with ClusterClient(bootstrap_controllers=one.addresses) as admin:
            with pytest.raises(UnsupportedEndpointType, match="do not serve DeleteGroups"):
                await delete(admin, "a")
        assert one.nodes[0].asked == []


async def test_what_kip_919_does_not_list_needs_a_word() -> None:
    async with scripted_brokers(1) as one:
        async with AdminClient(bootstrap_controllers=one.addresses) as admin:
            with pytest.raises(UnsupportedEndpointType, match="or `allow_unlisted=True`"):
                await admin.create_topics([NewTopic(name="t")])
        assert one.nodes[0].asked == []


async def test_a_node_that_times_out_with_a_change_leaves_it_unknown() -> None:
    async with scripted_brokers(1) as one:
        one.nodes[0].scripts[creation.CreateTopicsRequest] = lambda request: (
            creation.CreateTopicsResponse(
                topics=[creation.CreatableTopicResult(name="t", error_code=7)]
            )
        )
        async with AdminClient(one.addresses) as admin:
            outcomes = await admin.create_topics([NewTopic(name="t")])
        assert isinstance(outcomes.failed["t"], OutcomeUnknown)
        assert len(one.nodes[0].requests(creation.CreateTopicsRequest)) == 1


async def test_a_thousand_operations_at_once_share_a_connection_and_wait_their_turn() -> None:
    async with scripted_brokers(1) as one:
        one.leaders = {("t", 0): 0}
        one.nodes[0].scripts[offsets.ListOffsetsRequest] = offset_answer(1)
        key = TopicPartition("t", 0)
        most = 0
        async with client(one) as admin:
            await latest(admin, key)
            (connection,) = admin._connections._connections.values()
            asking = asyncio.gather(*(latest(admin, key) for _ in range(1000)))
            while not asking.done():
                most = max(most, len(connection._link._waiting))
                await asyncio.sleep(0)
            assert [dict(outcomes) for outcomes in await asking] == [{key: 1}] * 1000
        assert most <= IN_FLIGHT
        await one.nodes[0].deserted()


@in_virtual_time
async def test_a_thousand_first_operations_at_once_open_one_connection() -> None:
    """Before anything is known: each has to learn of the cluster and of the leader."""
    async with scripted_brokers(1) as one:
        one.leaders = {(f"t{number}", 0): 0 for number in range(1000)}
        one.nodes[0].scripts[offsets.ListOffsetsRequest] = offset_answer(1)
        keys = [TopicPartition(topic, number) for topic, number in one.leaders]
        most, opened = 0, set()
        async with client(one) as admin:
            asking = asyncio.gather(*(latest(admin, key) for key in keys))
            while not asking.done():
                for connection in admin._connections._connections.values():
                    opened.add(connection)
                    most = max(most, len(connection._link._waiting))
                await asyncio.sleep(0)
            assert [dict(outcomes) for outcomes in await asking] == [{key: 1} for key in keys]
        assert len(opened) == 1
        # Those that ask for a leader have places of their own.
        assert most <= 2 * IN_FLIGHT
        await one.nodes[0].deserted()


@in_virtual_time
async def test_a_node_that_never_answers_hits_the_limit_of_one_request() -> None:
    async with scripted_brokers(1) as one:
        one.leaders = {("t", 0): 0}
        one.nodes[0].scripts[offsets.ListOffsetsRequest] = lambda request: SILENCE
        key = TopicPartition("t", 0)
        async with ClusterClient(one.addresses, timeout=0.6, request_timeout=0.1) as admin:
            with pytest.raises(AnswerLost, match=r"did not answer ListOffsets v\d+ within 0.1 s"):
                await latest(admin, key)
        assert len(one.nodes[0].requests(offsets.ListOffsetsRequest)) > 1


def test_an_error_of_a_key_is_a_broker_error() -> None:
    error = refusal(36, "it exists")
    assert isinstance(error, BrokerError)
    assert refusal(0) is None
