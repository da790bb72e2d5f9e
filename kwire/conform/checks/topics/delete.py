"""DeleteTopics by name and by id (KIP-4, KIP-516; Java: ControllerApis.deleteTopics)."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from kwire.conform.check import CheckSection
from kwire.conform.checks.topics.creating import create, new_topic
from kwire.conform.expectation import expect_equal, expect_error, first_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, ServerRole, kafka, kip, schema
from kwire.error_codes import ErrorCode
from kwire.messages.a03_metadata import MetadataRequest, MetadataRequestTopic
from kwire.messages.a20_delete_topics import DeleteTopicsRequest, DeleteTopicState

SECTION = CheckSection("topics/delete", "Topics that are deleted")

_DELETE = kafka("ControllerApis.deleteTopics")
_IDS = kip(516, "DeleteTopics")


async def _delete(server: Server, *topics: str | UUID | DeleteTopicState) -> Any:
    """Delete topics by their names, or, from v6 on, by their ids."""
    connection = await server.connection()
    version = connection.version_for(DeleteTopicsRequest())
    names = tuple(topic for topic in topics if isinstance(topic, str))
    request = DeleteTopicsRequest(topic_names=names, timeout_ms=10_000)
    if version >= 6 or len(names) < len(topics):
        connection.demand_since(DeleteTopicsRequest, 6)
        states = [
            DeleteTopicState(name=topic)
            if isinstance(topic, str)
            else DeleteTopicState(topic_id=topic)
            if isinstance(topic, UUID)
            else topic
            for topic in topics
        ]
        request = DeleteTopicsRequest(topics=states, timeout_ms=10_000)
    return await server.ask_controller(request, version)


async def _created(server: Server) -> Any:
    """Return the answer's part for a new topic."""
    answer = await create(server, new_topic(server.name()))
    expect_error(answer, ErrorCode.NONE)
    return answer.topics[0]


@SECTION.refuses(2, _IDS, ErrorCode.UNKNOWN_TOPIC_ID)
async def _(server: Server) -> Any:
    """An id that no topic has gets"""
    return await _delete(server, uuid4())


@SECTION.refuses(
    3, _DELETE, ErrorCode.INVALID_REQUEST, differs=(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,)
)
async def _(server: Server) -> Any:
    """A name that stands twice in a request gets"""
    name = server.name()
    return await _delete(server, name, name)


@SECTION.refuses(4, _DELETE, ErrorCode.INVALID_REQUEST, differs=(ErrorCode.UNKNOWN_TOPIC_ID,))
async def _(server: Server) -> Any:
    """An id that stands twice in a request gets"""
    topic_id = uuid4()
    return await _delete(server, topic_id, topic_id)


@SECTION.refuses(5, _DELETE, ErrorCode.INVALID_REQUEST)
async def _(server: Server) -> Any:
    """A topic asked for by name and id in one element gets"""
    both = DeleteTopicState(name=server.name(), topic_id=uuid4())
    return await _delete(server, both)


@SECTION.refuses(
    6,
    _DELETE,
    ErrorCode.INVALID_REQUEST,
    differs=(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID),
)
async def _(server: Server) -> Any:
    """An element with neither name nor id gets"""
    return await _delete(server, DeleteTopicState())


@SECTION.check(7, schema("DeleteTopicsResponse", "Name"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """A topic deleted by its id is answered with its name."""
    topic = await _created(server)
    result = (await _delete(server, topic.topic_id)).responses[0]
    expect_equal("error, name", (result.error_code, result.name), (0, topic.name))


@SECTION.check(9, _DELETE, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """A topic by its name in one element and by its id in another gets INVALID_REQUEST, and
    stays."""
    topic = await _created(server)
    expect_error(await _delete(server, topic.name, topic.topic_id), ErrorCode.INVALID_REQUEST)
    expect_error(await _delete(server, topic.name), ErrorCode.NONE)


@SECTION.check(10, kip(4, "DeleteTopics"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """One topic's error does not keep the others from being deleted."""
    topic, other = await _created(server), server.name()
    answer = await _delete(server, other, topic.name)
    codes = {result.name: result.error_code for result in answer.responses}
    expect_equal(
        "errors", codes, {other: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, topic.name: ErrorCode.NONE}
    )


@SECTION.check(11, kip(4, "DeleteTopics"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """A topic that was deleted is unknown to the next deletion."""
    topic = await _created(server)
    expect_error(await _delete(server, topic.name), ErrorCode.NONE)
    expect_error(await _delete(server, topic.name), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


@SECTION.check(12, kip(4, "DeleteTopics"), role=ServerRole.BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """A topic that was deleted soon gets UNKNOWN_TOPIC_OR_PARTITION in Metadata."""
    name = await server.topic()
    expect_error(await _delete(server, name), ErrorCode.NONE)
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False
    )

    async def unknown() -> bool:
        answer = await server.ask(request)
        expect_error(answer, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NONE)
        return first_error(answer) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    await server.wait_for("error 3 of the deleted topic", unknown)


@SECTION.check(13, kip(516, "Motivation"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """A new topic of a deleted one's name has an id of its own."""
    first = await _created(server)
    (await server.connection()).demand_since(DeleteTopicsRequest, 6)
    expect_error(await _delete(server, first.topic_id), ErrorCode.NONE)
    expect_error(await create(server, new_topic(first.name)), ErrorCode.NONE)
    expect_error(await _delete(server, first.topic_id), ErrorCode.UNKNOWN_TOPIC_ID)
