"""Groups on scripted brokers: routing, falling back, lost and incomplete answers."""

import time
from functools import partial
from typing import cast

import pytest

from kwire.admin import AdminClient
from kwire.admin.errors import MissingFromAnswer, OutcomeUnknown, WrongGroupType
from kwire.admin.group_descriptions import (
    ClassicGroupDescription,
    GroupType,
    ShareGroupDescription,
    assigned_partitions,
)
from kwire.admin.list_groups import listed_groups
from kwire.admin.remove_group_members import MemberToRemove
from kwire.admin.topic_partition import TopicPartition
from kwire.codec.declaration import Request, Response
from kwire.errors import BrokerError, ConnectionFailed, UnsupportedVersion
from kwire.messages import a13_leave_group as leaving
from kwire.messages import a15_describe_groups as classic
from kwire.messages import a16_list_groups as listing
from kwire.messages import a42_delete_groups as deletion
from kwire.messages import a69_consumer_group_describe as consumer
from kwire.messages import a77_share_group_describe as share
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.data.consumer_protocol_assignment import ConsumerProtocolAssignment
from kwire.messages.data.consumer_protocol_assignment import TopicPartition as AssignedTopic
from kwire.net.frames import RequestFrame
from scripted_node import HANG_UP, Raw, ScriptedNode, api_versions
from tests.support.admin.scripted_brokers import ScriptedBrokers, scripted_brokers
from tests.support.virtual_time import in_virtual_time

NOT_COORDINATOR = 16
LOADING = 14


def client(brokers: ScriptedBrokers) -> AdminClient:
    return AdminClient(brokers.addresses, timeout=60)


def offer(node: ScriptedNode, **versions: tuple[int, int]) -> None:
    """Make a node as old as these versions say."""
    offered = api_versions(*node.scripts, **versions)
    node.scripts[ApiVersionsRequest] = lambda request: offered


def always(answer: Response, request: RequestFrame) -> Response:
    return answer


def list_of(*groups: listing.ListedGroup, error_code: int = 0) -> listing.ListGroupsResponse:
    return listing.ListGroupsResponse(error_code=error_code, groups=list(groups))


def listed(name: str, kind: str = "classic", protocol: str = "consumer") -> listing.ListedGroup:
    return listing.ListedGroup(
        group_id=name, protocol_type=protocol, group_state="Stable", group_type=kind
    )


def describe_classic(request: RequestFrame) -> classic.DescribeGroupsResponse:
    """Describe each group as classic, with a member that reads orders-1 and orders-0."""
    assignment = ConsumerProtocolAssignment(
        assigned_partitions=[AssignedTopic(topic="orders", partitions=(1, 0))]
    )
    member = classic.DescribedGroupMember(
        member_id="m-1",
        client_id="c",
        client_host="/10.0.0.1",
        member_assignment=b"\0\0" + assignment.encode(0),
    )
    names = cast(classic.DescribeGroupsRequest, request.body).groups
    return classic.DescribeGroupsResponse(
        groups=[
            classic.DescribedGroup(
                group_id=name,
                group_state="Stable",
                protocol_type="connect" if name == "sink" else "consumer",
                protocol_data="range",
                members=[member],
            )
            for name in names
        ]
    )


def describe_new(request: RequestFrame) -> consumer.ConsumerGroupDescribeResponse:
    """Know the group `new` by the protocol of KIP-848, and no other."""
    names = cast(consumer.ConsumerGroupDescribeRequest, request.body).group_ids
    return consumer.ConsumerGroupDescribeResponse(
        groups=[
            consumer.DescribedGroup(group_id=name, group_state="Stable", group_epoch=7)
            if name == "new"
            else consumer.DescribedGroup(group_id=name, error_code=69, error_message="not new")
            for name in names
        ]
    )


