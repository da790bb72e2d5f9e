"""ShareFetch and ShareAcknowledge: sessions, delivery, states of records (KIP-932)."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from kwire.conform.check import CheckSection
from kwire.conform.checks.share.member import (
    ACCEPT,
    OPENS,
    REJECT,
    RELEASE,
    ShareMember,
    acquired_in,
    by_offset,
    new_share_member,
)
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import kip
from kwire.error_codes import ErrorCode

SECTION = CheckSection("share/sessions", "Share sessions and records in flight")

_SESSIONS = kip(932, "Share sessions")
_STATES = kip(932, "In-flight records")
_ACKNOWLEDGE = kip(932, "ShareAcknowledge API")


async def _reader(server: Server, records: int = 2) -> ShareMember:
    """Return a member that has joined, of a topic with records."""
    member = await new_share_member(server)
    await member.produce(records)
    await member.joined()
    return member


@SECTION.broker_check(1, _STATES)
async def _(server: Server) -> None:
    """The first fetch opens a session and acquires records for the first time."""
    member = await _reader(server)
    expect_equal("acquired", by_offset(await member.acquired()), {0: 1, 1: 1})


@SECTION.broker_check(2, _STATES)
async def _(server: Server) -> None:
    """Acquired records are not handed to another member."""
    member = await _reader(server)
    await member.acquired()
    other = await member.another()
    await other.joined()
    answer = await other.fetch()
    expect_error(answer, ErrorCode.NONE)
    expect_equal("acquired", acquired_in(answer), [])


@SECTION.broker_check(3, _STATES)
async def _(server: Server) -> None:
    """Released records come again, with the next delivery count."""
    member = await _reader(server)
    await member.acquired()
    expect_error(await member.acknowledge((0, 1, RELEASE)), ErrorCode.NONE)
    expect_equal("acquired", by_offset(await member.acquired()), {0: 2, 1: 2})


@SECTION.broker_check(4, _STATES)
async def _(server: Server) -> None:
    """Accepted records do not come again."""
    member = await _reader(server)
    await member.acquired()
    expect_error(await member.acknowledge((0, 1, ACCEPT)), ErrorCode.NONE)
    await member.produce(1)
    expect_equal("acquired", by_offset(await member.acquired()), {2: 1})


@SECTION.broker_check(5, _STATES)
async def _(server: Server) -> None:
    """Rejected records do not come again."""
    member = await _reader(server)
    await member.acquired()
    expect_error(await member.acknowledge((0, 1, REJECT)), ErrorCode.NONE)
    await member.produce(1)
    expect_equal("acquired", by_offset(await member.acquired()), {2: 1})


@SECTION.broker_check(6, _ACKNOWLEDGE)
async def _(server: Server) -> None:
    """Part of a batch can be accepted and the rest released."""
    member = await _reader(server, records=3)
    await member.acquired()
    expect_error(await member.acknowledge((0, 0, ACCEPT), (1, 2, RELEASE)), ErrorCode.NONE)
    expect_equal("acquired", by_offset(await member.acquired()), {1: 2, 2: 2})


@SECTION.broker_check(7, kip(932, "ShareFetch API"))
async def _(server: Server) -> None:
    """Acknowledgements can come with the next fetch."""
    member = await _reader(server)
    await member.acquired()
    await member.produce(1)
    answer = await member.fetch((0, 1, ACCEPT))
    expect_error(answer, ErrorCode.NONE)
    found = acquired_in(answer) or await member.acquired()
    expect_equal("acquired", by_offset(found), {2: 1})


@SECTION.broker_refuses(8, _ACKNOWLEDGE, ErrorCode.INVALID_RECORD_STATE)
async def _(server: Server) -> Any:
    """Accepting what is already accepted gets"""
    member = await _reader(server)
    await member.acquired()
    expect_error(await member.acknowledge((1, 1, ACCEPT)), ErrorCode.NONE)
    return await member.acknowledge((1, 1, ACCEPT))


@SECTION.broker_refuses(9, _ACKNOWLEDGE, ErrorCode.INVALID_RECORD_STATE)
async def _(server: Server) -> Any:
    """Acknowledging another member's records gets"""
    member = await _reader(server)
    await member.acquired()
    other = await member.another()
    await other.joined()
    await other.fetch()
    return await other.acknowledge((0, 1, ACCEPT))


