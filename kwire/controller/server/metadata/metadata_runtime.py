"""The state machine of a running node: committed records in, batches of a leader out.

In Java QuorumController has a thread and an event queue for this; here the QuorumController is free
of IO, and this is its event loop side. An answer is released when its records are committed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Hashable, Iterable, Mapping

from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import Request, Response
from kwire.codec.versions import Versions
from kwire.controller.authorization.access import Access
from kwire.controller.handlers.registry import HANDLERS
from kwire.controller.handlers.result import QuorumView
from kwire.controller.raft import OffsetAndEpoch, Raft, Resign
from kwire.controller.rules import CannotLead, Rules
from kwire.controller.server.config.node_config import NodeConfig
from kwire.controller.server.directory_log import DirectoryLog
from kwire.controller.server.environment import Environment
from kwire.controller.server.event_log import log_event
from kwire.controller.server.large_messages import in_thread_if, in_thread_if_many
from kwire.controller.server.metadata.epoch_writer import EpochWriter
from kwire.controller.server.metadata.log_writer import LogWriter, wait_for_commit
from kwire.controller.server.metadata.long_requests import is_long
from kwire.controller.server.metadata.metadata_loader import MetadataLoader
from kwire.controller.server.metadata.periodic_writer import PeriodicWriter
from kwire.controller.server.metadata.write_queue import (
    WriteQueue,
    answer_limit_ms,
    time_limit,
    turn_limit_ms,
)
from kwire.controller.server.raft_runtime import RaftRuntime
from kwire.controller.state_machine.deferred_event_queue import DeferredEventQueue
from kwire.controller.state_machine.operations import (
    RequestOperation,
    encoded_batches,
    run_and_encode,
)
from kwire.controller.state_machine.quorum_controller import PendingResponse, QuorumController
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError, StorageFailed
from kwire.image import MetadataImage
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.metadata_versions import KRAFT_VERSION
from kwire.net.negotiation import VersionRange
from kwire.net.service import RequestContext

logger = logging.getLogger(__name__)


class MetadataRuntime:
    """Runs a QuorumController on one node's log, and answers requests from it.

    controller: the state machine. own_records: writes records for which no client asked.
    """

    def __init__(
        self,
        config: NodeConfig,
        log: DirectoryLog,
        runtime: RaftRuntime,
        environment: Environment,
        rules: Rules,
    ) -> None:
        self.controller = QuorumController(
            config.controller_config(log.cluster_id, rules),
            environment.random,
            environment.loggers.levels,
        )
        self._config = config
        self._loggers = environment.loggers
        self._log = log
        self._runtime = runtime
        self._deferred_events: DeferredEventQueue | None = None
        self._logs_events = False
        self._changed = asyncio.Event()
        self._writer = LogWriter(runtime)
        self._writing = WriteQueue()
        self._loader = MetadataLoader(config, log, runtime, self.controller, self._published)
        self._periodic_writer = PeriodicWriter(
            self.controller,
            runtime,
            self._writing,
            refresh=self._update_quorum_view,
            write=self._write,
        )
        self.own_records = EpochWriter(
            self.controller,
            runtime,
            self._writing,
            leadership=lambda: self._deferred_events if self.is_active else None,
            append=self._append,
        )

    def run_periodic_tasks(self) -> None:
        """Look anew for the periodic tasks that are due: they have rested."""
        self._periodic_writer.run()

    @property
    def image(self) -> MetadataImage:
        """The committed metadata."""
        return self.controller.image

    @property
    def offset(self) -> int:
        """Everything below it is committed and applied here."""
        return self._loader.offset

    def image_of_credentials(self) -> MetadataImage:
        """Return the metadata by which clients log in; see `MetadataLoader`."""
        return self._loader.image_of_credentials()

    @property
    def is_active(self) -> bool:
        """True if this node leads and has applied every record of the leaders before it."""
        return self.controller.is_active

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds; it is checked after each commit and change of leader."""
        while not condition():
            await self._changed.wait()

    @property
    def apis(self) -> Mapping[int, Versions]:
        """The APIs that the state machine answers."""
        return self.controller.apis

    @property
    def rules(self) -> Rules:
        """The rules of the cluster."""
        return self.controller.config.rules

    @property
    def supported_features(self) -> Mapping[str, VersionRange]:
        """Supported levels by feature name."""
        return self.controller.config.features

    @property
    def finalized_features(self) -> Mapping[str, int]:
        """Finalized levels by feature name; kraft.version is raft's, not in the image."""
        levels = dict(self.image.features.levels)
        kraft_version = self._raft.kraft_version
        return levels | ({KRAFT_VERSION: kraft_version} if kraft_version else {})

    @property
    def features_epoch(self) -> int:
        """The offset at which the finalized levels were read."""
        return self.offset - 1

    def access(self, context: RequestContext) -> Access:
        """Return what the sender of a request may do, by the committed ACLs.

        Raises UNKNOWN_SERVER_ERROR while these are not loaded, unless it is a super user, who needs
        none (Java: StandardAuthorizerData.authorize, AuthorizerNotReadyException).
        """
        authorizer = self._config.authorizer
        needs_acls = authorizer is not None and not authorizer.is_super_user(context.principal)
        if needs_acls and not self._loader.is_loaded:
            raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, "The ACLs are not loaded yet.")
        return self.controller.access(context)

    async def until_acls_loaded(self) -> None:
        """Wait until everything up to the high watermark that this node first learned is applied.

        Without an authorizer there is nothing to wait for.
        """
        if self._config.authorizer is not None:
            await self._loader.until_loaded()

    async def answer(self, request: Request, context: RequestContext) -> Response | None:
        """Answer a request about metadata; a write, when its records are committed in this epoch.

        1. Answer a read, or anything on a node that is not active, without waiting for writes.
        2. Count a heartbeat from its arrival on, as Java does: its broker is alive, however long
           the write waits.
        3. Handle writes one after the other: each is in the log before the next is handled. Long
           ones are handled in a thread, by the state as it is when they begin.
        4. Wait for the commit, without holding up the next write.
        5. Count the wait as a part of the time for which the client is throttled.
        """
        handler = HANDLERS[type(request).key or 0]
        try:
            # 1.
            if not handler.writes or not self.is_active:
                return await self._read(request, context)
            # 2.
            if isinstance(request, BrokerHeartbeatRequest):
                self.controller.record_contact(request, self._runtime.now)
            async with time_limit(answer_limit_ms(request)):
                # 3.
                async with self._writing.turn(turn_limit_ms(request)):
                    # The epoch at the time of handling: if it ends before the commit, another
                    # leader may write over these offsets, and its commit must not release the
                    # answer (docs/decisions/0027).
                    deferred_events = self._deferred_events
                    answer = await self._handle_write(request, context, deferred_events)
                    self._loggers.set(answer.log_levels)
                    if deferred_events is not None and answer.kraft_version is not None:
                        # Raft's records come first: if it refuses, nothing has been written.
                        self._writer.upgrade(answer.kraft_version, deferred_events.epoch)
                        answer = await self._handle_write(request, context, deferred_events)
                    if deferred_events is not None and answer.records:
                        self._append(answer.records, deferred_events, answer.batches)
                # 4.
                if deferred_events is not None and answer.wait_for is not None:
                    await wait_for_commit(answer.wait_for, deferred_events)
        except ApiError as error:
            # An error for each of a million topics is long work, too.
            return await in_thread_if_many(request, handler.refuse, request, context.version, error)
        # 5.
        if answer.throttled_until:
            left = answer.throttled_until - self._runtime.now
            answer.response.throttle_time_ms = max(0, left)  # type: ignore[attr-defined]
        return answer.response

    async def _read(self, request: Request, context: RequestContext) -> Response | None:
        is_slow = is_long(request, self.image, context.size)
        work = self._begin(request, context)
        result = await in_thread_if(is_slow, work.run)
        self._loggers.set(result.log_levels)
        return result.response

    async def _handle_write(
        self, request: Request, context: RequestContext, deferred_events: DeferredEventQueue | None
    ) -> PendingResponse:
        """Handle a write; return its records and response. ApiError if the leadership ends."""
        if not is_long(request, self.image, context.size):
            self._update_quorum_view()
            return self.controller.handle(
                request, context, now=self._runtime.now, end_offset=self._raft.end_offset
            )
        while True:
            work = self._begin(request, context)
            outcome = await in_thread_if(True, run_and_encode, work)
            # Raft may have resigned, or written a record of its own, while the thread worked.
            if deferred_events is None or deferred_events.has_ended:
                raise ApiError(ErrorCode.NOT_CONTROLLER, "This controller leads no more.")
            if self.controller.is_current(work, self._raft.end_offset):
                return self.controller.finish(work, outcome)

    def _begin(self, request: Request, context: RequestContext) -> RequestOperation:
        self._update_quorum_view()
        return self.controller.begin(
            request, context, now=self._runtime.now, end_offset=self._raft.end_offset
        )

    def _update_quorum_view(self) -> None:
        """Give the state machine raft's leader, voters and kraft.version, which handlers read."""
        raft = self._raft
        self.controller.quorum = QuorumView(
            leader_id=raft.leader_id,
            voter_ids=raft.voters.ids,
            kraft_version=raft.kraft_version,
        )

    def _append(
        self,
        records: tuple[VersionedRecord, ...],
        deferred_events: DeferredEventQueue,
        batches: Iterable[bytes] | None = None,
    ) -> None:
        """Append records of this epoch at the offset that the state machine counted on.

        batches: the records, if they are encoded already. Raises ApiError if raft refuses one. This
        node then stops to lead, since its state machine has applied records that the log lacks.
        """
        end, expected = 0, self.controller.end_offset
        try:
            for batch in batches or encoded_batches(records, self._runtime.now):
                end = self._writer.append(batch, deferred_events.epoch)
        except ApiError:
            self.resigns(deferred_events.epoch)
            raise
        if end != expected:  # the state machine and the log differ: going on would spread that
            text = f"the log ends at {end}, the metadata at {expected}"
            self._runtime.fail(StorageFailed(text))
            raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, text)

    def committed(self, high_watermark: int) -> None:
        """Show the records below the high watermark to readers, and release the responses to them.

        A leader applied its records when it wrote them. Other nodes apply them now, or in later
        turns of the loop if there are many.
        """
        if self.is_active:
            self.controller.commit(high_watermark)
            self._log_events()
            self._loader.committed_own(high_watermark)
            self.wake()
        else:
            self._loader.committed(high_watermark)
        if self._deferred_events is not None:
            self._deferred_events.committed(high_watermark)

    @property
    def is_replaying(self) -> bool:
        """True while the log has records that are still to be applied."""
        return self._loader.is_replaying

    def start(self) -> None:
        """Begin to replay the log. Raises CannotLead if kwire must not lead this cluster."""
        self._loader.start()

    def truncated(self, offset: int) -> None:
        """Forget uncommitted records from the offset on, which were read when the node started."""
        self._loader.truncated(offset)

    def snapshot_installed(self, id: OffsetAndEpoch) -> None:
        """Replay a downloaded snapshot, which has taken the place of the log before it."""
        self._loader.snapshot_installed(id)

    def _published(self) -> None:
        self._log_events()
        self.wake()
        self._activate_soon()

    def _log_events(self) -> None:
        """Log what happened, but not again what an old log tells at the start of the node."""
        events = self.controller.take_events()
        if self._logs_events:
            for event in events:
                log_event(self._config.node_id, event)
        self._logs_events = self._loader.is_loaded

    def leader_changed(self, epoch: int, leader_id: int | None) -> None:
        """Log the epoch and its leader, and wake those who wait for a leader."""
        who = "no leader yet" if leader_id is None else f"controller {leader_id} leads"
        logger.info("controller %d: epoch %d: %s", self._config.node_id, epoch, who)
        self.wake()

    def leads(self, epoch: int, epoch_start_offset: int) -> None:
        """Begin to write as soon as everything in the log is committed and applied."""
        self._deferred_events = DeferredEventQueue(epoch)
        self._activate_soon()

    def _activate_soon(self) -> None:
        """Activate in the next turn of the loop: within a step nothing may be appended."""
        if self._deferred_events is not None and not self.is_active:
            asyncio.get_running_loop().call_soon(self._activate, self._deferred_events)

    def _activate(self, deferred_events: DeferredEventQueue) -> None:
        """Let the state machine write, if this node still leads and has applied the whole log.

        Every record below the log's end has to be committed first, as in Java: a record of an
        earlier epoch is committed with the LeaderChange record of this one.
        """
        is_behind = self.offset < self._raft.end_offset
        if deferred_events.has_ended or self.is_active or is_behind:
            return
        notice = self.rules.activation_notice(self.controller.image.features)
        try:
            records = self.controller.activate(
                deferred_events.epoch, self._runtime.now, self.offset, self._log.bootstrap
            )
        except CannotLead as error:  # another leader finalized a feature after this node's start
            logger.error("controller %d resigns: %s", self._config.node_id, error)
            self._runtime.feed(Resign(epoch=deferred_events.epoch))
            return
        if notice is not None:
            logger.warning("controller %d: %s", self._config.node_id, notice)
        self._write(records)
        self._periodic_writer.run()
        self.wake()

    def _write(
        self, records: tuple[VersionedRecord, ...], batches: Iterable[bytes] | None = None
    ) -> None:
        """Append records for which no client waits."""
        self._log_events()
        if not records or self._deferred_events is None:
            return
        try:
            self._append(records, self._deferred_events, batches)
        except ApiError as error:
            logger.info("controller %d: %s", self._config.node_id, error)

    def resigns(self, epoch: int) -> None:
        """Fail every answer that waits in the epoch: whether its records stay is unknown.

        The view ahead of the commit is given up; the replay goes on from the committed one.
        """
        deferred_events = self._deferred_events
        if deferred_events is None or deferred_events.epoch != epoch:
            return
        self._deferred_events = None
        # While it was active the replay stood still: the state machine applied its own records.
        if self.is_active:
            self._loader.resume()
        self._periodic_writer.pause()
        self.controller.resign()
        deferred_events.end()
        self.wake()

    def appended(self, token: Hashable, base_offset: int, end_offset: int) -> None:
        """Pass the end of an append on to the writer, which waits for it."""
        self._writer.appended(token, end_offset)

    def rejected(self, token: Hashable, error: int, message: str) -> None:
        """Pass the refusal of an append on to the writer, which waits for it."""
        self._writer.rejected(token, error, message)

    async def stop(self) -> None:
        """Give up leadership, replay and snapshots; return when no task is left."""
        if self._deferred_events is not None:
            self.resigns(self._deferred_events.epoch)
        await self._periodic_writer.stop()
        await self._loader.stop()

    def wake(self) -> None:
        """Have everybody in `until` look at their conditions again."""
        self._changed.set()
        self._changed = asyncio.Event()

    @property
    def _raft(self) -> Raft:
        return self._runtime.raft
