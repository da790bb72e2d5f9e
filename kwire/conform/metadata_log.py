"""The metadata log, read by Fetch and FetchSnapshot as an observer reads it (KIP-595, KIP-630)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple
from weakref import WeakKeyDictionary

from kwire.batches import RecordBatch, read_batches
from kwire.batches.metadata_records import read_metadata_record
from kwire.codec.declaration import MetadataRecord
from kwire.conform.expectation import expect, expect_equal, expect_error
from kwire.conform.quorum import DescribedQuorum, describe_quorum
from kwire.conform.server import Server
from kwire.conform.vocabulary import Skipped
from kwire.conform.whole_answer import filled
from kwire.error_codes import ErrorCode
from kwire.image import EMPTY, MetadataImage, apply, apply_all
from kwire.logdir.names import OffsetAndEpoch, snapshot_name
from kwire.logdir.snapshots import SnapshotContent, snapshot_content
from kwire.messages.a01_fetch import FetchRequest
from kwire.messages.a01_fetch import PartitionData as FetchedPartition
from kwire.messages.a59_fetch_snapshot import FetchSnapshotRequest, SnapshotId
from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kwire.messages.records.no_op import NoOpRecord

SNAPSHOT_LIMIT = 64 << 20
"""Bytes of a snapshot that a check reads."""
LOG_LIMIT = 64 << 20
"""Bytes of the log that a check reads."""

_PIECE = 1 << 20
_BEGINNING = OffsetAndEpoch(offset=0, epoch=0)


def fetch(quorum: DescribedQuorum, offset: int = 0, **changes: object) -> FetchRequest:
    """Return a request for the metadata log; changes: of its partition."""
    partition = {
        "current_leader_epoch": quorum.epoch,
        "fetch_offset": offset,
        "last_fetched_epoch": 0,
        "partition_max_bytes": _PIECE,
        **changes,
    }
    topic = {"topic": METADATA_TOPIC, "topic_id": METADATA_TOPIC_ID, "partitions": [partition]}
    return filled(FetchRequest, max_wait_ms=0, min_bytes=1, max_bytes=_PIECE, topics=[topic])


def fetch_snapshot(
    quorum: DescribedQuorum, id: SnapshotId, topic: str = METADATA_TOPIC, **changes: object
) -> FetchSnapshotRequest:
    """Return a request for a piece of a snapshot; changes: of its partition."""
    partition = {"current_leader_epoch": quorum.epoch, "snapshot_id": id, **changes}
    topics = [{"name": topic, "partitions": [partition]}]
    return filled(FetchSnapshotRequest, max_bytes=_PIECE, topics=topics)


class LogStep(NamedTuple):
    """One metadata record, and the images before and after it. batch: the one it is in."""

    batch: RecordBatch
    record: MetadataRecord
    before: MetadataImage
    after: MetadataImage


@dataclass(slots=True, kw_only=True)
class FetchedLog:
    """Batches of the log up to the high watermark, from its start or behind its last snapshot.

    image: behind the last batch. steps: those of records that kwire knows, but for NoOps.
    """

    quorum: DescribedQuorum
    start: OffsetAndEpoch = _BEGINNING
    end: OffsetAndEpoch = _BEGINNING
    snapshot: SnapshotContent | None = None
    image: MetadataImage = EMPTY
    batches: list[RecordBatch] = field(default_factory=list)
    steps: list[LogStep] = field(default_factory=list)

    def begin(self, id: SnapshotId, data: bytes) -> None:
        """Begin behind a snapshot."""
        self.start = self.end = OffsetAndEpoch(offset=id.end_offset, epoch=id.epoch)
        self.snapshot = snapshot_content(data, Path(snapshot_name(self.start)))
        self.image = apply_all(EMPTY, self.snapshot.records)

    def append(self, batch: RecordBatch) -> None:
        """Add the next batch."""
        self.batches.append(batch)
        self.end = OffsetAndEpoch(offset=batch.last_offset + 1, epoch=batch.partition_leader_epoch)
        for record in () if batch.is_control else batch.records():
            metadata = read_metadata_record(record.value or b"")
            if isinstance(metadata.record, NoOpRecord):
                continue
            before, self.image = self.image, apply(self.image, metadata)
            if isinstance(metadata.record, MetadataRecord):
                self.steps.append(LogStep(batch, metadata.record, before, self.image))


_READ: dict[tuple[str, str | None], FetchedLog] = {}
"""Logs as they were read last, by address and cluster id: each check reads only what came since."""


_READING: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
"""One check reads at a time, since the next then finds what it read."""


async def read_log(server: Server) -> FetchedLog:
    """Read the committed log from the leader; other checks wait meanwhile."""
    async with _READING.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
        return await _read_log(server)


async def _read_log(server: Server) -> FetchedLog:
    """Read the committed log from the leader.

    1. Go on where the log of this server was read last, as long as it is the same log.
    2. Else fetch from offset 0; where the leader names a snapshot instead, load it.
    """
    quorum = await describe_quorum(server)
    key = (str(server.target.address), server.target.cluster_id)
    # 1.
    known = _READ.get(key)
    if known is not None:
        log = replace(known, quorum=quorum, batches=[*known.batches], steps=[*known.steps])
        if await _read_batches(log):
            _READ[key] = log
            return log
    # 2.
    log = FetchedLog(quorum=quorum)
    if (id := await _named_snapshot(quorum)) is not None:
        log.begin(id, await read_snapshot(quorum, id))
    expect(await _read_batches(log), "the log from its start on", "a place where it diverges")
    _READ[key] = log
    return log


async def _read_batches(log: FetchedLog) -> bool:
    """Add what is committed; return False if the leader's log is another one."""
    size = sum(batch.size for batch in log.batches)
    while True:
        end = log.end
        fetched = await fetch_partition(log.quorum, end.offset, last_fetched_epoch=end.epoch)
        diverging, snapshot = fetched.diverging_epoch, fetched.snapshot_id
        if any(place is not None and place.end_offset >= 0 for place in (diverging, snapshot)):
            return False
        if end.offset >= fetched.high_watermark:
            return True
        batches = list(read_batches(fetched.records or b""))
        expect(batches, f"batches from {end} on", "none")
        for batch in batches:
            assert isinstance(batch, RecordBatch), "the log has no batches of old formats"
            if batch.last_offset >= fetched.high_watermark:
                return True
            log.append(batch)
            size += batch.size
        if size > LOG_LIMIT:
            raise Skipped(f"the metadata log has more than {LOG_LIMIT >> 20} MiB to read")


