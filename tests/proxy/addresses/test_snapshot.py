"""A snapshot arrives whole and readable, whatever its pieces, though its addresses have changed."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import Response
from kwire.errors import BatchError
from kwire.logdir.snapshots import build_snapshot, snapshot_content
from kwire.messages.a59_fetch_snapshot import (
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    PartitionSnapshot,
    ResponsePartitionSnapshot,
    ResponseTopicSnapshot,
    SnapshotId,
    TopicSnapshot,
)
from kwire.messages.data.voters_record import Endpoint, Voter, VotersRecord
from kwire.messages.records.register_broker import BrokerEndpoint, RegisterBrokerRecord
from kwire.messages.records.topic import TopicRecord
from kwire.proxy import Call, Flow
from kwire.proxy.addresses.rewriter import AddressRewriter
from kwire.proxy.addresses.snapshot import SnapshotPositions, read_snapshot
from tests.support.proxy.addresses.address_books import InstantListeners, a_flow

READER = 3001
NONE, SNAPSHOT_NOT_FOUND, POSITION_OUT_OF_RANGE = 0, 98, 99
SNAPSHOT = SnapshotId(end_offset=500, epoch=2)


def snapshot(brokers: int, topics: int) -> bytes:
    """A snapshot of voters, brokers at hosts of many lengths, and topics."""
    voters = VotersRecord(
        voters=[
            Voter(voter_id=READER, endpoints=[Endpoint(name="C", host="own", port=9093)]),
            Voter(voter_id=3000, endpoints=[Endpoint(name="C", host="leader" * 9, port=9093)]),
        ]
    )
    registered = [
        RegisterBrokerRecord(
            broker_id=number,
            end_points=[BrokerEndpoint(name="P", host="x" * (number % 60 + 1), port=9092)],
        )
        for number in range(brokers)
    ]
    named = [TopicRecord(name=f"topic-{number}") for number in range(topics)]
    records = [VersionedRecord(record=record, version=0) for record in (*registered, *named)]
    return b"".join(build_snapshot(records, epoch=2, now=1, kraft_version=1, voters=voters))


@dataclass
class Leader:
    """Answers as Kafka's leader does, with no more than `most` bytes."""

    data: bytes
    most: int
    flow: Flow = field(default_factory=a_flow)
    envelope: None = None

    async def until(self, begin: Any) -> Any:
        """Begin, and return at once what the filter waits for."""
        found: list[Any] = []
        begin(found.append)
        return found[0]

    def note(self, text: str) -> None:
        """Nobody listens."""

    def ask(self, request: FetchSnapshotRequest, version: int) -> Awaitable[Response]:
        return self._answer(request)

    @property
    def version(self) -> int:
        return 1

    async def _answer(self, request: FetchSnapshotRequest) -> FetchSnapshotResponse:
        (asked,) = request.topics[0].partitions
        position, size = asked.position, len(self.data)
        found = ResponsePartitionSnapshot(snapshot_id=asked.snapshot_id)
        if asked.snapshot_id != SNAPSHOT:
            found.error_code = SNAPSHOT_NOT_FOUND
        elif not 0 <= position < size:
            found.error_code = POSITION_OUT_OF_RANGE
        else:
            found.position, found.size = position, size
            end = position + min(request.max_bytes, self.most)
            found.unaligned_records = self.data[position:end]
        return FetchSnapshotResponse(topics=[ResponseTopicSnapshot(partitions=[found])])


def piece(
    leader: Leader,
    position: int,
    positions: SnapshotPositions,
    rewriter: AddressRewriter,
    *,
    max_bytes: int = 1 << 20,
    snapshot_id: SnapshotId = SNAPSHOT,
) -> ResponsePartitionSnapshot:
    """One answer for the reader."""
    asked = PartitionSnapshot(position=position, snapshot_id=snapshot_id)
    topics = [TopicSnapshot(name="__cluster_metadata", partitions=[asked])]
    request = FetchSnapshotRequest(replica_id=READER, max_bytes=max_bytes, topics=topics)
    reading = read_snapshot(request, positions, cast(Call, leader), rewriter)
    answer = asyncio.run(reading)
    assert isinstance(answer, FetchSnapshotResponse)
    (found,) = answer.topics[0].partitions
    return found


def read_as_kafka(leader: Leader, max_bytes: int, forget_every: int) -> bytes:
    """All of it, as KafkaRaftClient reads: it ends where the size is what it has.

    forget_every: pieces after which another proxy takes over.
    """
    openings, positions, got, pieces = InstantListeners(), SnapshotPositions(), b"", 0
    while True:
        if pieces % forget_every == forget_every - 1:
            positions = SnapshotPositions()
        rewriter = AddressRewriter(openings.book)
        found = piece(leader, len(got), positions, rewriter, max_bytes=max_bytes)
        assert (found.error_code, found.position) == (NONE, len(got))
        assert 0 < len(found.unaligned_records) <= max_bytes
        got += found.unaligned_records
        pieces += 1
        if len(got) == found.size:
            return got


@pytest.mark.costly
@settings(max_examples=40)
@given(
    st.integers(0, 100),
    st.sampled_from([0, 3, 1500]),
    st.integers(700, 300_000),
    st.integers(1000, 300_000),
    st.integers(2, 40),
)
def test_a_reader_gets_a_whole_snapshot_with_other_addresses_in_any_pieces(
    brokers: int, topics: int, most: int, max_bytes: int, forget_every: int
) -> None:
    data = snapshot(brokers, topics)
    got = read_as_kafka(Leader(data, most), max_bytes, forget_every)
    before, after = (snapshot_content(one, Path("snapshot")) for one in (data, got))
    assert after.voters is not None
    own, leader = after.voters.voters
    assert (own.endpoints[0].host, leader.endpoints[0].host) == ("own", "proxy.example.org")
    hosts = []
    for old, new in zip(before.records, after.records, strict=True):
        if isinstance(new.record, RegisterBrokerRecord):
            hosts.append(new.record.end_points[0].host)
        else:
            assert new == old
    assert hosts == ["proxy.example.org"] * brokers


def test_the_leaders_errors_are_the_readers() -> None:
    leader, rewriter = Leader(snapshot(1, 1), 1 << 20), AddressRewriter(InstantListeners().book)
    gone = piece(leader, 0, SnapshotPositions(), rewriter, snapshot_id=SnapshotId(end_offset=1))
    assert gone.error_code == SNAPSHOT_NOT_FOUND
    positions = SnapshotPositions()
    size = piece(leader, 0, positions, rewriter).size
    for position in (size, size + 1):
        assert piece(leader, position, positions, rewriter).error_code == POSITION_OUT_OF_RANGE


def test_what_is_no_snapshot_is_refused() -> None:
    rewriter = AddressRewriter(InstantListeners().book)
    with pytest.raises(BatchError):
        piece(Leader(b"\xff" * 100, 50), 0, SnapshotPositions(), rewriter)
