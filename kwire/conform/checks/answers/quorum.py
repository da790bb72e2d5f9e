"""Whole answers of the quorum's leader: every field, in every version of raft's APIs."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import randrange
from typing import Any

from kwire.codec.declaration import Request
from kwire.conform.check import CheckSection, scenario
from kwire.conform.checks.quorum.requests import (
    add_voter,
    begin_epoch,
    end_epoch,
    remove_voter,
    update_voter,
    vote,
)
from kwire.conform.expectation import expect, expect_error
from kwire.conform.metadata_log import fetch, fetch_partition, fetch_snapshot, latest_snapshot
from kwire.conform.quorum import (
    NOBODY,
    OTHER_CLUSTER,
    OTHER_DIRECTORY,
    DescribedQuorum,
    describe_quorum,
)
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, ServerRole, kip, schema
from kwire.conform.whole_answer import (
    ANYTHING,
    expect_in_each_version,
    expect_whole,
    fitting,
    including,
    of_version,
    one_of,
)
from kwire.error_codes import ErrorCode
from kwire.messages import DescribeQuorumRequest, FetchRequest, FetchSnapshotRequest
from kwire.messages.a01_fetch import ReplicaState as FetchingReplica
from kwire.messages.a55_describe_quorum import ReplicaState
from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kwire.net.quorum_request import quorum_request

SECTION = CheckSection("answers/quorum", "The quorum's leader")

_CONTROLLER = ServerRole.CONTROLLER
_BY_ID, _WITH_ENDPOINTS = 13, 17
"""The first versions of Fetch with ids of topics, and with the endpoint of the quorum's leader."""
_LATER = 1000
_CLOCKS_MS = 1_800_000
"""Milliseconds by which the clocks of two nodes may differ."""
_LATELY_MS = 60_000
_BEYOND = 1 << 40
_WITH_TIMES = 1
"""The first version of DescribeQuorum with the times of fetches."""

QuorumAnswer = Callable[[DescribedQuorum], dict[str, Any]]


def _of_leader(
    number: int,
    sentence: str,
    send: Callable[[DescribedQuorum], Request],
    expected: QuorumAnswer,
    *,
    role: ServerRole = _CONTROLLER,
    since: int = 0,
) -> None:
    """Declare a check of what the leader answers a request, in every version.

    since: a version without which the server is not asked.
    """

    async def run(server: Server) -> None:
        quorum = await describe_quorum(server)
        request = send(quorum)
        quorum.connection.demand_since(type(request), since)
        ask = quorum.connection.ask
        await expect_in_each_version(quorum.connection, request, expected(quorum), ask)

    name = f"{sentence.partition(' ')[0]}Response"
    SECTION[number] = scenario(sentence, schema(name), role=role)(run)


def _ids(quorum: DescribedQuorum) -> dict[str, Any]:
    return {"leader_id": quorum.leader_id, "leader_epoch": quorum.epoch}


def _endpoint(quorum: DescribedQuorum) -> dict[str, Any]:
    """Return the leader's endpoint, at any listener; DescribeQuorum names it where others do."""
    if not (at := quorum.listeners.get(quorum.leader_id)):
        return {}
    return {"host": one_of(*(end.host for end in at)), "port": one_of(*(end.port for end in at))}


def _node(quorum: DescribedQuorum) -> dict[str, Any]:
    return {"node_id": quorum.leader_id, **_endpoint(quorum)}


def _leader(code: ErrorCode = ErrorCode.NONE) -> QuorumAnswer:
    """Return the answer that has an error for the partition, the leader and its endpoint."""

    def answer(quorum: DescribedQuorum) -> dict[str, Any]:
        part = {"error_code": code, **_ids(quorum)}
        topic = {"topic_name": METADATA_TOPIC, "partitions": [part]}
        return {"topics": [topic], "node_endpoints": [_node(quorum)]}

    return answer


