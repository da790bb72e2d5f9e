"""Fetch of the metadata log, with voter keys and epochs (KIP-595, KIP-853, KIP-1166)."""

from __future__ import annotations

import time

from kwire.batches import read_batches
from kwire.conform.check import CheckSection, family, in_each_version
from kwire.conform.expectation import answers, expect, expect_equal, expect_error
from kwire.conform.metadata_log import fetch, latest_snapshot
from kwire.conform.quorum import (
    OTHER_CLUSTER,
    OTHER_DIRECTORY,
    DescribedQuorum,
    describe_quorum,
    leader_exchange,
    leader_named_in,
)
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, ServerRole, kafka, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a01_fetch import FetchRequest, FetchResponse, ReplicaState

SECTION = CheckSection("quorum/kip-853/fetch", "The metadata log is fetched")

_FETCH, _KEYS = kip(595, "Fetch"), kip(853, "Fetch")
_HANDLER = kafka("KafkaRaftClient.handleFetchRequest")
_LOWER_WATERMARK = 18
_REST = 10_000
"""Milliseconds of a wait that is long beside any answer at once."""


def _changed(quorum: DescribedQuorum, **changes: object) -> FetchRequest:
    request = fetch(quorum)
    request.topics[0] = request.topics[0].replace(**changes)
    return request


@in_each_version(FetchRequest, range(13, FetchRequest.versions.last + 1))
async def _versions(server: Server, version: int) -> None:
    quorum = await describe_quorum(server)
    answer = await quorum.connection.ask(fetch(quorum), version)
    expect_error(answer, ErrorCode.NONE)
    partition = answer.responses[0].partitions[0]
    snapshot = partition.snapshot_id is not None and partition.snapshot_id.end_offset >= 0
    batches = list(read_batches(partition.records or b""))
    expect(snapshot or batches, "batches or a snapshot's id", "neither")
    if not snapshot:
        expect_equal("first offset", batches[0].base_offset, 0)


def _no_endpoint(response: FetchResponse) -> str:
    leader = response.responses[0].partitions[0].current_leader
    nodes = {node.node_id for node in response.node_endpoints if node.host and node.port}
    if leader is None:
        return "without a leader"
    has_endpoint = nodes == {leader.leader_id}
    return "" if has_endpoint else f"leader {leader.leader_id}, endpoints of {sorted(nodes)}"


SECTION[1] = family(
    "The log, or a snapshot's id, is given from offset 0 on, in all versions by id.",
    _FETCH,
    _versions,
    role=ServerRole.CONTROLLER,
)
SECTION[2] = leader_exchange(
    "Fetch for another cluster gets",
    _FETCH,
    send=lambda quorum: fetch(quorum).replace(cluster_id=OTHER_CLUSTER),
    expect=answers(ErrorCode.INCONSISTENT_CLUSTER_ID),
)
SECTION[3] = leader_exchange(
    "Fetch of an earlier epoch gets",
    _FETCH,
    send=lambda quorum: fetch(quorum, current_leader_epoch=quorum.epoch - 1),
    expect=answers(ErrorCode.FENCED_LEADER_EPOCH),
)


SECTION[8] = leader_exchange(
    "Fetch with records of a later epoch than its own gets",
    _HANDLER,
    send=lambda quorum: fetch(quorum, last_fetched_epoch=quorum.epoch + 1),
    expect=answers(ErrorCode.INVALID_REQUEST),
)
SECTION[9] = leader_exchange(
    "Fetch from an offset below 0 gets",
    _HANDLER,
    send=lambda quorum: fetch(quorum, -1),
    expect=answers(ErrorCode.INVALID_REQUEST),
)
SECTION[10] = leader_exchange(
    "Fetch with a wait below 0 gets",
    _HANDLER,
    send=lambda quorum: fetch(quorum).replace(max_wait_ms=-1),
    expect=answers(ErrorCode.INVALID_REQUEST),
)
SECTION[11] = leader_exchange(
    "Fetch of another topic's id than the metadata log's gets",
    _HANDLER,
    send=lambda quorum: _changed(quorum, topic_id=OTHER_DIRECTORY),
    expect=answers(ErrorCode.INVALID_REQUEST),
    version=13,
)
SECTION[12] = leader_exchange(
    "Fetch of another partition of the metadata log gets",
    _HANDLER,
    send=lambda quorum: fetch(quorum, partition=1),
    expect=answers(ErrorCode.INVALID_REQUEST),
)
SECTION[13] = leader_exchange(
    "Fetch of the metadata log by its name is served, or an INVALID_REQUEST.",
    # Every Kafka offers these versions and refuses them: it looks at the id alone.
    _HANDLER,
    send=fetch,
    expect=answers(ErrorCode.NONE) | answers(ErrorCode.INVALID_REQUEST),
    version=12,
)


