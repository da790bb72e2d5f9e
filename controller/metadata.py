"""Ties a QuorumController to its replica's log: committed records in, its batches out, answers
released when they are true for ever."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass

from controller.config import NodeConfig
from controller.directory_log import DirectoryLog
from controller.environment import Environment
from controller.handlers.errors import ApiError
from controller.handlers.registry import HANDLERS
from controller.handlers.result import QuorumView
from controller.quorum_controller import CannotLead, QuorumController
from controller.raft import (
    BOOTSTRAP_SNAPSHOT,
    Append,
    Event,
    OffsetAndEpoch,
    Raft,
    Resign,
    UpgradeKRaftVersion,
)
from controller.runtime import Runtime
from controller.snapshotter import Snapshotter
from kwire.batches import Batch, Record, RecordBatch, read_batches
from kwire.declaration import Request, Response
from kwire.error_codes import ErrorCode
from kwire.image import MetadataImage
from kwire.metadata_records import VersionedRecord, read_metadata_record
from kwire.metadata_versions import KRAFT_VERSION
from kwire.negotiation import VersionRange
from kwire.service import RequestContext
from kwire.versions import Versions

logger = logging.getLogger(__name__)

CHUNK = 8 << 20
"""Bytes of the log that are applied at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    """Somebody waits until everything below `offset` is committed; ApiError where it never is."""

    offset: int
    done: asyncio.Future[None]


