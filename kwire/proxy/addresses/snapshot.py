"""FetchSnapshot (KIP-630) with other addresses in the snapshot than the leader's.

Other addresses have other lengths, so a position in the rewritten snapshot is not the position in
the leader's. The batches before a position are rewritten in the same way each time, so the pairs of
positions at which a batch begins are enough to continue from; nothing of the snapshot is kept.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from kwire.batches import Budget
from kwire.codec.declaration import Response
from kwire.error_codes import ErrorCode
from kwire.messages.a59_fetch_snapshot import (
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    ResponsePartitionSnapshot,
)
from kwire.proxy.addresses.rewriter import AddressRewriter
from kwire.proxy.filters.filter import Call

CHUNK = 4 * 1024 * 1024
"""Most bytes that the leader is asked for at once."""

SPACING = 64 * 1024
"""Bytes between two positions that are kept, and the fewest that the leader is asked for."""


class BatchStart(NamedTuple):
    """The position of a batch in the rewritten snapshot and in the leader's."""

    rewritten: int
    original: int


class SnapshotPositions:
    """The known positions of batches in one snapshot for one reader."""

    def __init__(self) -> None:
        self._starts = [BatchStart(0, 0)]

    def before(self, position: int) -> BatchStart:
        """Return the last known start of a batch at or before a position of the reader's."""
        after = bisect_right(self._starts, position, key=lambda start: start.rewritten)
        return self._starts[after - 1]

    def add(self, start: BatchStart) -> None:
        """Remember the start of a batch, unless it is close behind the last one."""
        if start.rewritten >= self._starts[-1].rewritten + SPACING:
            self._starts.append(start)


async def read_snapshot(
    request: FetchSnapshotRequest,
    positions: SnapshotPositions,
    call: Call,
    rewriter: AddressRewriter,
) -> Response:
    """Answer a request for a piece of one partition's snapshot.

    1. Go back to the last known start of a batch before the reader's position, and read the
       leader's snapshot from there until there are bytes for the reader. An error of the leader's
       is the answer.
    2. Give no more bytes than the reader asked for.
    3. The size is a guess, as if nothing behind these bytes changed its length. It is right in the
       last answer, and only there it equals what the reader has, by which Kafka's KafkaRaftClient
       recognizes the end.
    Raises BatchError if what the leader sends cannot be batches.
    """
    # 1.
    position = request.topics[0].partitions[0].position
    start, original = positions.before(position)
    rewritten, unread = bytearray(), b""
    while True:
        answer = await call.ask(_at(request, original + len(unread)), call.version)
        await rewriter.message(answer, call)
        piece = _piece(answer)
        if piece is None:
            return answer
        unread += piece.unaligned_records
        budget = Budget.of_frame(len(unread))
        batches, end = await rewriter.log(unread, call, request.replica_id, budget)
        rewritten += b"".join(batches)
        original, unread = original + end, unread[end:]
        positions.add(BatchStart(start + len(rewritten), original))
        if not piece.unaligned_records or original + len(unread) >= piece.size:
            rewritten += unread
            original = piece.size
        if start + len(rewritten) > position or original == piece.size:
            break
    if position >= start + len(rewritten):
        piece.error_code = ErrorCode.POSITION_OUT_OF_RANGE
    piece.position = position
    # 3.
    piece.size = start + len(rewritten) + piece.size - original
    # 2.
    piece.unaligned_records = bytes(rewritten[position - start :][: request.max_bytes])
    return answer


def _at(request: FetchSnapshotRequest, position: int) -> FetchSnapshotRequest:
    """Return the request for another position, and for enough bytes to be worth a round trip."""
    (topic,) = request.topics
    (partition,) = topic.partitions
    size = min(max(request.max_bytes, SPACING), CHUNK)
    moved = topic.replace(partitions=[partition.replace(position=position)])
    return request.replace(max_bytes=size, topics=[moved])


def _piece(answer: Response) -> ResponsePartitionSnapshot | None:
    """Return the piece of the snapshot in an answer, None if the answer is an error."""
    if not isinstance(answer, FetchSnapshotResponse) or answer.error_code:
        return None
    pieces = [piece for topic in answer.topics for piece in topic.partitions]
    return pieces[0] if len(pieces) == 1 and not pieces[0].error_code else None
