"""Offsets and lag of groups on scripted brokers: batches, old brokers, errors of one partition."""

import time
from typing import cast

import pytest

from kwire.admin import AdminClient
from kwire.admin.errors import MissingFromAnswer
from kwire.admin.group_offsets import OffsetAndMetadata
from kwire.admin.group_seek_target import AtOffset
from kwire.admin.list_groups import listed_groups
from kwire.admin.topic_partition import TopicPartition
from kwire.errors import BrokerError, InvalidValue, UnsupportedVersion
from kwire.messages import a02_list_offsets as ends
from kwire.messages import a08_offset_commit as commit
from kwire.messages import a09_offset_fetch as fetch
from kwire.messages import a15_describe_groups as classic
from kwire.messages import a16_list_groups as listing
from kwire.messages import a47_offset_delete as deletion
from kwire.messages import a90_describe_share_group_offsets as started
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.net.frames import RequestFrame
from scripted_node import api_versions
from tests.support.admin.scripted_brokers import ScriptedBrokers, scripted_brokers
from tests.support.virtual_time import in_virtual_time

ORDERS_0, ORDERS_1 = TopicPartition("orders", 0), TopicPartition("orders", 1)
UNSTABLE = 88


def client(brokers: ScriptedBrokers) -> AdminClient:
    return AdminClient(brokers.addresses, timeout=60)


def fetched(group: str, *partitions: tuple[int, int, int]) -> fetch.OffsetFetchResponseGroup:
    """A group's offsets in orders: partition, offset, error code."""
    found = [
        fetch.OffsetFetchResponsePartitions(
            partition_index=index, committed_offset=offset, error_code=code
        )
        for index, offset, code in partitions
    ]
    topics = [fetch.OffsetFetchResponseTopics(name="orders", partitions=found)]
    return fetch.OffsetFetchResponseGroup(group_id=group, topics=topics)


async def test_a_coordinator_is_asked_once_for_all_its_groups_by_the_names_of_topics() -> None:
    async with scripted_brokers(2) as brokers, client(brokers) as admin:
        brokers.coordinators = {"a": 0, "b": 1, "c": 1}
        brokers.nodes[0].scripts[fetch.OffsetFetchRequest] = lambda request: (
            fetch.OffsetFetchResponse(groups=[fetched("a", (0, 5, 0))])
        )
        denied = fetch.OffsetFetchResponseGroup(group_id="c", error_code=30)
        brokers.nodes[1].scripts[fetch.OffsetFetchRequest] = lambda request: (
            fetch.OffsetFetchResponse(groups=[fetched("b", (0, 7, 0)), denied])
        )
        outcomes = await admin.list_group_offsets(["a", "b", "c"])
    frames = [f for f in brokers.nodes[1].asked if isinstance(f.body, fetch.OffsetFetchRequest)]
    assert [frame.version for frame in frames] == [9], "from 10 on topics have ids only"
    assert outcomes["a"][ORDERS_0] == OffsetAndMetadata(offset=5)
    assert outcomes["b"][ORDERS_0] == OffsetAndMetadata(offset=7)
    assert (
        str(outcomes.failed["c"])
        == "GROUP_AUTHORIZATION_FAILED: the client has no right to the group"
    )


async def test_a_partition_has_an_error_of_its_own_or_no_offset_or_is_left_out() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.coordinators = {"a": 0}
        answer = fetch.OffsetFetchResponse(groups=[fetched("a", (0, -1, 0), (1, -1, 29))])
        brokers.nodes[0].scripts[fetch.OffsetFetchRequest] = lambda request: answer
        left_out = TopicPartition("orders", 2)
        outcomes = await admin.list_group_offsets({"a": [ORDERS_0, ORDERS_1, left_out]})
    offsets = outcomes["a"]
    assert offsets[ORDERS_0] is None
    assert (
        str(offsets.failed[ORDERS_1])
        == "TOPIC_AUTHORIZATION_FAILED: the client has no right to the topic"
    )
    assert isinstance(offsets.failed[left_out], MissingFromAnswer)


