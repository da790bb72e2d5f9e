"""ShareFetch and ShareAcknowledge: sessions, delivery, states of records (KIP-932)."""

from __future__ import annotations

from uuid import uuid4

from kwire.conform.check import CheckSection, broker_scenario
from kwire.conform.checks.share.member import (
    ACCEPT,
    OPENS,
    REJECT,
    RELEASE,
    ShareMember,
    acquired_in,
    new_share_member,
)
from kwire.conform.expectation import expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.source import kip

_SESSIONS = kip(932, "Share sessions")
_STATES = kip(932, "In-flight records")
_ACKNOWLEDGE = kip(932, "ShareAcknowledge API")


async def _reader(server: Server, records: int = 2) -> ShareMember:
    """Return a member that has joined, of a topic with records."""
    member = await new_share_member(server)
    await member.produce(records)
    await member.joined()
    return member


@broker_scenario(
    "The first fetch opens a session and acquires records for the first time.", _STATES
)
async def _acquires(server: Server) -> None:
    member = await _reader(server)
    expect_equal("acquired", await member.acquired(), [(0, 1, 1)])


@broker_scenario("Acquired records are not handed to another member.", _STATES)
async def _locked(server: Server) -> None:
    member = await _reader(server)
    await member.acquired()
    other = await member.another()
    await other.joined()
    answer = await other.fetch()
    expect_error(answer, 0)
    expect_equal("acquired", acquired_in(answer), [])


@broker_scenario("Released records come again, with the next delivery count.", _STATES)
async def _released(server: Server) -> None:
    member = await _reader(server)
    await member.acquired()
    expect_error(await member.acknowledge((0, 1, RELEASE)), 0)
    expect_equal("acquired", await member.acquired(), [(0, 1, 2)])


@broker_scenario("Accepted records do not come again.", _STATES)
async def _accepted(server: Server) -> None:
    member = await _reader(server)
    await member.acquired()
    expect_error(await member.acknowledge((0, 1, ACCEPT)), 0)
    await member.produce(1)
    expect_equal("acquired", await member.acquired(), [(2, 2, 1)])


@broker_scenario("Rejected records do not come again.", _STATES)
async def _rejected(server: Server) -> None:
    member = await _reader(server)
    await member.acquired()
    expect_error(await member.acknowledge((0, 1, REJECT)), 0)
    await member.produce(1)
    expect_equal("acquired", await member.acquired(), [(2, 2, 1)])


@broker_scenario("Part of a batch can be accepted and the rest released.", _ACKNOWLEDGE)
async def _in_parts(server: Server) -> None:
    member = await _reader(server, records=3)
    await member.acquired()
    expect_error(await member.acknowledge((0, 0, ACCEPT), (1, 2, RELEASE)), 0)
    expect_equal("acquired", await member.acquired(), [(1, 2, 2)])


@broker_scenario("Acknowledgements can come with the next fetch.", kip(932, "ShareFetch API"))
async def _with_fetch(server: Server) -> None:
    member = await _reader(server)
    await member.acquired()
    await member.produce(1)
    answer = await member.fetch((0, 1, ACCEPT))
    expect_error(answer, 0)
    found = acquired_in(answer) or await member.acquired()
    expect_equal("acquired", found, [(2, 2, 1)])


@broker_scenario("Accepting what is already accepted gets INVALID_RECORD_STATE.", _ACKNOWLEDGE)
async def _not_acquired(server: Server) -> None:
    member = await _reader(server)
    await member.acquired()
    expect_error(await member.acknowledge((1, 1, ACCEPT)), 0)
    expect_error(await member.acknowledge((1, 1, ACCEPT)), 121)


@broker_scenario("Acknowledging another member's records gets INVALID_RECORD_STATE.", _ACKNOWLEDGE)
async def _anothers(server: Server) -> None:
    member = await _reader(server)
    await member.acquired()
    other = await member.another()
    await other.joined()
    await other.fetch()
    expect_error(await other.acknowledge((0, 1, ACCEPT)), 121)


@broker_scenario("An unknown type of acknowledgement gets INVALID_REQUEST.", _ACKNOWLEDGE)
async def _unknown_type(server: Server) -> None:
    member = await _reader(server)
    await member.acquired()
    expect_error(await member.acknowledge((0, 1, 9)), 42)


@broker_scenario("A batch that ends before it begins gets INVALID_REQUEST.", _ACKNOWLEDGE)
async def _reversed(server: Server) -> None:
    member = await _reader(server)
    await member.acquired()
    expect_error(await member.acknowledge((1, 0, ACCEPT)), 42)


@broker_scenario("Acknowledging in the fetch that opens a session gets INVALID_REQUEST.", _SESSIONS)
async def _opens_acknowledging(server: Server) -> None:
    member = await _reader(server)
    expect_error(await member.fetch((0, 1, ACCEPT)), 42)


@broker_scenario("A session that does not exist gets SHARE_SESSION_NOT_FOUND.", _SESSIONS)
async def _no_session(server: Server) -> None:
    member = await _reader(server)
    expect_error(await member.fetch(share_session_epoch=1), 122)


@broker_scenario(
    "A session's epoch that is not the next gets INVALID_SHARE_SESSION_EPOCH.", _SESSIONS
)
async def _wrong_epoch(server: Server) -> None:
    member = await _reader(server)
    await member.acquired()
    expect_error(await member.fetch(share_session_epoch=member.session_epoch + 5), 123)


@broker_scenario("ShareAcknowledge without a session gets SHARE_SESSION_NOT_FOUND.", _SESSIONS)
async def _acknowledge_no_session(server: Server) -> None:
    member = await _reader(server)
    expect_error(await member.acknowledge((0, 1, ACCEPT), share_session_epoch=1), 122)


@broker_scenario(
    "A ShareAcknowledge that opens a session gets INVALID_SHARE_SESSION_EPOCH.", _SESSIONS
)
async def _acknowledge_opens(server: Server) -> None:
    member = await _reader(server)
    expect_error(await member.acknowledge((0, 1, ACCEPT), share_session_epoch=OPENS), 123)


@broker_scenario("When a session is closed its records go to others at once.", _SESSIONS)
async def _closed(server: Server) -> None:
    member = await _reader(server)
    await member.acquired()
    expect_error(await member.close_session(), 0)
    other = await member.another()
    await other.joined()
    expect_equal("acquired", await other.acquired(), [(0, 1, 2)])


@broker_scenario("A fetch in a closed session gets SHARE_SESSION_NOT_FOUND.", _SESSIONS)
async def _closed_is_unknown(server: Server) -> None:
    member = await _reader(server)
    await member.acquired()
    epoch = member.session_epoch
    await member.close_session()
    expect_error(await member.fetch(share_session_epoch=epoch), 122)


@broker_scenario("A topic id that no topic has gets UNKNOWN_TOPIC_ID.", kip(932, "ShareFetch API"))
async def _unknown_topic(server: Server) -> None:
    member = await _reader(server)
    member.topic_id = uuid4()
    expect_error(await member.fetch(), 100)


SECTION = CheckSection(
    "share/sessions",
    "Share sessions and records in flight",
    {
        1: _acquires,
        2: _locked,
        3: _released,
        4: _accepted,
        5: _rejected,
        6: _in_parts,
        7: _with_fetch,
        8: _not_acquired,
        9: _anothers,
        10: _unknown_type,
        11: _reversed,
        12: _opens_acknowledging,
        13: _no_session,
        14: _wrong_epoch,
        15: _acknowledge_no_session,
        16: _acknowledge_opens,
        17: _closed,
        18: _closed_is_unknown,
        19: _unknown_topic,
    },
)
