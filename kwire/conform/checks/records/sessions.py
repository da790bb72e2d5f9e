"""Fetch sessions (KIP-227; Java: FetchManager, FetchSession)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection
from kwire.conform.checks.records.log import CheckedLog, fetch_partition, fetch_request, new_log
from kwire.conform.expectation import expect, expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import Skipped, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a01_fetch import FetchRequest, ForgottenTopic

SECTION = CheckSection("records/sessions", "Sessions of Fetch")

_NO_SESSION, _NEW = -1, 0
_PROPOSED = kip(227, "Proposed Changes")
_BY_NAME = 12


async def _fetch(log: CheckedLog, session: int, epoch: int, *offsets: int, **fields: Any) -> Any:
    """Read the partitions from these offsets at once, within a session."""
    parts = [
        fetch_partition(offset, partition=index, current_leader_epoch=-1)
        for index, offset in enumerate(offsets)
    ]
    request = fetch_request(
        log.topic, *parts, min_bytes=0, session_id=session, session_epoch=epoch, **fields
    )
    return await log.leader.ask(request, log.leader.version_up_to(request, _BY_NAME))


async def _session(log: CheckedLog, *offsets: int) -> int:
    """Open a session and return its id. Raises Skipped if the server gives none."""
    log.leader.demand_since(FetchRequest, 7)
    answer = await _fetch(log, 0, _NEW, *offsets)
    expect_error(answer, ErrorCode.NONE)
    if answer.session_id == 0:
        raise Skipped("the server opened no session: it need not")
    session: int = answer.session_id
    return session


def _partitions(answer: Any) -> list[int]:
    return [part.partition_index for topic in answer.responses for part in topic.partitions]


@SECTION.broker_check(1, _PROPOSED)
async def _(server: Server) -> None:
    """A session that does not exist gets FETCH_SESSION_ID_NOT_FOUND."""
    log = await new_log(server)
    log.leader.demand_since(FetchRequest, 7)
    answer = await _fetch(log, 987_654_321, 1, 0)
    expect_error(answer, ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
    expect_equal("session, topics", (answer.session_id, answer.responses), (0, []))


@SECTION.broker_refuses(2, _PROPOSED, ErrorCode.INVALID_FETCH_SESSION_EPOCH)
async def _(server: Server) -> Any:
    """An epoch that is not the next one gets"""
    log = await new_log(server)
    session = await _session(log, 0)
    return await _fetch(log, session, 5)


@SECTION.broker_check(3, _PROPOSED)
async def _(server: Server) -> None:
    """Epoch -1 without a session is answered in full and opens none."""
    log = await new_log(server)
    log.leader.demand_since(FetchRequest, 7)
    answer = await _fetch(log, 0, _NO_SESSION, 0)
    came = (answer.error_code, answer.session_id, _partitions(answer))
    expect_equal("error, session, partitions", came, (0, 0, [0]))


@SECTION.broker_check(6, _PROPOSED)
async def _(server: Server) -> None:
    """Within a session, a partition with news comes unasked."""
    log = await new_log(server, partitions=2)
    session = await _session(log, 0, 0)
    await log.append()
    answer = await _fetch(log, session, 1)
    expect_equal("error, partitions", (answer.error_code, _partitions(answer)), (0, [0]))


@SECTION.broker_check(7, _PROPOSED)
async def _(server: Server) -> None:
    """A forgotten partition is in no further answer."""
    log = await new_log(server, partitions=2)
    session = await _session(log, 0, 0)
    await log.append()
    forgotten = [ForgottenTopic(topic=log.topic, partitions=(0,))]
    answer = await _fetch(log, session, 1, forgotten_topics_data=forgotten)
    expect_equal("error, partitions", (answer.error_code, _partitions(answer)), (0, []))


@SECTION.broker_check(8, _PROPOSED)
async def _(server: Server) -> None:
    """Epoch -1 within a session closes it."""
    log = await new_log(server)
    session = await _session(log, 0)
    answer = await _fetch(log, session, _NO_SESSION, 0)
    expect_equal("error, session", (answer.error_code, answer.session_id), (0, 0))
    expect_error(await _fetch(log, session, 1), ErrorCode.FETCH_SESSION_ID_NOT_FOUND)


@SECTION.broker_check(9, _PROPOSED)
async def _(server: Server) -> None:
    """Two full requests open two sessions."""
    log = await new_log(server)
    first, second = await _session(log, 0), await _session(log, 0)
    expect(first != second, "two sessions", f"{first} twice")


@SECTION.broker_check(10, _PROPOSED)
async def _(server: Server) -> None:
    """A partition's error within a session is in each answer."""
    log = await new_log(server)
    answer = await _fetch(log, 0, _NEW, 0, 0)  # the topic has no partition 1
    expect_error(answer, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if answer.session_id == 0:
        raise Skipped("the server opened no session: it need not")
    expect_error(await _fetch(log, answer.session_id, 1), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
