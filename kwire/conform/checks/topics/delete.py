"""DeleteTopics by name and by id (KIP-4, KIP-516; Java: ControllerApis.deleteTopics)."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from kwire.conform.check import CheckSection, scenario
from kwire.conform.checks.topics.creating import create, new_topic
from kwire.conform.expectation import expect_equal, expect_error, first_error
from kwire.conform.needs import Need, ServerRole
from kwire.conform.server import Server
from kwire.conform.source import guide, kafka, kip, schema
from kwire.messages.a03_metadata import MetadataRequest, MetadataRequestTopic
from kwire.messages.a20_delete_topics import DeleteTopicsRequest, DeleteTopicState

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
    expect_error(answer, 0)
    return answer.topics[0]


@scenario("A name that no topic has gets UNKNOWN_TOPIC_OR_PARTITION.", guide("Error Codes"))
async def _unknown_name(server: Server) -> None:
    expect_error(await _delete(server, server.name()), 3)


@scenario("An id that no topic has gets UNKNOWN_TOPIC_ID.", _IDS)
async def _unknown_id(server: Server) -> None:
    expect_error(await _delete(server, uuid4()), 100)


@scenario("A name that stands twice in a request gets INVALID_REQUEST.", _DELETE)
async def _name_twice(server: Server) -> None:
    name = server.name()
    expect_error(await _delete(server, name, name), 42, differs=(3,))


@scenario("An id that stands twice in a request gets INVALID_REQUEST.", _DELETE)
async def _id_twice(server: Server) -> None:
    topic_id = uuid4()
    expect_error(await _delete(server, topic_id, topic_id), 42, differs=(100,))


@scenario("A topic asked for by name and id in one element gets INVALID_REQUEST.", _DELETE)
async def _name_and_id(server: Server) -> None:
    both = DeleteTopicState(name=server.name(), topic_id=uuid4())
    expect_error(await _delete(server, both), 42)


@scenario("An element with neither name nor id gets INVALID_REQUEST.", _DELETE)
async def _neither(server: Server) -> None:
    expect_error(await _delete(server, DeleteTopicState()), 42, differs=(3, 100))


@scenario(
    "A topic deleted by its id is answered with its name.",
    schema("DeleteTopicsResponse", "Name"),
    needs=Need.RESOURCES,
)
async def _by_id(server: Server) -> None:
    topic = await _created(server)
    result = (await _delete(server, topic.topic_id)).responses[0]
    expect_equal("error, name", (result.error_code, result.name), (0, topic.name))


@scenario(
    "A topic deleted by its name is answered with its id.",
    schema("DeleteTopicsResponse", "TopicId"),
    needs=Need.RESOURCES,
)
async def _by_name(server: Server) -> None:
    (await server.connection()).demand_since(DeleteTopicsRequest, 6)
    topic = await _created(server)
    result = (await _delete(server, topic.name)).responses[0]
    expect_equal("error, id", (result.error_code, result.topic_id), (0, topic.topic_id))


@scenario(
    "A topic by its name in one element and by its id in another gets INVALID_REQUEST, and stays.",
    _DELETE,
    needs=Need.RESOURCES,
)
async def _both_ways(server: Server) -> None:
    topic = await _created(server)
    expect_error(await _delete(server, topic.name, topic.topic_id), 42)
    expect_error(await _delete(server, topic.name), 0)


@scenario(
    "One topic's error does not keep the others from being deleted.",
    kip(4, "DeleteTopics"),
    needs=Need.RESOURCES,
)
async def _one_of_two(server: Server) -> None:
    topic, other = await _created(server), server.name()
    answer = await _delete(server, other, topic.name)
    codes = {result.name: result.error_code for result in answer.responses}
    expect_equal("errors", codes, {other: 3, topic.name: 0})


@scenario(
    "A topic that was deleted is unknown to the next deletion.",
    kip(4, "DeleteTopics"),
    needs=Need.RESOURCES,
)
async def _again(server: Server) -> None:
    topic = await _created(server)
    expect_error(await _delete(server, topic.name), 0)
    expect_error(await _delete(server, topic.name), 3)


@scenario(
    "A topic that was deleted soon gets UNKNOWN_TOPIC_OR_PARTITION in Metadata.",
    kip(4, "DeleteTopics"),
    role=ServerRole.BROKER,
    needs=Need.RESOURCES,
)
async def _gone(server: Server) -> None:
    name = await server.topic()
    expect_error(await _delete(server, name), 0)
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False
    )

    async def unknown() -> bool:
        answer = await server.ask(request)
        expect_error(answer, 3, 0)
        return first_error(answer) == 3

    await server.wait_for("error 3 of the deleted topic", unknown)


@scenario(
    "A new topic of a deleted one's name has an id of its own.",
    kip(516, "Motivation"),
    needs=Need.RESOURCES,
)
async def _new_id(server: Server) -> None:
    first = await _created(server)
    (await server.connection()).demand_since(DeleteTopicsRequest, 6)
    expect_error(await _delete(server, first.topic_id), 0)
    expect_error(await create(server, new_topic(first.name)), 0)
    expect_error(await _delete(server, first.topic_id), 100)


SECTION = CheckSection(
    "topics/delete",
    "Topics that are deleted",
    {
        1: _unknown_name,
        2: _unknown_id,
        3: _name_twice,
        4: _id_twice,
        5: _name_and_id,
        6: _neither,
        7: _by_id,
        8: _by_name,
        9: _both_ways,
        10: _one_of_two,
        11: _again,
        12: _gone,
        13: _new_id,
    },
)
