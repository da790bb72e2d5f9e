"""Fetch sessions (KIP-227; Java: FetchManager, FetchSession)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import CheckSection, broker_scenario
from kwire.conform.checks.records.log import CheckedLog, fetch_partition, fetch_request, new_log
from kwire.conform.expectation import expect, expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.source import kip
from kwire.conform.verdict import Skipped
from kwire.messages.a01_fetch import FetchRequest, ForgottenTopic

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
    expect_error(answer, 0)
    if answer.session_id == 0:
        raise Skipped("the server opened no session: it need not")
    session: int = answer.session_id
    return session


def _partitions(answer: Any) -> list[int]:
    return [part.partition_index for topic in answer.responses for part in topic.partitions]


@broker_scenario("A session that does not exist gets FETCH_SESSION_ID_NOT_FOUND.", _PROPOSED)
async def _unknown(server: Server) -> None:
    log = await new_log(server)
    log.leader.demand_since(FetchRequest, 7)
    answer = await _fetch(log, 987_654_321, 1, 0)
    expect_error(answer, 70)
    expect_equal("session, topics", (answer.session_id, answer.responses), (0, []))


@broker_scenario("An epoch that is not the next one gets INVALID_FETCH_SESSION_EPOCH.", _PROPOSED)
async def _wrong_epoch(server: Server) -> None:
    log = await new_log(server)
    session = await _session(log, 0)
    expect_error(await _fetch(log, session, 5), 71)


@broker_scenario("Epoch -1 without a session is answered in full and opens none.", _PROPOSED)
async def _no_session(server: Server) -> None:
    log = await new_log(server)
    log.leader.demand_since(FetchRequest, 7)
    answer = await _fetch(log, 0, _NO_SESSION, 0)
    came = (answer.error_code, answer.session_id, _partitions(answer))
    expect_equal("error, session, partitions", came, (0, 0, [0]))


@broker_scenario("Epoch 0 is answered in full.", _PROPOSED)
async def _full(server: Server) -> None:
    log = await new_log(server, partitions=2)
    answer = await _fetch(log, 0, _NEW, 0, 0)
    came = (answer.error_code, sorted(_partitions(answer)))
    expect_equal("error, partitions", came, (0, [0, 1]))


@broker_scenario("Within a session, partitions without news are left out.", _PROPOSED)
async def _without_news(server: Server) -> None:
    log = await new_log(server, partitions=2)
    session = await _session(log, 0, 0)
    answer = await _fetch(log, session, 1)
    came = (answer.error_code, answer.session_id, _partitions(answer))
    expect_equal("error, session, partitions", came, (0, session, []))


@broker_scenario("Within a session, a partition with news comes unasked.", _PROPOSED)
async def _with_news(server: Server) -> None:
    log = await new_log(server, partitions=2)
    session = await _session(log, 0, 0)
    await log.append()
    answer = await _fetch(log, session, 1)
    expect_equal("error, partitions", (answer.error_code, _partitions(answer)), (0, [0]))


@broker_scenario("A forgotten partition is in no further answer.", _PROPOSED)
async def _forgotten(server: Server) -> None:
    log = await new_log(server, partitions=2)
    session = await _session(log, 0, 0)
    await log.append()
    forgotten = [ForgottenTopic(topic=log.topic, partitions=(0,))]
    answer = await _fetch(log, session, 1, forgotten_topics_data=forgotten)
    expect_equal("error, partitions", (answer.error_code, _partitions(answer)), (0, []))


@broker_scenario("Epoch -1 within a session closes it.", _PROPOSED)
async def _closed(server: Server) -> None:
    log = await new_log(server)
    session = await _session(log, 0)
    answer = await _fetch(log, session, _NO_SESSION, 0)
    expect_equal("error, session", (answer.error_code, answer.session_id), (0, 0))
    expect_error(await _fetch(log, session, 1), 70)


@broker_scenario("Two full requests open two sessions.", _PROPOSED)
async def _two(server: Server) -> None:
    log = await new_log(server)
    first, second = await _session(log, 0), await _session(log, 0)
    expect(first != second, "two sessions", f"{first} twice")


@broker_scenario("A partition's error within a session is in each answer.", _PROPOSED)
async def _errors_again(server: Server) -> None:
    log = await new_log(server)
    answer = await _fetch(log, 0, _NEW, 0, 0)  # the topic has no partition 1
    expect_error(answer, 3)
    if answer.session_id == 0:
        raise Skipped("the server opened no session: it need not")
    expect_error(await _fetch(log, answer.session_id, 1), 3)


SECTION = CheckSection(
    "records/sessions",
    "Sessions of Fetch",
    {
        1: _unknown,
        2: _wrong_epoch,
        3: _no_session,
        4: _full,
        5: _without_news,
        6: _with_news,
        7: _forgotten,
        8: _closed,
        9: _two,
        10: _errors_again,
    },
)