async def test_a_broker_that_cannot_list_leaves_the_others_groups_usable() -> None:
    async with scripted_brokers(3) as brokers, client(brokers) as admin:
        answers = [list_of(listed("a")), list_of(error_code=30), list_of(listed("b", "share"))]
        for node, answer in zip(brokers.nodes, answers, strict=True):
            node.scripts[listing.ListGroupsRequest] = partial(always, answer)
        outcomes = await admin.list_groups()
    assert [(g.group_id, g.type, g.coordinator_id) for g in listed_groups(outcomes)] == [
        ("a", "classic", 0),
        ("b", "share", 2),
    ]
    assert {n: str(error) for n, error in outcomes.failed.items()} == {
        1: "GROUP_AUTHORIZATION_FAILED: the client has no right to the group"
    }


@in_virtual_time
async def test_a_broker_that_is_down_costs_about_a_second_and_not_the_deadline() -> None:
    async with scripted_brokers(2) as brokers, client(brokers) as admin:
        for node in brokers.nodes:
            node.scripts[listing.ListGroupsRequest] = partial(always, list_of(listed("a")))
        assert len(await admin.list_groups()) == 2
        await brokers.nodes[1].stop()
        began = time.monotonic()
        outcomes = await admin.list_groups(timeout=60)
        assert time.monotonic() - began < 2
    assert [group.group_id for group in listed_groups(outcomes)] == ["a"]
    assert isinstance(outcomes.failed[1], ConnectionFailed)


async def test_an_old_broker_is_not_asked_for_types_and_has_classic_groups_only() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        [node] = brokers.nodes
        node.scripts[listing.ListGroupsRequest] = lambda request: list_of(listed("old", kind=""))
        offer(node, ListGroups=(0, 3))
        classic_ones = await admin.list_groups(types=[GroupType.CLASSIC])
        new_ones = await admin.list_groups(types=[GroupType.CONSUMER])
        with pytest.raises(UnsupportedVersion, match="no states"):
            await admin.list_groups(states=["Stable"])
    [group] = listed_groups(classic_ones)
    assert (group.group_id, group.type, group.group_state) == ("old", None, None)
    assert listed_groups(new_ones) == []


@in_virtual_time
async def test_a_coordinator_that_loads_its_groups_is_asked_again() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        answers = [list_of(error_code=15), list_of(error_code=LOADING), list_of(listed("a"))]
        brokers.nodes[0].scripts[listing.ListGroupsRequest] = lambda request: answers.pop(0)
        outcomes = await admin.list_groups()
    assert [group.group_id for group in listed_groups(outcomes)] == ["a"]


async def test_a_group_of_the_classic_protocol_is_asked_for_by_the_older_api() -> None:
    async with scripted_brokers(2) as brokers, client(brokers) as admin:
        brokers.coordinators = {"new": 1, "old": 1, "sink": 1}
        coordinator = brokers.nodes[1]
        coordinator.scripts[consumer.ConsumerGroupDescribeRequest] = describe_new
        coordinator.scripts[classic.DescribeGroupsRequest] = describe_classic
        outcomes = await admin.describe_consumer_groups(["new", "old", "sink"])
    [fallback] = coordinator.requests(classic.DescribeGroupsRequest)
    assert cast(classic.DescribeGroupsRequest, fallback).groups == ("old", "sink")
    assert (outcomes["new"].type, outcomes["new"].group_epoch) == ("consumer", 7)
    old = outcomes["old"]
    assert (old.type, old.partition_assignor, old.group_epoch) == ("classic", "range", None)
    assert old.members[0].assignment == (TopicPartition("orders", 0), TopicPartition("orders", 1))
    assert old.coordinator is not None
    assert old.coordinator.node_id == 1
    with pytest.raises(WrongGroupType, match="sink is a group of protocol connect"):
        outcomes["sink"]


async def test_a_broker_without_the_newer_api_is_asked_the_older_one_at_once() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.coordinators = {"old": 0}
        brokers.nodes[0].scripts[classic.DescribeGroupsRequest] = describe_classic
        outcomes = await admin.describe_consumer_groups(["old"])
    assert outcomes["old"].group_state == "Stable"


