"""The requests to brokers in a recorded migration, and the metadata log that they come from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise
from pathlib import Path

from kwire.batches import RecordBatch, read_batches
from kwire.batches.metadata_records import VersionedRecord, read_metadata_record
from kwire.capture.reading import Damage, read_capture
from kwire.capture.record import REQUEST
from kwire.image import EMPTY, MetadataImage, apply_all
from kwire.image.changes import MetadataChanges
from kwire.messages.records.no_op import NoOpRecord
from kwire.migration.driver.propagation import (
    BrokerRequest,
    ControlRequestSender,
    full_requests,
    incremental_requests,
    is_told,
)
from kwire.net.frames import decode_request
from tests.support.migration.driver.control_requests import (
    RequestsByBroker,
    ShownRequest,
    requests_by_broker,
    shown,
)

CONTROLLER = 3000

ALL = 1 << 30
"""More requests than there are: nothing is left to explain."""

Step = tuple[MetadataImage, list[VersionedRecord]]
"""The image after a batch, and the batch."""


class RecordedMigration:
    """A folder with `rpcs.avro`, and the log in `rpcs-metadata`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def captured(self) -> dict[int, RequestsByBroker]:
        """Return the requests of the quorum's controller, by its epoch in ZooKeeper and broker."""
        leaderships: dict[int, RequestsByBroker] = defaultdict(lambda: defaultdict(list))
        for record in read_capture(self._folder / "rpcs.avro"):
            if isinstance(record, Damage) or record.kind != REQUEST or record.frame is None:
                continue
            if record.peer_id != CONTROLLER or record.node_id in (None, CONTROLLER):
                continue
            frame = decode_request(record.frame)
            request = shown(frame.body, frame.version)
            leaderships[request[2]["controller_epoch"]][record.node_id].append(request)
        return leaderships

    def images(self, raft_epoch: int) -> list[Step]:
        """Return each batch of an epoch with the image after it."""
        image, found = EMPTY, []
        for epoch, batches in groupby(self._committed(), key=lambda item: item[0]):
            for _, records in batches:
                image = apply_all(image, records)
                if epoch == raft_epoch:
                    found.append((image, records))
        return found

    def _committed(self) -> Iterator[tuple[int, list[VersionedRecord]]]:
        for segment in sorted((self._folder / "rpcs-metadata").glob("*.log")):
            for batch in read_batches(segment.read_bytes()):
                assert isinstance(batch, RecordBatch)
                if not batch.is_control:
                    values = (record.value or b"" for record in batch.records())
                    records = [read_metadata_record(value) for value in values]
                    yield batch.partition_leader_epoch, records

    def sent(self, zk_epoch: int, raft_epoch: int, skipped: int) -> RequestsByBroker:
        """Return the requests of a leadership, if each batch is told alone.

        skipped: batches of its epoch that were committed before it sent everything.
        """
        steps = self.images(raft_epoch)[skipped:]
        requests = list(full_requests(_sender(zk_epoch), steps[0][0], raft_epoch))
        for (before, _), (after, records) in pairwise(steps):
            changes = MetadataChanges.of(before, after, records)
            requests += incremental_requests(_sender(zk_epoch), changes, raft_epoch)
        return requests_by_broker(requests)

    def unexplained(self, zk_epoch: int, raft_epoch: int) -> list[str]:
        """Return which requests of a leadership do not come of the log, or are missing.

        1. One image goes in full to all brokers that are told by then, which is one at least.
        2. What each broker gets after that is explained by what has changed since. Batches may
           have come together. What is on its way to a broker that is then fenced may be lost.

        Empty if some image explains all; else a line for each broker, by the image that explains
        most.
        """
        steps = [step for step in self.images(raft_epoch) if _is_change(step)]
        requests = self.captured()[zk_epoch]
        ids = {id for image, _ in steps for id in _told_brokers(image)} | set(requests)
        explanations = {
            id: _Explanation(_sender(zk_epoch), raft_epoch, id, steps, requests[id]) for id in ids
        }
        found = [(len(ids) + 1, 0, ["no broker is told"])]
        # 1.
        for start in [number for number, (image, _) in enumerate(steps) if _told_brokers(image)]:
            # 2.
            taken = {id: explanation.taken_from(start) for id, explanation in explanations.items()}
            left = {id: most for id, most in sorted(taken.items()) if most != ALL}
            lines = [
                f"broker {id}: {most} of {len(requests[id])} requests after batch {start}"
                for id, most in left.items()
            ]
            found.append((len(lines), -sum(left.values()), lines))
        return min(found)[-1]