async def fetch_partition(
    quorum: DescribedQuorum, offset: int = 0, **changes: object
) -> FetchedPartition:
    """Return what the leader has from an offset on. Raises Deviation for an error."""
    answer = await quorum.connection.ask(fetch(quorum, offset, **changes))
    expect_error(answer, ErrorCode.NONE)
    partition: FetchedPartition = answer.responses[0].partitions[0]
    return partition


async def latest_snapshot(quorum: DescribedQuorum) -> SnapshotId:
    """Return the id of the snapshot that a new replica is sent to. Raises Skipped."""
    if (id := await _named_snapshot(quorum)) is None:
        raise Skipped("the leader has no snapshot yet")
    return id


async def _named_snapshot(quorum: DescribedQuorum) -> SnapshotId | None:
    """Return the id of the snapshot that the leader names to who fetches from offset 0."""
    named = (await fetch_partition(quorum)).snapshot_id
    if named is None or named.end_offset < 0:
        return None
    return SnapshotId(end_offset=named.end_offset, epoch=named.epoch)


async def read_snapshot(quorum: DescribedQuorum, id: SnapshotId) -> bytes:
    """Read a snapshot piece by piece, each where the last one ended, and return its bytes."""
    data = bytearray()
    size = -1
    while size < 0 or len(data) < size:
        answer = await quorum.connection.ask(fetch_snapshot(quorum, id, position=len(data)))
        expect_error(answer, ErrorCode.NONE)
        piece = answer.topics[0].partitions[0]
        expect_equal("snapshot", piece.snapshot_id, id)
        expect_equal("position", piece.position, len(data))
        expect(size in (-1, piece.size), f"the size {size} as before", piece.size)
        size = piece.size
        if size > SNAPSHOT_LIMIT:
            raise Skipped(f"the snapshot has more than {SNAPSHOT_LIMIT >> 20} MiB")
        expect(piece.unaligned_records, "bytes of the snapshot", "none")
        data += piece.unaligned_records
    expect_equal("bytes of the snapshot", len(data), size)
    return bytes(data)
