"""Drives a replica: events in, effects carried out in their order, time and the disk real.

Everything happens in one event loop and nothing inside a step waits, so that what is on the disk,
what was promised and what was sent never change places. One fsync serves all steps of one turn of
the loop.
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
    Effect,
    Event,
    FlushLog,
    InstallSnapshot,
    LeaderChanged,
    LogFlushed,
    OffsetAndEpoch,
    PersistElection,
    Raft,
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
from kwire.controller.server.raft_sensors import RaftSensors
from kwire.errors import ConnectionFailed, KwireError

logger = logging.getLogger(__name__)


class StateMachine(Protocol):
    """What stands on the log. It is told in the order of the log, and may feed events back."""

    def start(self) -> None:
        """Begin, before anything else is told."""

    @property
    def is_replaying(self) -> bool:
        """True while it is behind with what it has been told; a Replaying event tells the end."""
        ...

    def committed(self, high_watermark: int) -> None:
        """Everything below is decided."""

    def snapshot_installed(self, id: OffsetAndEpoch) -> None:
        """Begin anew with this snapshot."""

    def truncated(self, offset: int) -> None:
        """The log ends here; nothing committed was behind it."""

    def leader_changed(self, epoch: int, leader_id: int | None) -> None:
        """Another epoch, or news of its leader."""

    def leads(self, epoch: int, epoch_start_offset: int) -> None:
        """This node may write, once everything below the offset is applied."""

    def resigns(self, epoch: int) -> None:
        """This node may write no more."""

    def appended(self, token: Hashable, base_offset: int, end_offset: int) -> None:
        """An Append of its own is in the log."""

    def rejected(self, token: Hashable, error: int, message: str) -> None:
        """An Append of its own was refused."""


class RaftRuntime:
    """One replica at work. `failure` is done, with its error, once it cannot go on."""

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
        self._started = environment.wall_clock() - self._loop.time()
        self._events: deque[Event] = deque()
        self._stepping = False
        self._flushes: list[int] = []
        self._timer: asyncio.TimerHandle | None = None
        self._tokens = itertools.count()
        self._answers: dict[Hashable, asyncio.Future[Response]] = {}
        self._shut_down = asyncio.Event()
        self._installing: asyncio.Task[None] | None = None
        self._stopped = False

    @property
    def now(self) -> int:
        """Milliseconds since 1970, by a clock that never jumps."""
        return int((self._started + self._loop.time()) * 1000)

    def start(self, machine: StateMachine) -> None:
        """Begin. What is committed is told to the machine from then on."""
        self._machine = machine
        machine.start()
        self.feed(Start(is_replaying=machine.is_replaying))

    def token(self) -> Hashable:
        """A name for an Append."""
        return next(self._tokens)

    def feed(self, event: Event) -> None:
        """Take an event; from within a step it waits for the effects before it."""
        if self._stopped:
            return
        self._events.append(event)
        if self._stepping:
            return
        self._stepping = True
        with self._at_work():
            try:
                while self._events:
                    self._step(self._events.popleft())
            except Exception as error:
                self.fail(error)
            finally:
                self._stepping = False
        self._set_timer()

    def _step(self, event: Event) -> None:
        now = self.now
        effects = self.raft.step(event, now)
        self.sensors.stepped(self.raft.role, self.raft.epoch, now)
        for effect in effects:
            self._carry_out(effect)

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        began = self._loop.time()
        yield
        self.sensors.busy.record((self._loop.time() - began) * 1000, self.now)

    async def ask(self, request: Request, version: int, listener: str) -> Response:
        """Have the replica answer one of its own RPCs, whenever it can.

        Raises ConnectionFailed where it has stopped.
        """
        if self._stopped:
            raise ConnectionFailed("the controller has stopped")
        token = self.token()
        answer: asyncio.Future[Response] = self._loop.create_future()
        self._answers[token] = answer
        self.feed(RequestReceived(token=token, request=request, version=version, listener=listener))
        try:
            return await answer
        finally:
            self._answers.pop(token, None)

    async def shut_down(self, timeout: float) -> bool:
        """Hand over, if this is the leader; whether somebody took it within `timeout` seconds."""
        self.feed(Shutdown())
        try:
            async with asyncio.timeout(timeout):
                await self._shut_down.wait()
        except TimeoutError:
            return False
        return True

    def stop(self) -> None:
        """Do nothing more."""
        self._stopped = True
        if self._timer:
            self._timer.cancel()
        for answer in self._answers.values():
            answer.cancel()
        if not self.failure.done():
            self.failure.cancel()

    def fail(self, error: Exception) -> None:
        """Acknowledge nothing any more, whatever it was: half a step is worse than none."""
        logger.error("the controller cannot go on: %s", error)
        if not self.failure.done():
            self.failure.set_exception(error)
        self.stop()

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case PersistElection():
                self._log.persist(effect)
            case AppendLog(end_offset=end):
                self.sensors.appended(self._log.end.offset, end, self.now)
                self._log.append(effect)
            case TruncateLog(offset=offset):
                self._log.truncate(effect)
                self._state_machine.truncated(offset)
            case FlushLog(offset=offset):
                if not self._flushes:
                    self._loop.call_soon(self._flush)
                self._flushes.append(offset)
            case WriteSnapshot():
                self._log.write_snapshot(effect)
            case InstallSnapshot():
                self._installing = self._loop.create_task(self._install(effect))
            case Send():
                self._channels.send(effect, self.feed)
            case Reply(token=token, response=response):
                answer = self._answers.pop(token, None)
                if answer and not answer.done():
                    answer.set_result(response)
            case ShutdownComplete():
                self._shut_down.set()
            case _:
                self._tell(effect)

    def _tell(self, effect: Effect) -> None:
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
        """Flush and check a snapshot in a thread, since it may be large; then take it in."""
        try:
            await asyncio.to_thread(self._log.finish_snapshot, effect)
            if self._stopped:
                return
            self._log.install_snapshot(effect)
            self._state_machine.snapshot_installed(effect.id)
        except Exception as error:
            self.fail(error)
        self.feed(SnapshotInstalled(id=effect.id))

    async def stopped(self) -> None:
        """Return when nothing of this replica touches the log any more."""
        if self._installing is not None:
            await self._installing

    @property
    def _state_machine(self) -> StateMachine:
        assert self._machine is not None, "start comes first"
        return self._machine

    def _flush(self) -> None:
        if self._stopped:
            return
        offsets, self._flushes = self._flushes, []
        with self._at_work():
            try:
                self._log.flush()
            except (KwireError, OSError) as error:
                self.fail(error)
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
