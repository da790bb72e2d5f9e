"""The controller of a simulated node: the real handlers on its replica's log, as `Metadata` runs
them in a server."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

from controller.handlers.errors import ApiError
from controller.handlers.result import ControllerConfig, QuorumView
from controller.leadership import Leadership
from controller.quorum_controller import QuorumController
from controller.raft import BOOTSTRAP_SNAPSHOT, Append, OffsetAndEpoch, Raft
from controller.simulator.counter import Ledger
from controller.simulator.eligibility import Eligibility
from controller.simulator.machine import Machine
from kwire.batches import Record, read_batches
from kwire.declaration import Request, Response
from kwire.image import MetadataImage
from kwire.logdir.features import bootstrap_records
from kwire.logdir.snapshots import build_snapshot, snapshot_content
from kwire.metadata_records import VersionedRecord, read_metadata_record
from kwire.metadata_versions import LATEST_PRODUCTION, MetadataVersion

SESSION_MS = 2000
"""A broker that is silent for longer is fenced."""

LATE_MS = 100
"""What is due is done up to so much later: a loop has other work."""

BOOTSTRAP = bootstrap_records(MetadataVersion(LATEST_PRODUCTION), {})


class Metadata:
    """A state machine that writes: brokers and admins ask it, and are answered at the commit."""

    def __init__(self, machine: Machine, ledger: Ledger, eligibility: Eligibility) -> None:
        config = ControllerConfig(
            cluster_id=machine.config.cluster_id,
            node_id=machine.id,
            session_timeout_ms=SESSION_MS,
            leader_imbalance_check_interval_ms=1500,
            unclean_election_interval_ms=1000,
        )
        self.controller = QuorumController(config, machine.random)
        self.applied = OffsetAndEpoch(offset=0, epoch=0)
        self._machine, self._ledger, self._eligibility = machine, ledger, eligibility
        self._leadership: Leadership | None = None
        if ids := machine.disk.snapshots():
            self.load(ids[-1])

    @property
    def image(self) -> MetadataImage:
        """What is committed, as far as this node knows."""
        return self.controller.image

    def load(self, id: OffsetAndEpoch) -> None:
        """Begin anew from a snapshot."""
        if id == BOOTSTRAP_SNAPSHOT:
            return
        disk = self._machine.disk
        data = disk.read_snapshot(id, 0, disk.snapshot_size(id) or 0)
        self._ledger.snapshot(self._machine.name, id, data)
        self.controller.load(snapshot_content(data, Path(self._machine.name)).records, id.offset)
        self.applied = id

    def commit(self, high_watermark: int) -> None:
        """Apply what is committed now, and answer those who waited for it."""
        name, is_active = self._machine.name, self.controller.is_active
        for base, end, epoch, data in self._machine.disk.batches(
            self.applied.offset, high_watermark
        ):
            records = metadata_records(data)
            if self._ledger.committed(name, base, end, data):
                self._eligibility.committed(records, base)
            if not is_active:
                self.controller.replay(records, base)
            self.applied = OffsetAndEpoch(offset=end, epoch=epoch)
        if is_active:
            self.controller.commit(high_watermark)
        else:
            self._activate_soon()
        if self._leadership is not None:
            self._leadership.committed(high_watermark)

    def take_snapshot(self, raft: Raft) -> OffsetAndEpoch:
        """Write a snapshot of everything applied; its id."""
        id = self.applied
        voters = raft.voters_at(id.offset - 1)
        batches = build_snapshot(
            self.controller.committed.image.records(),
            epoch=id.epoch,
            now=0,
            kraft_version=raft.kraft_version_at(id.offset - 1),
            voters=voters.to_record() if voters is not None else None,
        )
        data = b"".join(batches)
        self._ledger.snapshot(self._machine.name, id, data)
        self._machine.disk.store_snapshot(id, data)
        return id

    def leads(self, epoch: int) -> None:
        """Begin to write as soon as everything in the log is committed and applied."""
        self._leadership = Leadership(epoch)
        self._activate_soon()

    def resigns(self) -> None:
        """Nothing that is not committed yet may be answered."""
        leadership, self._leadership = self._leadership, None
        self.controller.resign()
        if leadership is not None:
            leadership.end()

    def _activate_soon(self) -> None:
        if self._leadership is not None:
            self._machine.soon(self._activate)

    def _activate(self) -> None:
        leadership = self._leadership
        is_behind = self.applied.offset < self._machine.running.end_offset
        if leadership is None or self.controller.is_active or is_behind:
            return
        now = self._machine.scheduler.now
        records = self.controller.activate(leadership.epoch, now, self.applied.offset, BOOTSTRAP)
        self._append(records)
        self._tick()

    def _tick(self) -> None:
        """Do what is due, and come again when more is."""
        machine = self._machine
        while machine.raft and self.controller.is_active:
            self._prepare(machine.raft)
            records = self.controller.tick(machine.scheduler.now, machine.raft.end_offset)
            if not records:
                break
            self._append(records)
        deadline, leadership = self.controller.deadline(), self._leadership
        if machine.raft and deadline is not None:
            delay = max(1, deadline - machine.scheduler.now) + machine.random.randrange(LATE_MS)
            machine.soon(lambda: self._tick() if self._leadership is leadership else None, delay)

    def ask(self, request: Request, version: int, answered: Callable[[Response], None]) -> None:
        """Handle a request; answer it when what it tells of is committed, unless this node stops to
        lead, or ends, before."""
        leadership, machine = self._leadership, self._machine
        raft = machine.running
        self._prepare(raft)
        answer = self.controller.handle(
            request, version=version, now=machine.scheduler.now, end_offset=raft.end_offset
        )
        self._append(answer.records)
        if answer.wait_for is None or leadership is None:
            answered(answer.response)
            return

        def release(error: ApiError | None) -> None:
            if error is None:
                answered(answer.response)

        leadership.defer(answer.wait_for, release)

    def _prepare(self, raft: Raft) -> None:
        self.controller.quorum = QuorumView(
            leader_id=raft.leader_id, voter_ids=raft.voters.ids, kraft_version=raft.kraft_version
        )

    def _append(self, records: Iterable[VersionedRecord]) -> None:
        """One batch, at the offset that the state machine counted on."""
        batch = tuple(Record(value=one.encode()) for one in records)
        leadership = self._leadership
        if not batch or leadership is None:
            return
        end = self.controller.end_offset
        self._machine.step(Append(token="metadata", epoch=leadership.epoch, records=batch))
        raft = self._machine.raft
        if raft and self._leadership is leadership:
            assert raft.end_offset == end, f"the log ends at {raft.end_offset}, not at {end}"


@lru_cache(maxsize=4096)
def metadata_records(data: bytes) -> tuple[VersionedRecord, ...]:
    """The records of a batch; none of a control batch."""
    (batch,) = read_batches(data)
    if batch.is_control:
        return ()
    return tuple(read_metadata_record(record.value or b"") for record in batch.records())
