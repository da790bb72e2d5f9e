"""Removal of what an interrupted check created: nothing of its own stands in the way."""

import asyncio

import pytest

from kwire.conform.check import Check, CheckSection, scenario
from kwire.conform.checks.topics.creating import create
from kwire.conform.expectation import expect_error
from kwire.conform.run_check import run_check
from kwire.conform.server import Server
from kwire.conform.vocabulary import guide
from kwire.messages.a03_metadata import MetadataRequest, MetadataResponse
from kwire.messages.a10_find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from kwire.messages.a13_leave_group import LeaveGroupRequest, LeaveGroupResponse
from kwire.messages.a15_describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kwire.messages.a19_create_topics import CreatableTopic, CreateTopicsRequest
from kwire.messages.a20_delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from kwire.messages.a42_delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from kwire.net.frames import RequestFrame
from scripted_node import SILENCE, Raw, ScriptedNode
from tests.support.conform.mortal_node import target_of

SOURCE = guide("a test")
HANDSHAKE = SaslHandshakeRequest(mechanism="PLAIN")


def only(check: Check) -> Check:
    section = CheckSection("test/removal", "Of a test")
    section[1] = check
    return next(iter(section))


async def test_a_run_that_is_stopped_while_it_removes_still_removes() -> None:
    removing = asyncio.Event()
    removed: list[str] = []

    @scenario("It is over at once.", SOURCE)
    async def creates(server: Server) -> None:
        async def remove() -> None:
            removing.set()
            await asyncio.sleep(0.05)
            removed.append("topic")

        server.remove_afterwards("topic", remove)

    async with ScriptedNode({}) as node:
        run = asyncio.create_task(run_check(only(creates), await target_of(node)))
        await removing.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
    assert removed == ["topic"]


async def test_an_answer_that_nobody_awaited_is_not_taken_for_that_of_the_removal() -> None:
    @scenario("A request is sent, and its answer not awaited.", SOURCE)
    async def hurries(server: Server) -> None:
        connection = await server.connection()

        async def remove() -> None:
            expect_error(await connection.ask(HANDSHAKE), 0)

        server.remove_afterwards("topic", remove)
        await connection.send(connection.frame(HANDSHAKE, 1))

    handshake = SaslHandshakeResponse(mechanisms=("PLAIN",))
    async with ScriptedNode({SaslHandshakeRequest: lambda frame: handshake}) as node:
        result = await run_check(only(hurries), await target_of(node))
    assert result.left_behind == ()


async def test_a_topic_whose_creation_was_not_answered_is_deleted() -> None:
    asked = asyncio.Event()
    deleted: list[str | None] = []

    def create_topics(frame: RequestFrame) -> Raw:
        asked.set()
        return SILENCE

    def delete_topics(frame: RequestFrame) -> DeleteTopicsResponse:
        assert isinstance(frame.body, DeleteTopicsRequest)
        deleted.extend(topic.name for topic in frame.body.topics)
        return DeleteTopicsResponse(responses=[DeletableTopicResult(name=deleted[-1])])

    @scenario("A topic is created.", SOURCE)
    async def creates(server: Server) -> None:
        await create(server, CreatableTopic(name="kwire-conform-1"))

    async with ScriptedNode(
        {CreateTopicsRequest: create_topics, DeleteTopicsRequest: delete_topics}
    ) as node:
        run = asyncio.create_task(run_check(only(creates), await target_of(node)))
        await asked.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
    assert deleted == ["kwire-conform-1"]


async def test_members_that_were_left_in_a_group_leave_it() -> None:
    members = ["one", "two"]

    def describe(frame: RequestFrame) -> DescribeGroupsResponse:
        described = [DescribedGroupMember(member_id=member) for member in members]
        return DescribeGroupsResponse(groups=[DescribedGroup(members=described)])

    def leave(frame: RequestFrame) -> LeaveGroupResponse:
        assert isinstance(frame.body, LeaveGroupRequest)
        members.remove(frame.body.members[0].member_id)
        return LeaveGroupResponse()

    def delete(frame: RequestFrame) -> DeleteGroupsResponse:
        assert isinstance(frame.body, DeleteGroupsRequest)
        (name,) = frame.body.groups_names
        result = DeletableGroupResult(group_id=name, error_code=68 if members else 0)
        return DeleteGroupsResponse(results=[result])

    @scenario("Members of a group are forgotten.", SOURCE)
    async def joins(server: Server) -> None:
        server.group()

    async with ScriptedNode(
        {
            MetadataRequest: lambda frame: MetadataResponse(brokers=[], topics=[]),
            FindCoordinatorRequest: lambda frame: FindCoordinatorResponse(
                coordinators=[Coordinator(node_id=1, host="127.0.0.1", port=node.port)]
            ),
            DescribeGroupsRequest: describe,
            LeaveGroupRequest: leave,
            DeleteGroupsRequest: delete,
        }
    ) as node:
        result = await run_check(only(joins), await target_of(node))
    assert (members, result.left_behind) == ([], ())
