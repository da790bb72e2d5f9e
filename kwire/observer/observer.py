"""An observer of the metadata quorum without IO: requests out, answers in, an image kept (KIP-595).

It fetches under replica id -1, which a leader answers and does not count, and is told of a new high
watermark at once by leaders that can (KIP-1166). Batches beyond the high watermark wait, and are
dropped where the leader's log diverges; if the log begins later than the requested offset, the
observer loads its snapshot (KIP-630).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import NamedTuple

from kwire.batches import RecordBatch, read_batches
from kwire.batches.metadata_records import read_metadata_record
from kwire.codec.declaration import Response
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError, WireError
from kwire.image import EMPTY, MetadataImage, apply_all
from kwire.logdir.names import OffsetAndEpoch
from kwire.logdir.snapshots import SnapshotContent
from kwire.messages.a01_fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    NodeEndpoint,
    PartitionData,
)
from kwire.messages.a59_fetch_snapshot import (
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    ResponsePartitionSnapshot,
)
from kwire.messages.data.voters_record import VotersRecord
from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID, is_metadata_topic
from kwire.observer.raft_state import RaftState
from kwire.observer.snapshot_download import PartialSnapshot
from kwire.observer.uncommitted import UncommittedBatches

MAX_WAIT_MS = 500
MAX_BYTES = 8 << 20

_LOG_START = OffsetAndEpoch(offset=0, epoch=0)
_NOT_LEADING = {
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
    ErrorCode.BROKER_NOT_AVAILABLE,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.UNKNOWN_TOPIC_ID,
}


_HINTS: dict[int, str] = {
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "allow this principal CLUSTER_ACTION on the cluster",
    ErrorCode.INCONSISTENT_CLUSTER_ID: "the node belongs to another cluster",
}


class NextStep(Enum):
    """The step after a response: ask the same node again, or find the one that leads."""

    ASK = "ask"
    FIND_LEADER = "find leader"


class LeaderEndpoint(NamedTuple):
    """The id and address of the leader, as a node gave them."""

    node_id: int
    host: str
    port: int


class LogStart(NamedTuple):
    """An image, and the place in the log from which on records are applied to it.

    timestamp: milliseconds since 1970, of the last record in the image; -1 if there is none. raft:
    the control records up to there.
    """

    image: MetadataImage
    place: OffsetAndEpoch
    timestamp: int
    raft: RaftState = RaftState()


_BEGINNING = LogStart(EMPTY, _LOG_START, -1)


class Observer:
    """Keeps the image at `offset`: everything below is committed and applied.

    cluster_id: sent to the nodes, which refuse another; None sends none. epoch, leader_id: the
    latest seen, -1 for no leader. raft: the control records up to `offset`. high_watermark: -1
    before a leader has said one, and again after a snapshot. snapshot: the one loaded last, if any
    was. start: its image, the one that was given, or that of the first batch. timestamp:
    milliseconds since 1970, of the last batch in the image. end: apply no record from this offset
    on, None applies all. on_batch: is called with each batch after it was applied, and again with
    the same batches after a `restart`.
    """

    def __init__(
        self,
        cluster_id: str | None = None,
        *,
        start: LogStart = _BEGINNING,
        end: int | None = None,
    ) -> None:
        self._cluster_id = cluster_id
        self._end = end
        self.on_batch: Callable[[RecordBatch], None] | None = None
        self.start = start
        self._image = start.image
        self._uncommitted = UncommittedBatches(start.place)
        self._download: PartialSnapshot | None = None
        # A request with records of a later epoch than its own is refused.
        self.epoch = start.place.epoch
        self.leader_id = -1
        self.leader_endpoint: LeaderEndpoint | None = None
        self.high_watermark = -1
        self.snapshot: OffsetAndEpoch | None = None
        self.raft = start.raft
        self.timestamp = start.timestamp

    @property
    def image(self) -> MetadataImage:
        """The image of all that is committed, without the records of an open transaction."""
        return self._image.published

    @property
    def kraft_version(self) -> int:
        """Its level, 0 in quorums of controller.quorum.voters."""
        return self.raft.kraft_version

    @property
    def voters(self) -> VotersRecord | None:
        """The voters that the log names, None in quorums of controller.quorum.voters."""
        return self.raft.voters

    @property
    def offset(self) -> int:
        """The offset after the last record in the image."""
        return self._uncommitted.start.offset

    @property
    def position(self) -> OffsetAndEpoch:
        """The offset after the last record in the image, with the epoch of that record."""
        return self._uncommitted.start

    @property
    def is_current(self) -> bool:
        """True if all that was known to be committed is in the image."""
        return 0 <= self.high_watermark <= self.offset and self._download is None

    @property
    def has_ended(self) -> bool:
        """True if all that is committed below `end` is in the image, or a later snapshot is."""
        if self._end is None or self._download is not None or self.high_watermark < 0:
            return False
        # A batch that reaches beyond the end is fetched and not applied.
        return self._uncommitted.end.offset >= min(self._end, self.high_watermark)

    def request(self) -> FetchRequest | FetchSnapshotRequest:
        """Return the next request: Fetch, or FetchSnapshot while a snapshot is downloaded."""
        if self._download is not None:
            return self._download.request(METADATA_TOPIC, self.epoch, self._cluster_id)
        end = self._uncommitted.end
        partition = FetchPartition(
            partition=0,
            current_leader_epoch=self.epoch,
            fetch_offset=end.offset,
            last_fetched_epoch=end.epoch,
            partition_max_bytes=MAX_BYTES,
            high_watermark=self.high_watermark,
        )
        topic = FetchTopic(topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[partition])
        return FetchRequest(
            cluster_id=self._cluster_id,
            # Behind the high watermark more is there to fetch: no wait.
            max_wait_ms=MAX_WAIT_MS if self.is_current else 0,
            min_bytes=1,
            max_bytes=MAX_BYTES,
            topics=[topic],
        )

    def receive(self, response: Response) -> NextStep:
        """Handle the answer to the last request.

        Raises BrokerError if the node refuses for good, WireError if the log, or the node's account
        of it, is inconsistent: call `restart` then, which begins anew.
        """
        if isinstance(response, FetchSnapshotResponse):
            return self._receive_snapshot(response)
        assert isinstance(response, FetchResponse), "nothing else is asked"
        _check(response.error_code)
        partition = _only(response)
        leader = partition.current_leader
        if leader is not None:
            self._note_leader(leader.leader_id, leader.leader_epoch)
            self._note_endpoint(response.node_endpoints)
        if partition.error_code:
            return self._refused(partition.error_code)
        return self._receive_log(partition)

    def restart(self) -> None:
        """Forget the log, and begin at its start."""
        self.start = _BEGINNING
        self._image, self.raft = EMPTY, RaftState()
        self._download = None
        self._uncommitted = UncommittedBatches(_LOG_START)
        self.high_watermark = -1

    def _note_leader(self, leader_id: int, epoch: int) -> None:
        if epoch >= self.epoch:
            self.epoch, self.leader_id = epoch, leader_id

    def _note_endpoint(self, endpoints: list[NodeEndpoint]) -> None:
        for endpoint in endpoints:
            if endpoint.node_id == self.leader_id:
                self.leader_endpoint = LeaderEndpoint(
                    endpoint.node_id, endpoint.host, endpoint.port
                )

    def _refused(self, code: int) -> NextStep:
        # The response named the newer epoch, which `_note_leader` has taken: the same node may lead
        # in it.
        if code == ErrorCode.FENCED_LEADER_EPOCH:
            return NextStep.ASK
        if code in _NOT_LEADING:
            return NextStep.FIND_LEADER
        if code == ErrorCode.SNAPSHOT_NOT_FOUND:
            self._download = None
            return NextStep.ASK
        raise _refusal(code)

    def _receive_log(self, partition: PartitionData) -> NextStep:
        diverging, snapshot = partition.diverging_epoch, partition.snapshot_id
        if diverging is not None and diverging.end_offset >= 0:
            self._diverged(OffsetAndEpoch(offset=diverging.end_offset, epoch=diverging.epoch))
            return NextStep.ASK
        if snapshot is not None and snapshot.end_offset >= 0:
            self._download = PartialSnapshot(
                OffsetAndEpoch(offset=snapshot.end_offset, epoch=snapshot.epoch)
            )
            return NextStep.ASK
        for batch in read_batches(partition.records or b""):
            if not isinstance(batch, RecordBatch):
                raise WireError("the metadata log has a batch of an old format")
            self._uncommitted.append(batch)
        # A new leader does not know the high watermark yet and may name a lower one; what is
        # committed stays committed.
        self.high_watermark = max(self.high_watermark, partition.high_watermark)
        end = self.high_watermark if self._end is None else min(self.high_watermark, self._end)
        for batch in self._uncommitted.take(end):
            self._apply(batch)
            self.timestamp = batch.max_timestamp
            # Who asks for the log from 0 on is sent to the latest snapshot, as soon as there is
            # one; from the second batch on the log is given as long as it is there.
            if not self.start.place.offset:
                self.start = LogStart(self._image, self.position, self.timestamp, self.raft)
        return NextStep.ASK

    def _diverged(self, end: OffsetAndEpoch) -> None:
        before = self._uncommitted.end
        self._uncommitted.truncate(end)
        # Nothing uncommitted was dropped, so the logs differ in what was committed: this is another
        # log.
        if self._uncommitted.end == before:
            raise WireError(f"the leader's log diverges at {end}, below what was committed")

    def _apply(self, batch: RecordBatch) -> None:
        if batch.is_control:
            self.raft = self.raft.after(batch)
        else:
            values = (record.value or b"" for record in batch.records())
            self._image = apply_all(self._image, map(read_metadata_record, values))
        if self.on_batch is not None:
            self.on_batch(batch)

    def _receive_snapshot(self, response: FetchSnapshotResponse) -> NextStep:
        _check(response.error_code)
        piece = _only_piece(response)
        if piece.current_leader is not None:
            self._note_leader(piece.current_leader.leader_id, piece.current_leader.leader_epoch)
        if piece.error_code:
            return self._refused(piece.error_code)
        assert self._download is not None, "only then it is asked for"
        snapshot = self._download.take(piece)
        if snapshot is not None:
            self._load(snapshot, self._download.id)
        return NextStep.ASK

    def _load(self, snapshot: SnapshotContent, id: OffsetAndEpoch) -> None:
        self._download = None
        self.snapshot = id
        # A snapshot stands for the whole log below it: the image begins anew.
        self._image = apply_all(EMPTY, snapshot.records)
        self._uncommitted = UncommittedBatches(id)
        self.raft = RaftState.of_snapshot(snapshot, id.offset)
        self.timestamp = snapshot.last_contained_log_timestamp
        self.start = LogStart(self._image, id, self.timestamp, self.raft)
        # The log goes on behind the snapshot: the next Fetch says how far it is committed.
        self.high_watermark = -1


def _check(code: int) -> None:
    if code:
        raise _refusal(code)


def _refusal(code: int) -> BrokerError:
    hint = _HINTS.get(code, "see the log of the node")
    return BrokerError(code, f"the metadata log cannot be read: {hint}")


def _only(response: FetchResponse) -> PartitionData:
    for topic in response.responses:
        if is_metadata_topic(topic.topic, topic.topic_id):
            for partition in topic.partitions:
                return partition
    raise WireError(f"the answer to a Fetch of {METADATA_TOPIC} lacks it")


def _only_piece(response: FetchSnapshotResponse) -> ResponsePartitionSnapshot:
    for topic in response.topics:
        for partition in topic.partitions:
            return partition
    raise WireError(f"the answer to a FetchSnapshot of {METADATA_TOPIC} lacks it")