@SECTION.check(14, _KEYS, role=ServerRole.CONTROLLER, needs=Need.TWO_VOTERS)
async def _(server: Server) -> None:
    """A controller that does not lead refuses a Fetch and names the leader and its endpoint."""
    quorum = await describe_quorum(server)
    answer = await (await server.node(quorum.follower_id)).ask(fetch(quorum))
    expect_error(answer, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    expect_equal("leader, epoch", leader_named_in(answer), (quorum.leader_id, quorum.epoch))
    if quorum.connection.version_for(FetchRequest()) >= 17:
        expect(not _no_endpoint(answer), "its endpoint", answer.node_endpoints)


@SECTION.check(15, _FETCH, role=ServerRole.CONTROLLER)
async def _(server: Server) -> None:
    """A Fetch at the end of the log waits for records up to its time."""
    quorum = await describe_quorum(server)
    version = min(17, quorum.connection.version_for(FetchRequest()))
    end = quorum.voters[quorum.leader_id].log_end_offset
    request = fetch(quorum, end, last_fetched_epoch=quorum.epoch).replace(max_wait_ms=300)
    began = time.monotonic()
    answer = await quorum.connection.ask(request, version)
    waited = time.monotonic() - began
    expect_error(answer, ErrorCode.NONE)
    partition = answer.responses[0].partitions[0]
    moved = partition.high_watermark > quorum.partition.high_watermark
    expect(partition.records or moved or waited > 0.25, "records, or 300 ms", f"{waited:.3f} s")


@SECTION.check(16, kip(1166, "Proposed Changes"), role=ServerRole.CONTROLLER)
async def _(server: Server) -> None:
    """A Fetch of a replica that knows a lower high watermark is answered without a wait."""
    quorum = await describe_quorum(server)
    quorum.connection.demand(FetchRequest, _LOWER_WATERMARK)
    end = quorum.voters[quorum.leader_id].log_end_offset
    request = fetch(quorum, end, last_fetched_epoch=quorum.epoch, high_watermark=0)
    answer = await quorum.connection.ask(request.replace(max_wait_ms=_REST), timeout=5.0)
    expect_error(answer, ErrorCode.NONE)
    came = answer.responses[0].partitions[0].high_watermark
    expect(came >= quorum.partition.high_watermark, "the leader's high watermark", came)


@SECTION.check(17, kip(630, "Fetch"), role=ServerRole.CONTROLLER)
async def _(server: Server) -> None:
    """A replica that fetches from offset 0 is sent to the latest snapshot, if there is one."""
    quorum = await describe_quorum(server)
    named = await latest_snapshot(quorum)
    expect(named.end_offset <= quorum.partition.high_watermark, "a committed one", named)


@SECTION.check(18, _KEYS, role=ServerRole.CONTROLLER, needs=Need.THROW_AWAY | Need.TWO_VOTERS)
async def _(server: Server) -> None:
    """A replica is known by its id and its directory: a voter's id elsewhere is an observer."""
    quorum = await describe_quorum(server)
    quorum.connection.demand(FetchRequest, 17)
    await quorum.demand_kraft_version(1)
    end = quorum.voters[quorum.leader_id].log_end_offset
    request = fetch(
        quorum, end, last_fetched_epoch=quorum.epoch, replica_directory_id=OTHER_DIRECTORY
    )
    voter = quorum.voters[quorum.follower_id]
    state = ReplicaState(replica_id=voter.replica_id)
    expect_error(await server.ask(request.replace(replica_state=state)), ErrorCode.NONE)
    after = await describe_quorum(server)
    keys = [(other.replica_id, other.replica_directory_id) for other in after.partition.observers]
    expect((voter.replica_id, OTHER_DIRECTORY) in keys, "it among the observers", keys)
    directory = after.voters[voter.replica_id].replica_directory_id
    expect_equal("directory of the voter", directory, voter.replica_directory_id)