async def test_a_dead_group_of_an_old_broker_does_not_exist() -> None:
    dead = classic.DescribeGroupsResponse(
        groups=[classic.DescribedGroup(group_id="gone", group_state="Dead")]
    )
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.coordinators = {"gone": 0}
        brokers.nodes[0].scripts[classic.DescribeGroupsRequest] = lambda request: dead
        outcomes = await admin.describe_classic_groups(["gone"])
    with pytest.raises(BrokerError, match="GROUP_ID_NOT_FOUND: there is no group gone"):
        outcomes["gone"]


async def test_groups_of_all_types_are_described_each_by_its_api() -> None:
    shared = share.ShareGroupDescribeResponse(
        groups=[share.DescribedGroup(group_id="sh", group_state="Empty", assignor_name="simple")]
    )
    async with scripted_brokers(2) as brokers, client(brokers) as admin:
        brokers.coordinators = {"new": 0, "sink": 0, "sh": 0}
        first = list_of(listed("new", "consumer"), listed("sink", "classic", "connect"))
        lists = [first, list_of(listed("sh", "share", "share"))]
        for node, answer in zip(brokers.nodes, lists, strict=True):
            node.scripts[listing.ListGroupsRequest] = partial(always, answer)
        scripts = brokers.nodes[0].scripts
        scripts[consumer.ConsumerGroupDescribeRequest] = describe_new
        scripts[classic.DescribeGroupsRequest] = describe_classic
        scripts[share.ShareGroupDescribeRequest] = partial(always, shared)
        outcomes = await admin.describe_groups(["new", "sink", "sh"])
    assert [group.type for group in outcomes.values()] == ["consumer", "classic", "share"]
    assert isinstance(outcomes["sink"], ClassicGroupDescription)
    assert outcomes["sink"].members[0].assignment is None, "Connect has a format of its own"
    assert isinstance(outcomes["sh"], ShareGroupDescription)


async def test_a_group_that_moved_is_looked_up_again_and_its_siblings_are_kept() -> None:
    asked: list[tuple[str, ...]] = []

    def moved(request: RequestFrame) -> Response:
        asked.append(cast(deletion.DeleteGroupsRequest, request.body).groups_names)
        brokers.coordinators["b"] = 1
        codes = {"a": 0, "b": NOT_COORDINATOR, "c": 68}
        return deletion.DeleteGroupsResponse(
            results=[
                deletion.DeletableGroupResult(group_id=n, error_code=codes[n]) for n in asked[-1]
            ]
        )

    done = deletion.DeleteGroupsResponse(results=[deletion.DeletableGroupResult(group_id="b")])
    async with scripted_brokers(2) as brokers, client(brokers) as admin:
        brokers.coordinators = {"a": 0, "b": 0, "c": 0}
        brokers.nodes[0].scripts[deletion.DeleteGroupsRequest] = moved
        brokers.nodes[1].scripts[deletion.DeleteGroupsRequest] = lambda request: done
        outcomes = await admin.delete_groups(["a", "b", "c"])
    assert asked == [("a", "b", "c")]
    assert [*outcomes] == ["a", "b"]
    assert str(outcomes.failed["c"]).startswith("NON_EMPTY_GROUP: ")


async def test_a_deletion_without_an_answer_is_unknown_and_not_repeated() -> None:
    async with scripted_brokers(2) as brokers, client(brokers) as admin:
        brokers.coordinators = {"a": 0, "b": 1}
        brokers.nodes[0].scripts[deletion.DeleteGroupsRequest] = lambda request: HANG_UP
        done = deletion.DeleteGroupsResponse(results=[deletion.DeletableGroupResult(group_id="b")])
        brokers.nodes[1].scripts[deletion.DeleteGroupsRequest] = lambda request: done
        outcomes = await admin.delete_groups(["a", "b"])
    assert len(brokers.nodes[0].requests(deletion.DeleteGroupsRequest)) == 1
    assert [*outcomes] == ["b"]
    assert [*outcomes.unknown] == ["a"]
    assert isinstance(outcomes.failed["a"], OutcomeUnknown)


