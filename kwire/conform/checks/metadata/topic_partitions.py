"""DescribeTopicPartitions, which pages (KIP-966; Java: DescribeTopicPartitionsRequestHandler)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection, exchange
from kwire.conform.expectation import answers, closes, expect_equal
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, ServerRole, kafka, kip, schema
from kwire.error_codes import ErrorCode
from kwire.messages.a75_describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)

SECTION = CheckSection("metadata/topic-partitions", "DescribeTopicPartitions: pages and cursors")

_BROKER = ServerRole.BROKER
_PAGES = kip(966, "DescribeTopicPartitions")


async def _page(
    server: Server, *names: str, limit: int = 2000, cursor: Cursor | None = None
) -> Any:
    topics = [TopicRequest(name=name) for name in names]
    request = DescribeTopicPartitionsRequest(
        topics=topics, response_partition_limit=limit, cursor=cursor
    )
    return await server.ask(request)


async def _demand(server: Server) -> None:
    (await server.connection()).demand(DescribeTopicPartitionsRequest)


def _partitions(answer: Any) -> dict[str, list[int]]:
    return {
        topic.name: [partition.partition_index for partition in topic.partitions]
        for topic in answer.topics
    }


@SECTION.refuses(1, _PAGES, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, role=_BROKER)
async def _(server: Server) -> Any:
    """A topic that does not exist gets"""
    return await _page(server, server.name())


@SECTION.check(2, _PAGES, role=_BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """A page has no more partitions than the limit, and a cursor to the next one."""
    await _demand(server)
    name = await server.topic(partitions=3)
    answer = await _page(server, name, limit=2)
    expect_equal("partitions", _partitions(answer), {name: [0, 1]})
    expect_equal("next cursor", answer.next_cursor, Cursor(topic_name=name, partition_index=2))


@SECTION.check(3, _PAGES, role=_BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """A page begins with the partition of its cursor."""
    await _demand(server)
    name = await server.topic(partitions=3)
    answer = await _page(server, name, cursor=Cursor(topic_name=name, partition_index=1))
    expect_equal("partitions", _partitions(answer), {name: [1, 2]})


@SECTION.check(4, _PAGES, role=_BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """The last page has no cursor."""
    await _demand(server)
    answer = await _page(server, await server.topic(partitions=2), limit=2)
    expect_equal("next cursor", answer.next_cursor, None)


@SECTION.check(5, _PAGES, role=_BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """Topics come in the order of their names, whatever that of the request."""
    await _demand(server)
    names = sorted([await server.topic(), await server.topic()])
    answer = await _page(server, *reversed(names))
    expect_equal("topics", [topic.name for topic in answer.topics], names)


@SECTION.check(6, _PAGES, role=_BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """Topics before that of the cursor are left out."""
    await _demand(server)
    names = sorted([await server.topic(), await server.topic()])
    answer = await _page(server, *names, cursor=Cursor(topic_name=names[1], partition_index=0))
    expect_equal("topics", [topic.name for topic in answer.topics], names[1:])


def _before_all(server: Server) -> DescribeTopicPartitionsRequest:
    name = server.name()
    cursor = Cursor(topic_name=name, partition_index=-1)
    return DescribeTopicPartitionsRequest(topics=[TopicRequest(name=name)], cursor=cursor)


SECTION[7] = exchange(
    "A cursor with a negative partition gets",
    kafka("DescribeTopicPartitionsRequestHandler"),
    send=_before_all,
    expect=answers(ErrorCode.INVALID_REQUEST),
    differs=answers(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION) | closes(),
    role=_BROKER,
)


@SECTION.check(
    8, schema("DescribeTopicPartitionsRequest", "Topics"), role=_BROKER, needs=Need.RESOURCES
)
async def _(server: Server) -> None:
    """A topic that stands twice in the request is described once."""
    await _demand(server)
    name = await server.topic()
    answer = await _page(server, name, name)
    expect_equal("topics", [topic.name for topic in answer.topics], [name])
