"""A machine: a disk, a clock that may be wrong, and the replica that runs on it, if one does."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from controller.raft import (
    BecomeLeader,
    Commit,
    Config,
    Effect,
    Event,
    FlushLog,
    InstallSnapshot,
    PersistElection,
    Raft,
    Reply,
    ResignLeader,
    Send,
    Shutdown,
    ShutdownComplete,
    SnapshotTaken,
    Start,
    Tick,
)
from controller.simulator.disk import Disk
from controller.simulator.scheduler import Scheduler
from controller.simulator.state_machine import StateMachine

Watcher = Callable[["Machine", Event, list[Effect]], None]

FLUSH_MS = 6
"""A flush takes up to so long."""

SHUTDOWN_MS = 500
"""Whoever stops in order is killed after so long, as in Kafka's simulation."""

SNAPSHOT_EVERY = 20
"""Offsets between two snapshots, at least."""


class Machine:
    """life: how often the replica has been started; what was sent in another one does not count.

    clock_ahead: milliseconds. writable_epoch: that the state machine leads. crash_after: so many
    more effects are carried out, then the power fails. is_stopping: it was asked to end in order.
    make_state: a state machine on what the disk has. transmit: what to do with Send and Reply.
    """

    def __init__(
        self,
        config: Config,
        scheduler: Scheduler,
        make_state: Callable[[Machine], StateMachine],
        transmit: Callable[[Machine, Send | Reply], None],
        watch: Watcher,
    ) -> None:
        self.config = config
        self.disk = Disk()
        self.raft: Raft | None = None
        self.scheduler = scheduler
        self.life = 0
        self.clock_ahead = 0
        self.writable_epoch: int | None = None
        self.crash_after: int | None = None
        self.is_stopping = False
        self._transmit, self._watch = transmit, watch
        self._tick_at: int | None = None
        self._flush_at = 0
        self._last_snapshot = 0
        self._make_state = make_state
        self.state = make_state(self)

    @property
    def id(self) -> int:
        """The node id."""
        return self.config.node_id

    @property
    def name(self) -> str:
        """As the trace calls it."""
        return f"n{self.config.node_id}"

    @property
    def running(self) -> Raft:
        """The replica of a machine that is up."""
        assert self.raft is not None, f"{self.name} is down"
        return self.raft

    @property
    def high_watermark(self) -> int:
        """0 where it is unknown."""
        return (self.raft.high_watermark or 0) if self.raft else 0

    @property
    def random(self) -> Random:
        """The one source of chance."""
        return self.scheduler.random

    def start(self) -> None:
        """Run a replica on what the disk has."""
        self.life += 1
        self._tick_at, self.writable_epoch, self.crash_after = None, None, None
        self.is_stopping = False
        self.raft = Raft(self.config, self.disk, self.disk.election, below=self.random.randrange)
        self.state = self._make_state(self)
        self._last_snapshot = self.state.applied.offset
        self.step(Start())

    def shut_down(self) -> None:
        """End when the replica says that nobody waits for it, or after a while."""
        self.is_stopping = True
        self.soon(self.kill, SHUTDOWN_MS)
        self.step(Shutdown())

    def kill(self) -> None:
        """End the process at once."""
        self.raft = self.writable_epoch = None
        self.disk.kill()

    def lose_power(self) -> None:
        """End at once; what was not flushed may be lost."""
        self.raft = self.writable_epoch = None
        self.disk.lose_power(self.random)

    def format(self) -> None:
        """Another disk, an empty one, while the machine is down."""
        assert self.raft is None, f"{self.name} runs"
        self.disk = Disk()

    def step(self, event: Event) -> None:
        """Give the replica an event, and carry the effects out."""
        if self.raft is None:
            return
        effects = self.raft.step(event, self.scheduler.now + self.clock_ahead)
        for effect in effects:
            if self._fails_now():
                return
            self._carry_out(effect)
        self._watch(self, event, effects)
        self._plan_tick()

    def _fails_now(self) -> bool:
        if self.crash_after is None:
            return False
        self.crash_after -= 1
        if self.crash_after >= 0:
            return False
        self.lose_power()
        return True

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case PersistElection():
                self.disk.persist(effect)
            case Send() | Reply():
                self._transmit(self, effect)
            case FlushLog():
                self._flush(effect)
            case InstallSnapshot(id=id):
                installed = self.disk.carry_out(effect)
                self.state.load(id)
                self._last_snapshot = id.offset
                if installed:
                    self.soon(lambda: self.step(installed), self.random.randrange(2))
            case Commit(high_watermark=high_watermark):
                self.state.commit(high_watermark)
                self._consider_snapshot()
            case BecomeLeader(epoch=epoch):
                self.writable_epoch = epoch
                self.state.leads(epoch)
            case ResignLeader():
                self.writable_epoch = None
                self.state.resigns()
            case ShutdownComplete():
                self.soon(self.kill)
            case _:
                self.disk.carry_out(effect)

    def _flush(self, effect: FlushLog) -> None:
        """Flush after a while; flushes end in the order in which they were asked for."""
        now = self.scheduler.now
        self._flush_at = max(self._flush_at, now + self.random.randrange(FLUSH_MS + 1))

        def flush() -> None:
            self.step(self.disk.flush(effect))

        self.soon(flush, self._flush_at - now)

    def _consider_snapshot(self) -> None:
        if self.state.applied.offset < self._last_snapshot + SNAPSHOT_EVERY:
            return
        self._last_snapshot = self.state.applied.offset
        self.soon(self._take_snapshot, self.random.randrange(6))

    def _take_snapshot(self) -> None:
        if self.raft is None or self.state.applied in self.disk.snapshots():
            return
        id = self.state.take_snapshot(self.raft)
        if self.random.random() < 0.5:
            self.disk.clean(id)
        self.step(SnapshotTaken(id=id))

    def soon(self, action: Callable[[], None], delay: int = 0) -> None:
        """Do it after some milliseconds, unless this life is over by then."""
        life = self.life

        def act() -> None:
            if self.raft is not None and self.life == life:
                action()

        self.scheduler.later(delay, act)

    def _plan_tick(self) -> None:
        deadline = self.raft.deadline if self.raft else None
        if deadline is None:
            return
        at = max(self.scheduler.now, deadline - self.clock_ahead)
        if self._tick_at is not None and self.scheduler.now <= self._tick_at <= at:
            return
        self._tick_at = at
        life = self.life

        def tick() -> None:
            if self.raft is not None and self.life == life and self._tick_at == at:
                self._tick_at = None
                self.step(Tick())

        self.scheduler.later(at - self.scheduler.now, tick)

    def clock_jumps(self, milliseconds: int) -> None:
        """The clock is set forward or back; whoever waits for a deadline looks at it again."""
        self.clock_ahead += milliseconds
        self._tick_at = None
        self._plan_tick()