@SECTION.broker_refuses(10, _ACKNOWLEDGE, ErrorCode.INVALID_REQUEST)
async def _(server: Server) -> Any:
    """An unknown type of acknowledgement gets"""
    member = await _reader(server)
    await member.acquired()
    return await member.acknowledge((0, 1, 9))


@SECTION.broker_refuses(11, _ACKNOWLEDGE, ErrorCode.INVALID_REQUEST)
async def _(server: Server) -> Any:
    """A batch that ends before it begins gets"""
    member = await _reader(server)
    await member.acquired()
    return await member.acknowledge((1, 0, ACCEPT))


@SECTION.broker_refuses(12, _SESSIONS, ErrorCode.INVALID_REQUEST)
async def _(server: Server) -> Any:
    """Acknowledging in the fetch that opens a session gets"""
    member = await _reader(server)
    return await member.fetch((0, 1, ACCEPT))


@SECTION.broker_refuses(13, _SESSIONS, ErrorCode.SHARE_SESSION_NOT_FOUND)
async def _(server: Server) -> Any:
    """A session that does not exist gets"""
    member = await _reader(server)
    return await member.fetch(share_session_epoch=1)


@SECTION.broker_refuses(14, _SESSIONS, ErrorCode.INVALID_SHARE_SESSION_EPOCH)
async def _(server: Server) -> Any:
    """A session's epoch that is not the next gets"""
    member = await _reader(server)
    await member.acquired()
    return await member.fetch(share_session_epoch=member.session_epoch + 5)


@SECTION.broker_refuses(15, _SESSIONS, ErrorCode.SHARE_SESSION_NOT_FOUND)
async def _(server: Server) -> Any:
    """ShareAcknowledge without a session gets"""
    member = await _reader(server)
    return await member.acknowledge((0, 1, ACCEPT), share_session_epoch=1)


@SECTION.broker_refuses(16, _SESSIONS, ErrorCode.INVALID_SHARE_SESSION_EPOCH)
async def _(server: Server) -> Any:
    """A ShareAcknowledge that opens a session gets"""
    member = await _reader(server)
    return await member.acknowledge((0, 1, ACCEPT), share_session_epoch=OPENS)


@SECTION.broker_check(17, _SESSIONS)
async def _(server: Server) -> None:
    """When a session is closed its records go to others at once."""
    member = await _reader(server)
    await member.acquired()
    expect_error(await member.close_session(), ErrorCode.NONE)
    other = await member.another()
    await other.joined()
    expect_equal("acquired", by_offset(await other.acquired()), {0: 2, 1: 2})


@SECTION.broker_refuses(18, _SESSIONS, ErrorCode.SHARE_SESSION_NOT_FOUND)
async def _(server: Server) -> Any:
    """A fetch in a closed session gets"""
    member = await _reader(server)
    await member.acquired()
    epoch = member.session_epoch
    await member.close_session()
    return await member.fetch(share_session_epoch=epoch)


@SECTION.broker_check(20, _SESSIONS)
async def _(server: Server) -> None:
    """A partition that a session forgets is fetched no more."""
    member = await _reader(server)
    await member.acquired()
    forgotten = [{"topic_id": member.topic_id, "partitions": (0,)}]
    expect_error(await member.fetch(topics=[], forgotten_topics_data=forgotten), ErrorCode.NONE)
    await member.produce(1)
    expect_equal("acquired", acquired_in(await member.fetch(topics=[])), [])


@SECTION.broker_refuses(19, kip(932, "ShareFetch API"), ErrorCode.UNKNOWN_TOPIC_ID)
async def _(server: Server) -> Any:
    """A topic id that no topic has gets"""
    member = await _reader(server)
    member.topic_id = uuid4()
    return await member.fetch()
