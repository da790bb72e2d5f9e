"""The driver against nodes that answer too little, too much, or for keys of others."""

import asyncio
import time
from typing import cast

import pytest

from kwire.admin import AdminClient, registry
from kwire.admin.cluster_client import ClusterClient
from kwire.admin.driver import IN_FLIGHT
from kwire.admin.errors import MissingFromAnswer, refusal
from kwire.admin.operation import Operation
from kwire.codec.declaration import Response
from kwire.errors import AnswerLost, ConnectionFailed, InvalidValue
from kwire.messages import a10_find_coordinator as coordinator
from kwire.messages import a20_delete_topics as topic_deletion
from kwire.messages import a35_describe_log_dirs as logdirs
from kwire.messages import a42_delete_groups as deletion
from kwire.messages import a75_describe_topic_partitions as pages
from kwire.net.frames import RequestFrame
from scripted_node import SILENCE
from tests.support.admin.scripted_brokers import scripted_brokers
from tests.support.eventually import eventually
from tests.support.virtual_time import in_virtual_time

PATIENCE = 60.0

DELETE_GROUPS: Operation[str, None, None] = Operation(
    row=registry.DELETE_GROUPS,
    build=lambda call: deletion.DeleteGroupsRequest(groups_names=call.keys),
    parse=lambda response, call: (
        (group.group_id, refusal(group.error_code)) for group in response.results
    ),
)


async def test_a_coordinator_that_the_answer_leaves_out_is_the_group_s_error() -> None:
    async with scripted_brokers(1) as one:
        one.nodes[0].scripts[deletion.DeleteGroupsRequest] = lambda request: SILENCE
        one.nodes[0].scripts[coordinator.FindCoordinatorRequest] = lambda request: (
            coordinator.FindCoordinatorResponse()
        )
        async with ClusterClient(one.addresses, timeout=PATIENCE) as admin:
            with pytest.raises(MissingFromAnswer, match="a"):
                await admin.driver.run(DELETE_GROUPS, ["a"], None)


@in_virtual_time
async def test_a_node_does_not_answer_for_keys_that_another_was_asked_for() -> None:
    def both(request: RequestFrame) -> Response:
        return deletion.DeleteGroupsResponse(
            results=[deletion.DeletableGroupResult(group_id=name) for name in ("a", "b")]
        )

    async with scripted_brokers(2) as two:
        two.coordinators = {"a": 0, "b": 1}
        two.nodes[0].scripts[deletion.DeleteGroupsRequest] = both
        two.nodes[1].scripts[deletion.DeleteGroupsRequest] = lambda request: SILENCE
        async with ClusterClient(two.addresses, timeout=0.5) as admin:
            outcomes = await admin.driver.run(DELETE_GROUPS, ["a", "b"], None)
        assert dict(outcomes) == {"a": None}
        assert list(outcomes.unknown) == ["b"]


@in_virtual_time
async def test_a_node_that_always_has_another_page_does_not_outlast_the_deadline() -> None:
    def endless(request: RequestFrame) -> Response:
        return pages.DescribeTopicPartitionsResponse(
            topics=[pages.DescribeTopicPartitionsResponseTopic(name="t")],
            next_cursor=pages.Cursor(topic_name="t"),
        )

    async with scripted_brokers(1) as one:
        one.nodes[0].scripts[pages.DescribeTopicPartitionsRequest] = endless
        begin = time.monotonic()
        async with AdminClient(one.addresses, timeout=0.3) as admin, asyncio.timeout(PATIENCE):
            with pytest.raises(AnswerLost):
                await admin.describe_topics(["t"])
        assert time.monotonic() - begin < 0.4


async def test_a_page_behind_the_last_topic_is_not_asked_for_as_if_for_every_topic() -> None:
    def behind(request: RequestFrame) -> Response:
        assert cast(pages.DescribeTopicPartitionsRequest, request.body).topics
        return pages.DescribeTopicPartitionsResponse(next_cursor=pages.Cursor(topic_name="z"))

    async with scripted_brokers(1) as one:
        one.nodes[0].scripts[pages.DescribeTopicPartitionsRequest] = behind
        async with AdminClient(one.addresses, timeout=PATIENCE) as admin:
            with pytest.raises(MissingFromAnswer):
                await admin.describe_topics(["t"])


@in_virtual_time
async def test_operations_that_wait_for_others_keep_their_own_deadline() -> None:
    async with scripted_brokers(1) as one:
        one.coordinators = {"a": 0}
        one.nodes[0].scripts[deletion.DeleteGroupsRequest] = lambda request: SILENCE
        async with ClusterClient(one.addresses, request_timeout=PATIENCE) as admin:
            run = admin.driver.run
            slow = [
                asyncio.create_task(run(DELETE_GROUPS, ["a"], None, timeout=PATIENCE))
                for _ in range(IN_FLIGHT)
            ]
            await eventually(
                lambda: len(one.nodes[0].requests(deletion.DeleteGroupsRequest)) == IN_FLIGHT
            )
            begin = time.monotonic()
            with pytest.raises(ConnectionFailed, match="was not asked"):
                await run(DELETE_GROUPS, ["a"], None, timeout=0.3)
            assert time.monotonic() - begin < 0.4
            for task in slow:
                task.cancel()
            await asyncio.gather(*slow, return_exceptions=True)


async def test_a_text_in_place_of_a_list_is_refused_before_its_letters_are_deleted() -> None:
    async with scripted_brokers(1) as one:
        async with AdminClient(one.addresses) as admin:
            with pytest.raises(InvalidValue, match="a list, not the text 'ab'"):
                await admin.delete_topics("ab")
        assert one.nodes[0].asked == []


async def test_ten_thousand_topics_are_deleted_without_squaring_their_number() -> None:
    def delete(request: RequestFrame) -> Response:
        topics = cast(topic_deletion.DeleteTopicsRequest, request.body).topics
        return topic_deletion.DeleteTopicsResponse(
            responses=[topic_deletion.DeletableTopicResult(name=t.name) for t in topics]
        )

    names = [f"t{number}" for number in range(10_000)]
    async with scripted_brokers(1) as one:
        one.nodes[0].scripts[topic_deletion.DeleteTopicsRequest] = delete
        async with AdminClient(one.addresses, timeout=PATIENCE) as admin:
            await admin.list_topics()
            begin = time.process_time()
            assert len(await admin.delete_topics(names)) == len(names)
            assert time.process_time() - begin < 2  # 0.2 s; squared 6 s


@in_virtual_time
async def test_a_broker_that_came_back_at_another_address_is_found_there() -> None:
    operation: Operation[int, None, int] = Operation(
        row=registry.DESCRIBE_LOG_DIRS,
        build=lambda call: logdirs.DescribeLogDirsRequest(topics=None),
        parse=lambda response, call: [(call.keys[0], 7)],
    )
    async with scripted_brokers(2) as two:
        for node in two.nodes:
            node.scripts[logdirs.DescribeLogDirsRequest] = lambda request: (
                logdirs.DescribeLogDirsResponse()
            )
        async with ClusterClient(two.addresses[:1], timeout=PATIENCE) as admin:
            assert dict(await admin.driver.run_everywhere(operation, None)) == {0: 7, 1: 7}
            await two.nodes[1].stop()
            two.nodes[1].port = 0
            await two.nodes[1].start()
            assert dict(await admin.driver.run(operation, [1], None, timeout=10)) == {1: 7}