async def test_offsets_in_an_open_transaction_are_asked_again() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.coordinators = {"a": 0}
        answers = [fetched("a", (0, -1, UNSTABLE)), fetched("a", (0, 9, 0))]
        brokers.nodes[0].scripts[fetch.OffsetFetchRequest] = lambda request: (
            fetch.OffsetFetchResponse(groups=[answers.pop(0)])
        )
        outcomes = await admin.list_group_offsets(["a"], require_stable=True)
    assert outcomes["a"][ORDERS_0] == OffsetAndMetadata(offset=9)


async def test_an_old_coordinator_is_asked_for_one_group_after_the_other() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.coordinators = {"a": 0, "b": 0}
        [node] = brokers.nodes

        def answer(request: RequestFrame) -> fetch.OffsetFetchResponse:
            group = cast(fetch.OffsetFetchRequest, request.body).group_id
            partition = fetch.OffsetFetchResponsePartition(committed_offset=3)
            topics = [fetch.OffsetFetchResponseTopic(name="orders", partitions=[partition])]
            return fetch.OffsetFetchResponse(topics=topics, error_code=30 if group == "b" else 0)

        node.scripts[fetch.OffsetFetchRequest] = answer
        offered = api_versions(*node.scripts, OffsetFetch=(0, 6))
        node.scripts[ApiVersionsRequest] = lambda request: offered
        outcomes = await admin.list_group_offsets(["a", "b"])
        with pytest.raises(UnsupportedVersion, match="stable offsets"):
            await admin.list_group_offsets(["a"], require_stable=True)
    assert outcomes["a"][ORDERS_0] == OffsetAndMetadata(offset=3)
    assert (
        str(outcomes.failed["b"])
        == "GROUP_AUTHORIZATION_FAILED: the client has no right to the group"
    )


async def test_offsets_are_committed_without_a_member_and_refused_by_partition() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.coordinators = {"a": 0}
        partitions = [
            commit.OffsetCommitResponsePartition(partition_index=0),
            commit.OffsetCommitResponsePartition(partition_index=1, error_code=3),
        ]
        topics = [commit.OffsetCommitResponseTopic(name="orders", partitions=partitions)]
        brokers.nodes[0].scripts[commit.OffsetCommitRequest] = lambda request: (
            commit.OffsetCommitResponse(topics=topics)
        )
        offset = OffsetAndMetadata(offset=5, metadata="by hand")
        outcomes = await admin.alter_group_offsets("a", {ORDERS_0: offset, ORDERS_1: offset})
    [frame] = [f for f in brokers.nodes[0].asked if isinstance(f.body, commit.OffsetCommitRequest)]
    request = cast(commit.OffsetCommitRequest, frame.body)
    assert frame.version == 9
    assert (request.generation_id_or_member_epoch, request.member_id) == (-1, "")
    assert [*outcomes] == [ORDERS_0]
    assert (
        str(outcomes.failed[ORDERS_1])
        == "UNKNOWN_TOPIC_OR_PARTITION: there is no such topic or partition"
    )


async def test_the_refusal_of_a_whole_group_is_that_of_each_partition() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.coordinators = {"a": 0}
        answer = deletion.OffsetDeleteResponse(error_code=68)
        brokers.nodes[0].scripts[deletion.OffsetDeleteRequest] = lambda request: answer
        outcomes = await admin.delete_group_offsets("a", [ORDERS_0, ORDERS_1])
    assert {str(error) for error in outcomes.failed.values()} == {
        "NON_EMPTY_GROUP: the group has members: stop them first"
    }
    assert len(outcomes.failed) == 2


