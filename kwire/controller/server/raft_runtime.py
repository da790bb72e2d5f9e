"""The replica of a running node: gives it events, carries out its effects in their order.

Everything happens in one event loop and nothing inside a step waits, so that disk writes, promises
and messages keep the order of the effects. One fsync serves all steps of one turn of the loop.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections import deque
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Protocol

from kwire.codec.declaration import Request, Response
from kwire.controller.raft import (
    Appended,
    AppendLog,
    BecomeLeader,
    Commit,
    FlushLog,
    InstallSnapshot,
    LeaderChanged,
    LogFlushed,
    OffsetAndEpoch,
    PersistElection,
    QuorumEvent,
    Raft,
    RaftEffect,
    RaftEvent,
    Rejected,
    Reply,
    RequestReceived,
    ResignLeader,
    Send,
    Shutdown,
    ShutdownComplete,
    SnapshotInstalled,
    Start,
    Tick,
    TruncateLog,
    WriteSnapshot,
)
from kwire.controller.server.channels import Channels
from kwire.controller.server.directory_log import DirectoryLog
from kwire.controller.server.environment import Environment
from kwire.controller.server.event_log import log_event
from kwire.controller.server.raft_sensors import RaftSensors
from kwire.errors import ConnectionFailed, KwireError

logger = logging.getLogger(__name__)


class StateMachine(Protocol):
    """The user of the replicated log (Java: RaftClient.Listener).

    It is called in the order of the log, within a step, and may feed events back.
    """

    def start(self) -> None:
        """Begin; the first call."""

    @property
    def is_replaying(self) -> bool:
        """True while committed records are not applied yet; a Replaying event ends that."""
        ...

    def committed(self, high_watermark: int) -> None:
        """Take note that every record below the high watermark is committed."""

    def snapshot_installed(self, id: OffsetAndEpoch) -> None:
        """Replace the state by the snapshot, which has taken the place of the log before it."""

    def truncated(self, offset: int) -> None:
        """Forget the records from the offset on; none of them was committed."""

    def leader_changed(self, epoch: int, leader_id: int | None) -> None:
        """Take note of another epoch, or of the leader of this one."""

    def leads(self, epoch: int, epoch_start_offset: int) -> None:
        """Begin to write once every record below the offset is applied: this node leads."""

    def resigns(self, epoch: int) -> None:
        """Stop writing: this node leads the epoch no more."""

    def appended(self, token: Hashable, base_offset: int, end_offset: int) -> None:
        """Take the offsets of an Append of this state machine."""

    def rejected(self, token: Hashable, error: int, message: str) -> None:
        """Take the reason for which an Append of this state machine was refused."""


class RaftRuntime:
    """One running replica.

    failure: done, with the error, once the replica cannot go on. flush_delay: seconds by which
    each flush of the log is late, as on a slow disk.
    """

    def __init__(
        self, raft: Raft, log: DirectoryLog, channels: Channels, environment: Environment
    ) -> None:
        self.raft = raft
        self.sensors = RaftSensors()
        self.failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._log = log
        self._channels = channels
        self._machine: StateMachine | None = None
        self._loop = asyncio.get_running_loop()
        # The wall clock is read once: a clock that is set back would undo election time-outs.
        self._started = environment.wall_clock() - self._loop.time()
        self._events: deque[RaftEvent] = deque()
        self._stepping = False
        self._flushes: list[int] = []
        self._timer: asyncio.TimerHandle | None = None
        self._tokens = itertools.count()
        self._answers: dict[Hashable, asyncio.Future[Response]] = {}
        self._shut_down = asyncio.Event()
        self._installing: asyncio.Task[None] | None = None
        self._stopped = False
        self._suspended = False
        self._flush_is_due = False
        self.flush_delay = 0.0

    @property
    def now(self) -> int:
        """Milliseconds since 1970, by a clock that never jumps."""
        return int((self._started + self._loop.time()) * 1000)

    def start(self, machine: StateMachine) -> None:
        """Start the state machine and the replica, which calls the state machine from then on."""
        self._machine = machine
        # The first slice of the log is replayed here, so that Start can say if more is left: a
        # replica stands for election only when its log is replayed.
        machine.start()
        self.feed(Start(is_replaying=machine.is_replaying))

    def token(self) -> Hashable:
        """Return a new token, by which an answer finds its request or its Append."""
        return next(self._tokens)

    def feed(self, event: RaftEvent) -> None:
        """Give the replica an event and carry out the effects.

        An event that comes from within a step is queued until the effects of that step are carried
        out: otherwise its effects would overtake them.
        """
        if self._stopped:
            return
        self._events.append(event)
        if not self._stepping and not self._suspended:
            self._carry_on()

    def suspend(self) -> None:
        """Keep all events, time-outs and flushes for `resume`: the replica stands still."""
        self._suspended = True
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def resume(self) -> None:
        """Go on with what came since `suspend`."""
        if not self._suspended or self._stopped:
            return
        self._suspended = False
        if self._flush_is_due:
            self._flush_is_due = False
            self._flush()
        self._carry_on()

    def _carry_on(self) -> None:
        self._stepping = True
        with self._record_busy_time():
            try:
                while self._events:
                    self._step(self._events.popleft())
            except Exception as error:  # half of the effects are on the disk or sent, half are not
                self.fail(error)
            finally:
                self._stepping = False
        # Any step may have moved the replica's deadline.
        self._set_timer()

    def _step(self, event: RaftEvent) -> None:
        now = self.now
        effects = self.raft.step(event, now)
        self.sensors.stepped(self.raft.role, self.raft.epoch, now)
        for effect in effects:
            self._carry_out(effect)

    @contextmanager
    def _record_busy_time(self) -> Iterator[None]:
        began = self._loop.time()
        yield
        self.sensors.busy.record((self._loop.time() - began) * 1000, self.now)

    async def ask(self, request: Request, version: int, listener: str) -> Response:
        """Have the replica answer one of its own RPCs; return when it does.

        A Fetch may wait for records. Raises ConnectionFailed if the replica has stopped.
        """
        if self._stopped:
            raise ConnectionFailed("the controller has stopped")
        token = self.token()
        answer: asyncio.Future[Response] = self._loop.create_future()
        self._answers[token] = answer
        self.feed(RequestReceived(token=token, request=request, version=version, listener=listener))
        try:
            return await answer
        finally:  # also if the caller is cancelled and the replica has not answered
            self._answers.pop(token, None)

    async def shut_down(self, timeout: float) -> bool:
        """Hand the leadership over, if there is one; return False if nobody took it in time."""
        if self._stopped:  # it failed, and has nothing to hand over
            return True
        self.feed(Shutdown())
        try:
            async with asyncio.timeout(timeout):
                await self._shut_down.wait()
        except TimeoutError:
            return False
        return True

    def stop(self) -> None:
        """Take no more events and give up all requests that wait for an answer."""
        self._stopped = True
        if self._timer:
            self._timer.cancel()
        for answer in self._answers.values():
            answer.cancel()
        if not self.failure.done():
            self.failure.cancel()

    def fail(self, error: Exception) -> None:
        """Stop for good after an error of any kind.

        After half a step, what was promised and what is on the disk may differ: nothing more is
        acknowledged, and the node ends.
        """
        logger.error("the controller cannot go on: %s", error)
        if not self.failure.done():
            self.failure.set_exception(error)
            # It is told, even if nobody waits for `failure`: asyncio need not print it again.
            self.failure.exception()
        self.stop()

    def _carry_out(self, effect: RaftEffect) -> None:
        match effect:
            case PersistElection():
                self._log.persist(effect)
            case AppendLog(end_offset=end):
                # Before the append, while the log's end is the base offset of the records.
                self.sensors.appended(self._log.end.offset, end, self.now)
                self._log.append(effect)
            case TruncateLog(offset=offset):
                self._log.truncate(effect)
                self._state_machine.truncated(offset)
            case FlushLog(offset=offset):
                # Only in the loop's next turn, so that one fsync serves every step of this one.
                if not self._flushes:
                    self._set_flush()
                self._flushes.append(offset)
            case WriteSnapshot():
                self._log.write_snapshot(effect)
            case InstallSnapshot():
                self._installing = self._loop.create_task(self._install(effect))
            case Send():
                self._channels.send(effect, self.feed)
            case Reply(token=token, response=response):
                # None, or done, if the caller was cancelled meanwhile.
                answer = self._answers.pop(token, None)
                if answer and not answer.done():
                    answer.set_result(response)
            case ShutdownComplete():
                self._shut_down.set()
            case QuorumEvent():
                log_event(self.raft.config.node_id, effect)
            case _:
                self._call_state_machine(effect)

    def _call_state_machine(self, effect: RaftEffect) -> None:
        machine = self._state_machine
        match effect:
            case Commit(high_watermark=high_watermark):
                self.sensors.committed(high_watermark, self.now)
                machine.committed(high_watermark)
            case LeaderChanged(epoch=epoch, leader_id=leader_id):
                machine.leader_changed(epoch, leader_id)
            case BecomeLeader(epoch=epoch, epoch_start_offset=offset):
                machine.leads(epoch, offset)
            case ResignLeader(epoch=epoch):
                machine.resigns(epoch)
            case Appended(token=token, base_offset=base, end_offset=end):
                machine.appended(token, base, end)
            case Rejected(token=token, error=error, message=message):
                machine.rejected(token, error, message)

    async def _install(self, effect: InstallSnapshot) -> None:
        """Flush and check a downloaded snapshot in a thread, since it may be large; then use it.

        The replica neither fetches nor stands for election before SnapshotInstalled.
        """
        try:
            await asyncio.to_thread(self._log.finish_snapshot, effect)
            if self._stopped:  # the log is about to be closed
                return
            self._log.install_snapshot(effect)
            self._state_machine.snapshot_installed(effect.id)
        except Exception as error:
            self.fail(error)
        self.feed(SnapshotInstalled(id=effect.id))

    async def stopped(self) -> None:
        """Wait until no thread of this replica uses the log any more."""
        if self._installing is not None:
            await self._installing

    @property
    def _state_machine(self) -> StateMachine:
        assert self._machine is not None, "start comes first"
        return self._machine

    def _set_flush(self) -> None:
        if self.flush_delay:
            self._loop.call_later(self.flush_delay, self._flush)
        else:
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        if self._stopped:
            return
        if self._suspended:
            self._flush_is_due = True
            return
        offsets, self._flushes = self._flushes, []
        with self._record_busy_time():
            try:
                self._log.flush()
            except (KwireError, OSError) as error:
                self.fail(error)
        # Only now the replica counts these records, its own as a leader included, and fetches
        # again, which acknowledges them. After a failure `feed` takes nothing.
        for offset in offsets:
            self.feed(LogFlushed(offset=offset))

    def _set_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        deadline = self.raft.deadline
        if deadline is not None and not self._stopped:
            delay = max(0.0, (deadline - self.now) / 1000)
            self._timer = self._loop.call_later(delay, self.feed, Tick())