class Metadata:
    """The state machine on one controller's log, and the service that answers from it.

    offset: everything below it is committed and applied here.
    """

    def __init__(
        self, config: NodeConfig, log: DirectoryLog, runtime: Runtime, environment: Environment
    ) -> None:
        self.controller = QuorumController(
            config.controller_config(log.cluster_id), environment.random
        )
        self.offset = 0
        self._config = config
        self._log = log
        self._runtime = runtime
        self._epoch: int | None = None
        self._news = asyncio.Event()
        self._waiting: deque[_Waiting] = deque()
        self._outcomes: dict[Hashable, tuple[int, int] | ApiError] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._snapshotter = Snapshotter(
            log,
            runtime.raft,
            feed=runtime.feed,
            fail=runtime.fail,
            after_bytes=config.snapshot_after_bytes,
            retention_bytes=config.retention_bytes,
        )
        self._load_latest_snapshot()

    @property
    def image(self) -> MetadataImage:
        """What is committed."""
        return self.controller.image

    @property
    def is_active(self) -> bool:
        """Whether this node leads and has read all that was written before."""
        return self.controller.is_active

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something that a commit, or another leader, makes true."""
        while not condition():
            await self._news.wait()

    @property
    def apis(self) -> Mapping[int, Versions]:
        """What is answered here."""
        return self.controller.apis

    @property
    def supported_features(self) -> Mapping[str, VersionRange]:
        """Levels by feature name."""
        return self.controller.config.features

    @property
    def finalized_features(self) -> Mapping[str, int]:
        """Levels in force; kraft.version is raft's to know."""
        levels = dict(self.image.features.levels)
        kraft_version = self._raft.kraft_version
        return levels | ({KRAFT_VERSION: kraft_version} if kraft_version else {})

    @property
    def features_epoch(self) -> int:
        """The last offset that they are known at."""
        return self.offset - 1

    async def answer(self, request: Request, context: RequestContext) -> Response | None:
        """The response, once what it tells of is committed."""
        handler = HANDLERS[type(request).key or 0]
        self._prepare()
        now = self._runtime.now
        answer = self.controller.handle(
            request,
            version=context.version,
            now=now,
            end_offset=self._raft.end_offset,
            listener=context.listener,
        )
        try:
            if answer.records:
                self._append(answer.records)
            if answer.wait_for is not None:
                await self._committed(answer.wait_for)
            if answer.kraft_version is not None:
                await self._upgrade(answer.kraft_version)
        except ApiError as error:
            return handler.refuse(request, context.version, error)
        return answer.response

    def _prepare(self) -> None:
        """Tell the state machine what raft knows."""
        raft = self._raft
        self.controller.quorum = QuorumView(
            leader_id=raft.leader_id,
            voter_ids=raft.voters.ids,
            kraft_version=raft.kraft_version,
        )

    def _append(self, records: Iterable[VersionedRecord]) -> None:
        """One batch, at the offset that the state machine counted on."""
        now = self._runtime.now
        batch = tuple(Record(value=one.encode(), timestamp=now) for one in records)
        expected = self.controller.end_offset
        token, epoch = self._runtime.token(), self._epoch or 0
        _, end = self._ask_raft(Append(token=token, epoch=epoch, records=batch), token)
        assert end == expected, f"the log ends at {end}, the metadata at {expected}"

    async def _upgrade(self, level: int) -> None:
        token, epoch = self._runtime.token(), self._epoch or 0
        event = UpgradeKRaftVersion(token=token, epoch=epoch, kraft_version=level)
        _, end = self._ask_raft(event, token)
        await self._committed(end)

    def _ask_raft(self, event: Event, token: Hashable) -> tuple[int, int]:
        """Where the records of an event went; ApiError where raft refused them."""
        self._runtime.feed(event)
        refused = ApiError(ErrorCode.NOT_CONTROLLER, "This controller is not the active one.")
        outcome = self._outcomes.pop(token, refused)
        if isinstance(outcome, ApiError):
            raise outcome
        return outcome

    async def _committed(self, offset: int) -> None:
        if offset <= self.offset:
            return
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(offset=offset, done=done))
        await done

    def committed(self, high_watermark: int) -> None:
        """Apply everything below, and answer those who waited for it."""
        if self.is_active:
            self.controller.commit(high_watermark)
            self.offset = high_watermark
        else:
            self._replay(high_watermark)
            self._activate_soon()
        while self._waiting and self._waiting[0].offset <= self.offset:
            done = self._waiting.popleft().done
            if not done.done():
                done.set_result(None)
        self._snapshotter.consider(self.controller.committed.image, self.offset, self._runtime.now)
        self._tell()

    def _replay(self, high_watermark: int) -> None:
        while self.offset < high_watermark:
            for batch in read_batches(self._log.read(self.offset, CHUNK, high_watermark)):
                self._replay_batch(batch)

    def _replay_batch(self, batch: Batch) -> None:
        assert isinstance(batch, RecordBatch), "the log has no others"
        end = batch.last_offset + 1
        if not batch.is_control:
            values = (record.value or b"" for record in batch.records())
            self.controller.replay(map(read_metadata_record, values), batch.base_offset)
        self.offset = end

    def snapshot_installed(self, id: OffsetAndEpoch) -> None:
        """Begin anew with a snapshot."""
        self.controller.load(self._log.load_snapshot(id).records, id.offset)
        self.offset = id.offset
        self._tell()

    def _load_latest_snapshot(self) -> None:
        ids = [id for id in self._log.snapshots() if id != BOOTSTRAP_SNAPSHOT]
        if ids:
            self.snapshot_installed(ids[-1])

    def leader_changed(self, epoch: int, leader_id: int | None) -> None:
        """Keep the news in the node's log."""
        who = "no leader yet" if leader_id is None else f"controller {leader_id} leads"
        logger.info("controller %d: epoch %d: %s", self._config.node_id, epoch, who)
        self._tell()

    def leads(self, epoch: int, epoch_start_offset: int) -> None:
        """Begin to write as soon as everything in the log is committed and applied."""
        self._epoch = epoch
        self._activate_soon()

    def _activate_soon(self) -> None:
        """In the loop's next turn: this is told within a step, which nothing may be added to."""
        if self._epoch is not None and not self.is_active:
            asyncio.get_running_loop().call_soon(self._activate, self._epoch)

    def _activate(self, epoch: int) -> None:
        """Lead, unless that is over already, or records of this epoch are still to be committed."""
        if self._epoch != epoch or self.is_active or self.offset < self._raft.end_offset:
            return
        try:
            records = self.controller.activate(
                epoch, self._runtime.now, self.offset, self._log.bootstrap
            )
        except CannotLead as error:
            logger.error("controller %d resigns: %s", self._config.node_id, error)
            self._runtime.feed(Resign(epoch=epoch))
            return
        self._write(records)
        self._tick()
        self._tell()

    def _write(self, records: tuple[VersionedRecord, ...]) -> None:
        """Records that nobody waits for."""
        if not records:
            return
        try:
            self._append(records)
        except ApiError as error:
            logger.info("controller %d: %s", self._config.node_id, error)

    def _tick(self) -> None:
        """Do what is due, and come again when more is."""
        self._timer = None
        self._prepare()
        while records := self.controller.tick(self._runtime.now, self._raft.end_offset):
            self._write(records)
        deadline = self.controller.deadline()
        if deadline is not None:
            delay = max(0.001, (deadline - self._runtime.now) / 1000)
            self._timer = asyncio.get_running_loop().call_later(delay, self._tick)

    def resigns(self, epoch: int) -> None:
        """Nothing that is not committed yet may be answered."""
        self._epoch = None
        if self._timer:
            self._timer.cancel()
            self._timer = None
        self.controller.resign()
        waiting, self._waiting = self._waiting, deque()
        for one in waiting:
            if not one.done.done():
                text = "This controller is not the active one any more."
                one.done.set_exception(ApiError(ErrorCode.NOT_CONTROLLER, text))
        self._tell()

    def appended(self, token: Hashable, base_offset: int, end_offset: int) -> None:
        """A batch is in the log."""
        self._outcomes[token] = base_offset, end_offset

    def rejected(self, token: Hashable, error: int, message: str) -> None:
        """A batch was refused."""
        self._outcomes[token] = ApiError(ErrorCode(error), message)

    async def stop(self) -> None:
        """The node ends."""
        self.resigns(self._epoch or 0)
        await self._snapshotter.stop()

    def _tell(self) -> None:
        """Wake those who wait."""
        self._news.set()
        self._news = asyncio.Event()

    @property
    def _raft(self) -> Raft:
        return self._runtime.raft