async def test_a_share_group_says_its_own_lag_and_no_start_where_it_has_none() -> None:
    partitions = [
        started.DescribeShareGroupOffsetsResponsePartition(
            partition_index=0, start_offset=4, leader_epoch=2, lag=6
        ),
        started.DescribeShareGroupOffsetsResponsePartition(partition_index=1, start_offset=-1),
    ]
    topic = started.DescribeShareGroupOffsetsResponseTopic(
        topic_name="orders", partitions=partitions
    )
    group = started.DescribeShareGroupOffsetsResponseGroup(group_id="sh", topics=[topic])
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.coordinators = {"sh": 0}
        brokers.nodes[0].scripts[started.DescribeShareGroupOffsetsRequest] = lambda request: (
            started.DescribeShareGroupOffsetsResponse(groups=[group])
        )
        offsets = (await admin.list_share_group_offsets(["sh"]))["sh"]
    found = offsets[ORDERS_0]
    assert found is not None
    assert (found.start_offset, found.leader_epoch, found.lag) == (4, 2, 6)
    assert offsets[ORDERS_1] is None


def a_group_that_reads_orders(brokers: ScriptedBrokers, members: int = 0) -> None:
    """Group `a` at 5 in orders-0, whose log ends at 8; orders-1 has no leader."""
    brokers.coordinators = {"a": 0}
    brokers.leaders = {("orders", 0): 0, ("orders", 1): -1}
    found = classic.DescribedGroup(
        group_id="a",
        group_state="Stable" if members else "Empty",
        protocol_type="consumer",
        members=[
            classic.DescribedGroupMember(member_id=f"m-{index}", member_assignment=b"")
            for index in range(members)
        ],
    )
    listed = listing.ListedGroup(group_id="a", protocol_type="consumer", group_type="classic")

    def end(request: RequestFrame) -> ends.ListOffsetsResponse:
        [topic] = cast(ends.ListOffsetsRequest, request.body).topics
        offset = 8 if topic.partitions[0].timestamp == -1 else 2
        partition = ends.ListOffsetsPartitionResponse(partition_index=0, offset=offset)
        found = ends.ListOffsetsTopicResponse(name="orders", partitions=[partition])
        return ends.ListOffsetsResponse(topics=[found])

    brokers.nodes[0].scripts |= {
        listing.ListGroupsRequest: lambda request: listing.ListGroupsResponse(groups=[listed]),
        classic.DescribeGroupsRequest: lambda request: classic.DescribeGroupsResponse(
            groups=[found]
        ),
        fetch.OffsetFetchRequest: lambda request: fetch.OffsetFetchResponse(
            groups=[fetched("a", (0, 5, 0), (1, 6, 0))]
        ),
        ends.ListOffsetsRequest: end,
    }


@in_virtual_time
async def test_a_partition_without_a_leader_costs_its_lag_and_not_the_deadline() -> None:
    async with scripted_brokers(1) as brokers:
        a_group_that_reads_orders(brokers)
        async with AdminClient(brokers.addresses, timeout=3) as admin:
            listed = await admin.list_groups()
            names = [group.group_id for group in listed_groups(listed)]
            began = time.monotonic()
            lag = (await admin.describe_group_lag(names, listed=listed))["a"]
            assert time.monotonic() - began < 2.5, "a third of the time is for such partitions"
    known, leaderless = lag.partitions
    assert (known.current_offset, known.log_end_offset, known.lag) == (5, 8, 3)
    assert (leaderless.current_offset, leaderless.log_end_offset, leaderless.lag) == (6, None, None)
    assert isinstance(leaderless.error, BrokerError)
    assert leaderless.error.name == "LEADER_NOT_AVAILABLE"
    assert lag.total == 3


async def test_a_seek_stays_inside_the_log_and_says_so() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        a_group_that_reads_orders(brokers)
        for offset, new, note in ((7, 7, None), (1, 2, "before the start"), (99, 8, "after")):
            plan = await admin.plan_group_seek("a", AtOffset(offset), {"orders": (0,)})
            [move] = plan.moves
            assert (move.old_offset, move.new_offset) == (5, new)
            assert (note or "") in (move.note or "")
            assert bool(move.note) == bool(note)


async def test_a_group_with_members_is_not_moved_and_nothing_is_sent() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        a_group_that_reads_orders(brokers, members=2)
        plan = await admin.plan_group_seek("a", AtOffset(7), {"orders": (0,)})
        with pytest.raises(InvalidValue, match="a has 2 members: stop them first"):
            await admin.seek_group(plan)
    assert brokers.nodes[0].requests(commit.OffsetCommitRequest) == []