def _is_change(step: Step) -> bool:
    return any(not isinstance(record.record, NoOpRecord) for record in step[1])


def _told_brokers(image: MetadataImage) -> set[int]:
    return {id for id, broker in image.cluster.brokers.items() if is_told(broker)}


def _sender(zk_epoch: int) -> ControlRequestSender:
    return ControlRequestSender(
        node_id=CONTROLLER, zk_epoch=zk_epoch, inter_broker_listener="PLAINTEXT"
    )


class _Explanation:
    """Of the requests to one broker, by the batches that change something."""

    def __init__(
        self,
        sender: ControlRequestSender,
        raft_epoch: int,
        broker: int,
        steps: list[Step],
        requests: list[ShownRequest],
    ) -> None:
        self._sender, self._raft_epoch, self._broker = sender, raft_epoch, broker
        self._steps, self._requests = steps, requests
        self._changes: dict[tuple[int, int], list[ShownRequest]] = {}
        self._known: dict[tuple[int, int], int] = {}

    def taken_from(self, start: int) -> int:
        """Return ALL if the batches from one on explain all requests, else how many of them."""
        image = self._steps[start][0]
        full = self._shown(full_requests(self._sender, image, self._raft_epoch))
        return self._taken(start, len(full)) if self._requests[: len(full)] == full else 0

    def _taken(self, last: int, taken: int) -> int:
        """Return the same of the batches after one, for the requests after those taken so far."""
        if last == len(self._steps) - 1:
            return ALL if taken == len(self._requests) else taken
        if (last, taken) not in self._known:
            self._known[last, taken] = max(self._choices(last, taken), default=taken)
        return self._known[last, taken]

    def _choices(self, last: int, taken: int) -> Iterator[int]:
        """Yield what is taken if the batches after one came as one change, for each number."""
        for end in range(last + 1, len(self._steps)):
            told = self._change(last, end)
            came = self._common(taken, told)
            # Once something is lost nothing comes until the broker is fenced.
            following = end if came == len(told) else self._fenced(end)
            if following is None:
                yield taken + came
            else:
                yield self._taken(following, taken + came)

    def _common(self, taken: int, told: list[ShownRequest]) -> int:
        """Return how many of the requests came, after those that were taken."""
        came = 0
        while came < len(told) and self._requests[taken + came : taken + came + 1] == [told[came]]:
            came += 1
        return came

    def _change(self, last: int, end: int) -> list[ShownRequest]:
        if (last, end) not in self._changes:
            records = [record for _, batch in self._steps[last + 1 : end + 1] for record in batch]
            changes = MetadataChanges.of(self._steps[last][0], self._steps[end][0], records)
            requests = incremental_requests(self._sender, changes, self._raft_epoch)
            self._changes[last, end] = self._shown(requests)
        return self._changes[last, end]

    def _fenced(self, step: int) -> int | None:
        """Return the first step from one on after which the broker is not told any more."""
        for number, (image, _) in enumerate(self._steps[step:], step):
            if self._broker not in _told_brokers(image):
                return number
        return None

    def _shown(self, requests: Iterable[BrokerRequest]) -> list[ShownRequest]:
        return requests_by_broker(requests)[self._broker]
