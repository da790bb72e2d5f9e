"""The driver of the migration as one function of its past (Java: KRaftMigrationDriver).

`step(event, now)` gives the effects, as in `raft/`. In Java a thread runs one event after the
other and waits for ZooKeeper; here an operation stands still until its request is answered, and
other operations wait behind it in the same order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from kwire.errors import ConnectionFailed, KwireError
from kwire.migration.driver import operations
from kwire.migration.driver.driver_core import (
    DriverCore,
    DualWrites,
    QuorumLeader,
    Steps,
    poll_delay,
)
from kwire.migration.driver.driver_states import (
    BECOME_CONTROLLER,
    DUAL_WRITE,
    INACTIVE,
    KRAFT_CONTROLLER_TO_BROKER_COMM,
    SYNC_KRAFT_TO_ZK,
    UNINITIALIZED,
    WAIT_FOR_BROKERS,
    WAIT_FOR_CONTROLLER_QUORUM,
    ZK_MIGRATION,
    MigrationDriverState,
)
from kwire.migration.driver.effects import DriverEffect, DriverRequest, Perform
from kwire.migration.driver.events import (
    ControllerChanged,
    DriverEvent,
    MetadataPublished,
    NotPerformed,
    Performed,
    PollDriver,
    StartDriver,
)
from kwire.migration.driver.leadership import ZkMigrationLeadershipState
from kwire.migration.driver.writing import LeadershipLost
from kwire.zookeeper import (
    MultiFailed,
    NotAuthorized,
    ZooKeeperAuthenticationFailed,
    ZooKeeperError,
)

_OPERATIONS = {
    UNINITIALIZED: operations.recover,
    WAIT_FOR_CONTROLLER_QUORUM: operations.wait_for_controller_quorum,
    WAIT_FOR_BROKERS: operations.wait_for_brokers,
    BECOME_CONTROLLER: operations.become_controller,
    ZK_MIGRATION: operations.migrate_metadata,
    SYNC_KRAFT_TO_ZK: operations.synchronise,
    KRAFT_CONTROLLER_TO_BROKER_COMM: operations.send_to_brokers,
}
"""The operation of a poll in each state; none in DUAL_WRITE, whose work comes with images."""

MOST_QUEUED = 16
"""Operations that wait while ZooKeeper is slower than the log; what comes then is one change."""

DriverTask = Callable[[DriverCore], Steps | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedOperation:
    """An operation that waits for its turn. run: returns its steps, None if it needs no answer."""

    name: str
    run: DriverTask


class MigrationDriver:
    """Drives the migration on one controller.

    voters: returns the ids of the quorum's voters. dual_writes: returns the writes to ZooKeeper of
    what has changed.

    The first event is StartDriver. The effects of a step are carried out in their order. `now` is
    milliseconds since 1970.
    """

    def __init__(
        self, node_id: int, *, voters: Callable[[], Iterable[int]], dual_writes: DualWrites
    ) -> None:
        self._core = DriverCore(node_id, voters, dual_writes)
        self._queue: deque[QueuedOperation] = deque()
        self._running: Steps | None = None
        self._name = ""
        self._token = 0

    @property
    def state(self) -> MigrationDriverState:
        """The present state."""
        return self._core.state

    @property
    def leadership(self) -> ZkMigrationLeadershipState:
        """The state of ZooKeeper's side, as far as it is known."""
        return self._core.leadership

    @property
    def has_room(self) -> bool:
        """True if another image may be published: each that waits is kept until its turn."""
        return len(self._queue) < MOST_QUEUED

    @property
    def deadline(self) -> int | None:
        """The time of the next PollDriver; None: not before another event."""
        return None if self._running is not None else self._core.poll_at

    def step(self, event: DriverEvent, now: int) -> list[DriverEffect]:
        """Handle an event; return its effects.

        1. Queue what the event asks for, or resume the operation that it answers.
        2. While no operation waits for an answer, run the next one: those of a poll that is due
           after those that were queued before.
        """
        core = self._core
        core.now = now
        # 1.
        self._take(event)
        # 2.
        while self._running is None:
            if self._queue:
                self._begin(self._queue.popleft())
            elif core.poll_at is not None and core.poll_at <= now:
                self._poll()
            else:
                break
        effects, core.effects = core.effects, []
        return effects

    def _take(self, event: DriverEvent) -> None:
        core = self._core
        match event:
            case StartDriver():
                core.wake_up()
            case PollDriver():
                pass
            case ControllerChanged(leader_id=leader_id, epoch=epoch):
                core.leader = QuorumLeader(id=leader_id, epoch=epoch)
                # Before /migration was read, no leader is followed; the poll after it does.
                if core.state is not UNINITIALIZED:
                    self._queue_operation("KRaftLeaderEvent", operations.change_leader)
            case MetadataPublished():
                publish = partial(operations.publish, event=event, leader=core.leader)
                self._queue_operation("MetadataChangeEvent", publish)
            case Performed(token=token, answer=answer):
                if self._running is not None and token == self._token:
                    self._advance(partial(self._running.send, answer))
            case NotPerformed(token=token, error=error):
                if self._running is not None and token == self._token:
                    self._advance(partial(self._running.throw, error))

    def _queue_operation(self, name: str, run: DriverTask) -> None:
        self._queue.append(QueuedOperation(name=name, run=run))

    def _poll(self) -> None:
        """Queue the work of the present state; poll again later, and later every time."""
        core = self._core
        core.poll_at = core.now + poll_delay(core.polls)
        core.polls += 1
        if core.state is DUAL_WRITE or (core.state is INACTIVE and core.leader == core.adopted):
            core.poll_at = None
            return
        operation: DriverTask = _OPERATIONS.get(core.state, operations.change_leader)
        self._queue_operation(core.state.name, operation)

    def _begin(self, operation: QueuedOperation) -> None:
        self._name = operation.name
        steps = operation.run(self._core)
        if steps is not None:
            self._running = steps
            self._advance(partial(next, steps))

    def _advance(self, resume: Callable[[], DriverRequest]) -> None:
        """Run the operation to its next request, or to its end."""
        try:
            request = resume()
        except StopIteration:
            self._running = None
        except KwireError as error:
            self._running = None
            self._failed(error)
        else:
            self._token += 1
            self._core.emit(Perform(token=self._token, request=request))

    def _failed(self, error: KwireError) -> None:
        """Log why an operation ended (Java: MigrationEvent.handleException); try again later.

        1. Another leader goes on: nothing is left to do.
        2. What ZooKeeper refuses for lack of rights needs a person. Other errors of ZooKeeper pass.
        3. With a claim go back to it: another controller may have taken over, and a write may have
           been made. Without one stay in the state.
        """
        core = self._core
        # 1.
        if isinstance(error, LeadershipLost):
            core.info(f"{self._name} ends: {error}.")
            return
        # 2.
        cause = error.error if isinstance(error, MultiFailed) else error
        if isinstance(cause, NotAuthorized | ZooKeeperAuthenticationFailed):
            core.error(f"Encountered ZooKeeper authentication in {self._name}: {error}")
        elif isinstance(error, ZooKeeperError | ConnectionFailed):
            core.info(f"Encountered ZooKeeper error during {self._name}. Will retry. {error}")
        else:
            core.error(f"Error in {self._name}: {error}")
        # 3.
        if core.leads and core.leadership.has_claim:
            core.retreat()
        elif core.poll_at is None:
            core.poll_at = core.now + poll_delay(core.polls)
            core.polls += 1