_of_leader(
    1,
    "Vote in an epoch that has a leader is answered with that leader, in every version.",
    vote,
    _leader(),
    since=1,  # before Kafka 3.9 a candidate that is no voter gets INCONSISTENT_VOTER_SET
)
_of_leader(
    2,
    "BeginQuorumEpoch of an earlier epoch is answered with the leader, in every version.",
    lambda quorum: begin_epoch(quorum, leader_epoch=quorum.epoch - 1),
    _leader(ErrorCode.FENCED_LEADER_EPOCH),
)
_of_leader(
    3,
    "EndQuorumEpoch of an earlier epoch is answered with the leader, in every version.",
    end_epoch,
    _leader(ErrorCode.FENCED_LEADER_EPOCH),
)
_of_leader(
    4,
    "UpdateRaftVoter of an earlier epoch is answered with the leader, in every version.",
    lambda quorum: update_voter(quorum, current_leader_epoch=quorum.epoch - 1),
    lambda quorum: {
        "error_code": ErrorCode.FENCED_LEADER_EPOCH,
        "current_leader": {**_ids(quorum), **_endpoint(quorum)},
    },
)
_of_leader(
    5,
    "AddRaftVoter for another cluster gets INCONSISTENT_CLUSTER_ID, in every version.",
    lambda quorum: add_voter(quorum).replace(cluster_id=OTHER_CLUSTER),
    lambda quorum: {"error_code": ErrorCode.INCONSISTENT_CLUSTER_ID},
    role=ServerRole.ANY,
)
_of_leader(
    6,
    "RemoveRaftVoter for another cluster gets INCONSISTENT_CLUSTER_ID, in every version.",
    lambda quorum: remove_voter(quorum).replace(cluster_id=OTHER_CLUSTER),
    lambda quorum: {"error_code": ErrorCode.INCONSISTENT_CLUSTER_ID},
    role=ServerRole.ANY,
)


def _between(first: int, last: int) -> Any:
    return fitting(f"{first} to {last}", lambda value: first <= value <= last)


def _or_none(offset: Any) -> Any:
    return fitting(f"-1 or {offset}", lambda value: value == -1 or offset.holds(value))


def _end(quorum: DescribedQuorum) -> int:
    return quorum.voters[quorum.leader_id].log_end_offset


def _starts(quorum: DescribedQuorum, is_whole: bool) -> tuple[int, int]:
    """Return the first and last offset at which the log may start. is_whole: it begins with 0."""
    return (0, 0) if is_whole else (1, quorum.partition.high_watermark)


async def _fetch(server: Server, version: int, beyond: int, later: int) -> None:
    """Fetch so far beyond the log's end, in an epoch so much later, and demand the whole answer."""
    before = await describe_quorum(server)
    is_whole = bool((await fetch_partition(before)).records)
    epoch = before.epoch + later
    request = fetch(
        before, _end(before) + beyond, last_fetched_epoch=before.epoch, current_leader_epoch=epoch
    )
    answer = await before.connection.ask(of_version(request, version), version)
    after = await describe_quorum(server)
    end = {"epoch": before.epoch, "end_offset": _between(_end(before), _end(after))}
    watermark = _between(before.partition.high_watermark, after.partition.high_watermark)
    part = {
        "error_code": ErrorCode.UNKNOWN_LEADER_EPOCH if later else ErrorCode.NONE,
        "high_watermark": ANYTHING if later else watermark,
        "last_stable_offset": ANYTHING if later else _or_none(watermark),
        "log_start_offset": ANYTHING if later else _between(*_starts(before, is_whole)),
        "diverging_epoch": end if beyond else None,
        "current_leader": _ids(before),
        "aborted_transactions": one_of(None, []),
        "records": one_of(None, b"") if beyond or later else ANYTHING,
    }
    topic = {"topic_id": METADATA_TOPIC_ID, "partitions": [part]}
    nodes = [_node(before)] if version >= _WITH_ENDPOINTS else ANYTHING
    expect_whole(answer, {"responses": [topic], "node_endpoints": nodes}, version)


@SECTION.check(7, kip(595, "Fetch"), role=_CONTROLLER)
async def _(server: Server) -> None:
    """Fetch at the log's end, beyond it, or in a later epoch is answered with leader and ends."""
    connection = await server.active_controller()
    for version in connection.offered(FetchRequest, since=_BY_ID):
        for beyond, later in ((0, 0), (_BEYOND, 0), (0, _LATER)):
            await _fetch(server, version, beyond, later)


@SECTION.check(8, kip(630, "Fetch Snapshot, Handling"), role=_CONTROLLER)
async def _(server: Server) -> None:
    """FetchSnapshot has a piece of a snapshot, with its place and the size, in every version."""
    quorum = await describe_quorum(server)
    id = await latest_snapshot(quorum)
    for version in quorum.connection.offered(FetchSnapshotRequest):
        request = of_version(fetch_snapshot(quorum, id, position=1), version)
        whole = await quorum.connection.ask(request, version)
        part = {
            "snapshot_id": id,
            "current_leader": _ids(quorum),
            "size": len(whole.topics[0].partitions[0].unaligned_records) + 1,
            "position": 1,
            "unaligned_records": ANYTHING,
        }
        topic = {"name": METADATA_TOPIC, "partitions": [part]}
        expect_whole(whole, {"topics": [topic], "node_endpoints": [_node(quorum)]}, version)


def _replica(state: ReplicaState, end: int) -> ReplicaState:
    """Return what may be told of a replica from then on: its offset and times do not go back."""
    latest = time.time_ns() // 1_000_000 + _CLOCKS_MS
    return state.replace(
        log_end_offset=_between(state.log_end_offset, end),
        last_fetch_timestamp=_between(state.last_fetch_timestamp, latest),
        last_caught_up_timestamp=_between(state.last_caught_up_timestamp, latest),
    )


