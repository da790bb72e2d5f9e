"""DescribeTopicPartitions, which pages (KIP-966; Java: DescribeTopicPartitionsRequestHandler)."""

from __future__ import annotations

from itertools import chain
from typing import Any

from kwire.conform.check import CheckSection, exchange
from kwire.conform.expectation import answers, closes, expect, expect_equal
from kwire.conform.server import Server
from kwire.conform.vocabulary import Deviation, Need, ServerRole, kafka, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a75_describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)

SECTION = CheckSection("metadata/topic-partitions", "DescribeTopicPartitions: pages and cursors")

_BROKER = ServerRole.BROKER
_PAGES = kip(966, "DescribeTopicPartitions")
_MANY = 10
"""More pages than any topic of these checks can have."""


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


async def _pages(
    server: Server, *names: str, limit: int = 2000, cursor: Cursor | None = None
) -> list[list[tuple[str, int]]]:
    """Follow the cursors to the last page; return topic and index of the partitions of each.

    A server may have a lower limit of its own (max.request.partition.size.limit).
    """
    pages: list[list[tuple[str, int]]] = []
    while len(pages) < _MANY:
        answer = await _page(server, *names, limit=limit, cursor=cursor)
        pages.append([(t.name, p.partition_index) for t in answer.topics for p in t.partitions])
        cursor = answer.next_cursor
        if cursor is None:
            return pages
    raise Deviation("a last page, without a cursor", f"a cursor in each of {_MANY}")


@SECTION.refuses(1, _PAGES, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, role=_BROKER)
async def _(server: Server) -> Any:
    """A topic that does not exist gets"""
    return await _page(server, server.name())


@SECTION.check(2, _PAGES, role=_BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """A page has no more partitions than the limit, and a cursor to the next one."""
    await _demand(server)
    name = await server.topic(partitions=3)
    pages = await _pages(server, name, limit=2)
    counts = [len(page) for page in pages]
    expect(max(counts) <= 2, "pages of 2 partitions or fewer", counts)
    expect_equal("partitions", list(chain(*pages)), [(name, index) for index in range(3)])


@SECTION.check(3, _PAGES, role=_BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """A page begins with the partition of its cursor."""
    await _demand(server)
    name = await server.topic(partitions=3)
    pages = await _pages(server, name, cursor=Cursor(topic_name=name, partition_index=1))
    expect_equal("partitions", list(chain(*pages)), [(name, 1), (name, 2)])


@SECTION.check(4, _PAGES, role=_BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """The last page has no cursor."""
    await _demand(server)
    name = await server.topic(partitions=2)
    pages = await _pages(server, name, limit=2)
    expect_equal("partitions", list(chain(*pages)), [(name, 0), (name, 1)])


@SECTION.check(5, _PAGES, role=_BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """Topics come in the order of their names, whatever that of the request."""
    await _demand(server)
    names = sorted([await server.topic(), await server.topic()])
    pages = await _pages(server, *reversed(names))
    expect_equal("partitions", list(chain(*pages)), [(name, 0) for name in names])


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


@SECTION.broker_check(
    8, kafka("DescribeTopicPartitionsRequestHandler.handleDescribeTopicPartitionsRequest")
)
async def _(server: Server) -> None:
    """A topic that stands twice in the request is described once."""
    await _demand(server)
    name = await server.topic()
    answer = await _page(server, name, name)
    expect_equal("topics", [topic.name for topic in answer.topics], [name])