async def test_a_group_that_an_answer_leaves_out_has_failed() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.coordinators = {"a": 0, "b": 0}

        def half(request: RequestFrame) -> Response:
            return describe_classic(request).replace(groups=describe_classic(request).groups[:1])

        brokers.nodes[0].scripts[classic.DescribeGroupsRequest] = half
        outcomes = await admin.describe_classic_groups(["a", "b"])
    assert [*outcomes] == ["a"]
    assert isinstance(outcomes.failed["b"], MissingFromAnswer)


def leave(request: RequestFrame) -> Response | Raw:
    """Answer as a coordinator that fills in the member id of static members."""
    members = cast(leaving.LeaveGroupRequest, request.body).members
    return leaving.LeaveGroupResponse(
        members=[
            leaving.MemberResponse(
                member_id=member.member_id or "m-of-" + str(member.group_instance_id),
                group_instance_id=member.group_instance_id,
                error_code=25 if member.member_id == "gone" else 0,
            )
            for member in members
        ]
    )


async def test_members_are_evicted_by_id_and_by_instance_with_the_reason() -> None:
    gone, static = MemberToRemove("gone"), MemberToRemove("", "i-1")
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.coordinators = {"g": 0}
        brokers.nodes[0].scripts[leaving.LeaveGroupRequest] = leave
        outcomes = await admin.remove_group_members("g", [gone, static], reason="maintenance")
    [request] = brokers.nodes[0].requests(leaving.LeaveGroupRequest)
    reasons = {m.reason for m in cast(leaving.LeaveGroupRequest, request).members}
    assert reasons == {"maintenance"}
    assert [*outcomes] == [static]
    assert str(outcomes.failed[gone]).startswith("UNKNOWN_MEMBER_ID: ")


async def test_an_old_coordinator_is_asked_for_one_member_after_the_other() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        brokers.coordinators = {"g": 0}
        node = brokers.nodes[0]
        node.scripts[leaving.LeaveGroupRequest] = lambda request: leaving.LeaveGroupResponse()
        offer(node, LeaveGroup=(0, 2))
        members = [MemberToRemove("m-1"), MemberToRemove("m-2")]
        outcomes = await admin.remove_group_members("g", members)
        with pytest.raises(UnsupportedVersion, match="no static members"):
            await admin.remove_group_members("g", [MemberToRemove("", "i-1")])
    sent: list[Request] = node.requests(leaving.LeaveGroupRequest)
    assert {cast(leaving.LeaveGroupRequest, r).member_id for r in sent} == {"m-1", "m-2"}
    assert len(outcomes) == 2


@pytest.mark.parametrize(
    ("data", "partitions"),
    [
        (b"", ()),
        (b"\0\x09" + ConsumerProtocolAssignment().encode(3) + b"later", ()),
        (b"\0\0\x7f\xff\xff\xff", None),
        (b"\0", None),
    ],
    ids=["none yet", "a later version", "a count that is too large", "too short"],
)
def test_an_assignment_is_what_a_client_wrote_and_may_be_anything(
    data: bytes, partitions: tuple[TopicPartition, ...] | None
) -> None:
    assert assigned_partitions(data) == partitions


async def test_a_group_of_connect_is_classic_where_brokers_tell_no_types() -> None:
    async with scripted_brokers(1) as brokers, client(brokers) as admin:
        (node,) = brokers.nodes
        brokers.coordinators = {"sink": 0}
        node.scripts[listing.ListGroupsRequest] = partial(
            always, list_of(listed("sink", "", "connect"))
        )
        node.scripts[classic.DescribeGroupsRequest] = describe_classic
        described = await admin.describe_groups(["sink"])
    assert isinstance(described["sink"], ClassicGroupDescription)