def _observers(before: DescribedQuorum, came: Any, end: int) -> Any:
    """Return those that fetched lately, and those that are new: others may be forgotten."""
    keys = {(o.replica_id, o.replica_directory_id) for o in before.partition.observers}
    if len({replica_id for replica_id, _ in keys}) < len(keys):
        return ANYTHING  # one node with two directories: alike before v2
    now = before.voters[before.leader_id].last_fetch_timestamp
    known = {
        observer.replica_id: observer
        for observer in before.partition.observers
        if observer.last_fetch_timestamp > now - _LATELY_MS
    }
    new = [observer for observer in came.observers if observer.replica_id not in known]
    return including(*(_replica(observer, end) for observer in (*known.values(), *new)))


def _expect_brokers(quorum: DescribedQuorum) -> None:
    """Demand an epoch, voters that are named once, and brokers that all follow the log."""
    expect(quorum.epoch > 0, "an epoch above 0", quorum.epoch)
    ids = [voter.replica_id for voter in quorum.partition.current_voters]
    expect(len({*ids}) == len(ids), "no voter twice", ids)
    if quorum.server.target.role is ServerRole.BROKER:
        watermark = quorum.partition.high_watermark
        expect(watermark > 0, "a high watermark above 0", watermark)
        parts = (*quorum.partition.current_voters, *quorum.partition.observers)
        replicas = {part.replica_id: part for part in parts}
        dated = quorum.connection.version_for(DescribeQuorumRequest()) >= _WITH_TIMES
        for id in quorum.server.target.nodes:
            expect(id in replicas, f"replica {id}", sorted(replicas))
            part = replicas[id]
            values = [part.log_end_offset]
            values += [part.last_fetch_timestamp, part.last_caught_up_timestamp] if dated else []
            values += [part.replica_directory_id.int] if quorum.leader_directory.int else []
            expect(min(values) > 0, f"offset, times and directory of replica {id}", values)


@SECTION.check(9, schema("DescribeQuorumResponse"))
async def _(server: Server) -> None:
    """DescribeQuorum tells leader, epoch, offsets and replicas, in every version."""
    before = await describe_quorum(server)
    _expect_brokers(before)
    nodes = [{"node_id": id, "listeners": including(*at)} for id, at in before.listeners.items()]
    for version in before.connection.offered(DescribeQuorumRequest):
        answer = await before.connection.ask(quorum_request(), version)
        expect_error(answer, ErrorCode.NONE)
        end = _end(await describe_quorum(server))
        part = {
            **_ids(before),
            "high_watermark": _between(before.partition.high_watermark, end),
            "current_voters": [_replica(voter, end) for voter in before.voters.values()],
            "observers": _observers(before, answer.topics[0].partitions[0], end),
        }
        topic = {"topic_name": METADATA_TOPIC, "partitions": [part]}
        expect_whole(answer, {"topics": [topic], "nodes": nodes}, version)


@SECTION.check(
    10, schema("DescribeQuorumResponse", "Observers"), role=_CONTROLLER, needs=Need.THROW_AWAY
)
async def _(server: Server) -> None:
    """A replica that fetches at the log's end is an observer that has caught up, from then on."""
    replica_id, offset, now = NOBODY + randrange(_LATER), 0, 0

    async def has_caught_up() -> bool:
        nonlocal offset, now
        quorum = await describe_quorum(server)
        quorum.connection.demand(FetchRequest, _WITH_ENDPOINTS)
        offset = _end(quorum)
        now = quorum.voters[quorum.leader_id].last_fetch_timestamp
        key = {"last_fetched_epoch": quorum.epoch, "replica_directory_id": OTHER_DIRECTORY}
        request = fetch(quorum, offset, **key)
        state = FetchingReplica(replica_id=replica_id)
        answer = await server.ask(request.replace(replica_state=state), _WITH_ENDPOINTS)
        expect_error(answer, ErrorCode.NONE)
        return not answer.responses[0].partitions[0].records

    await server.wait_for("a fetch at the log's end", has_caught_up)
    fetched_at = _between(now - _LATELY_MS, now + _LATELY_MS)
    state = ReplicaState(
        replica_id=replica_id,
        replica_directory_id=OTHER_DIRECTORY,
        log_end_offset=offset,
        last_fetch_timestamp=fetched_at,
        last_caught_up_timestamp=fetched_at,
    )
    connection = await server.active_controller()
    for version in connection.offered(DescribeQuorumRequest):
        answer = await connection.ask(quorum_request(), version)
        [topic] = answer.topics
        [part] = topic.partitions
        part = part.replace(observers=including(state))
        expect_whole(answer, answer.replace(topics=[topic.replace(partitions=[part])]), version)
