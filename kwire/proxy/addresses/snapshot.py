"""Snapshots for readers that are to find other addresses in them (FetchSnapshot, KIP-630).

Other addresses have other lengths, so what a reader has got so far is not where the leader's
snapshot has to be read on. A reader asks for one position after the other, and any that was given
out can be found again: the batches before it change in the same way each time. So only places
where a batch began are kept, nothing of the snapshot, and it is read on from there.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from kwire.codec.declaration import Response
from kwire.messages.a59_fetch_snapshot import (
    FetchSnapshotRequest,
    FetchSnapshotResponse,
    ResponsePartitionSnapshot,
)
from kwire.proxy.addresses.rewriter import Rewriter
from kwire.proxy.filters.filter import Call

CHUNK = 4 * 1024 * 1024
"""Most bytes that the leader is asked for at once."""

SPACING = 64 * 1024
"""Bytes between two places that are kept, and the fewest that the leader is asked for."""

POSITION_OUT_OF_RANGE = 99


class Mark(NamedTuple):
    """Where a batch begins: as it was rewritten, and in the original."""

    rewritten: int
    original: int


class SnapshotPositions:
    """What is known of one snapshot for one reader."""

    def __init__(self) -> None:
        self._marks = [Mark(0, 0)]

    def before(self, position: int) -> Mark:
        """The last known place where a batch began, at or before a position of the reader's."""
        return self._marks[bisect_right(self._marks, position, key=lambda mark: mark.rewritten) - 1]

    def learn(self, mark: Mark) -> None:
        """A batch begins here."""
        if mark.rewritten >= self._marks[-1].rewritten + SPACING:
            self._marks.append(mark)


async def read_snapshot(
    request: FetchSnapshotRequest, positions: SnapshotPositions, call: Call, rewriter: Rewriter
) -> Response:
    """The answer to a request for a piece of one partition's snapshot.

    1. Go back to the last known place before the reader's position, and read the leader's on from
       there until there are bytes for the reader. An error of the leader's is the answer.
    2. Give no more than the reader asked for.
    3. The size is what it will be if nothing else changes. In the last answer it is right, and only
       there it equals what the reader has, by which Kafka's KafkaRaftClient knows the end.
    Raises BatchError where what the leader sends can be no batch.
    """
    position = request.topics[0].partitions[0].position
    start, original = positions.before(position)
    done, unread = bytearray(), b""
    while True:
        answer = await call.ask(_at(request, original + len(unread)), call.version)
        await rewriter.message(answer, call)
        found = _found(answer)
        if found is None:
            return answer
        unread += found.unaligned_records
        batches, end = await rewriter.log(unread, call, request.replica_id)
        done += b"".join(batches)
        original, unread = original + end, unread[end:]
        positions.learn(Mark(start + len(done), original))
        if not found.unaligned_records or original + len(unread) >= found.size:
            done += unread
            original = found.size
        if start + len(done) > position or original == found.size:
            break
    if position >= start + len(done):
        found.error_code = POSITION_OUT_OF_RANGE
    found.position = position
    found.size = start + len(done) + found.size - original
    found.unaligned_records = bytes(done[position - start :][: request.max_bytes])
    return answer


def _at(request: FetchSnapshotRequest, position: int) -> FetchSnapshotRequest:
    """The same request for another position, and for as many bytes as are worth the asking."""
    (topic,) = request.topics
    (partition,) = topic.partitions
    size = min(max(request.max_bytes, SPACING), CHUNK)
    moved = topic.replace(partitions=[partition.replace(position=position)])
    return request.replace(max_bytes=size, topics=[moved])


def _found(answer: Response) -> ResponsePartitionSnapshot | None:
    """The piece in an answer without errors."""
    if not isinstance(answer, FetchSnapshotResponse) or answer.error_code:
        return None
    pieces = [piece for topic in answer.topics for piece in topic.partitions]
    return pieces[0] if len(pieces) == 1 and not pieces[0].error_code else None
