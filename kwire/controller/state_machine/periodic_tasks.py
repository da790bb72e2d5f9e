"""The tasks of the active controller that no request asks for, and their times (Java:
PeriodicTaskControlManager and QuorumController.registerPeriodicTasks)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.handlers.delegation_tokens import removed_expired_tokens
from kwire.controller.handlers.placement import replication_control
from kwire.controller.handlers.result import ControllerConfig, ControllerContext, versioned
from kwire.controller.replicas.broker_heartbeat_manager import BrokerHeartbeatManager
from kwire.controller.state_machine.cluster_events import BrokerSessionExpired
from kwire.messages.records.no_op import NoOpRecord

MAX_ELECTIONS = 1000
"""Partitions that one round of balancing or of unclean elections changes at most (Java:
ReplicationControlManager.maybeBalancePartitionLeaders)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """The times of the tasks, in milliseconds; None for never."""

    no_op: int | None = None
    balance: int | None = None
    unclean: int | None = None
    expired_tokens: int | None = None

    @classmethod
    def starting(cls, now: int, config: ControllerConfig) -> Schedule:
        """Return the times of a new leader."""
        tokens = config.delegation_tokens
        schedule = cls(
            balance=_later(now, config.leader_imbalance_check_interval_ms),
            unclean=now,
            expired_tokens=_later(now, tokens.expiry_check_interval_ms) if tokens.secret else None,
        )
        return schedule.written(now, config)

    def written(self, now: int, config: ControllerConfig) -> Schedule:
        """Put the NoOpRecord off by an interval, since the log moved on (KIP-835)."""
        return replace(self, no_op=_later(now, config.no_op_interval_ms))

    def is_election_due(self, now: int) -> bool:
        """True if an election or a balance is due, for which all partitions are looked at."""
        times = (time for time in (self.balance, self.unclean) if time is not None)
        return any(time <= now for time in times)

    @property
    def deadline(self) -> int | None:
        """The time of the first task."""
        times = (self.no_op, self.balance, self.unclean, self.expired_tokens)
        return min((time for time in times if time is not None), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class DueTask:
    """The result of a task. heartbeat_manager: None if the sessions stay.

    expired: a broker whose session is over.
    """

    schedule: Schedule
    records: tuple[VersionedRecord, ...] = ()
    heartbeat_manager: BrokerHeartbeatManager | None = None
    expired: BrokerSessionExpired | None = None


def due_task(context: ControllerContext, schedule: Schedule) -> DueTask:
    """Run the first task that is due; return its records, none if there are none.

    1. A broker whose session is over is fenced.
    2. Partitions without leader get an unclean one if their topics allow it.
    3. Leadership goes back to the preferred replicas.
    4. Expired delegation tokens are removed.
    5. A log that rested gets a NoOpRecord. This is all while the rules let the others wait.
    """
    if not context.config.rules.is_waiting(context.image.features):
        task = _due_change(context, schedule)
        if task.records:
            return task
        schedule = task.schedule
    # 5.
    if schedule.no_op is not None and schedule.no_op <= context.now:
        schedule = replace(schedule, no_op=_later(context.now, context.config.no_op_interval_ms))
        return DueTask(schedule=schedule, records=(versioned(NoOpRecord()),))
    return DueTask(schedule=schedule)


def _due_change(context: ControllerContext, schedule: Schedule) -> DueTask:
    now, config = context.now, context.config
    replication = replication_control(context)
    # 1.
    stale = context.heartbeat_manager.stale_broker(now)
    if stale is not None:
        records = tuple(replication.fenced(context.image.cluster.brokers[stale]))
        heartbeat_manager = context.heartbeat_manager.fenced(stale)
        session = context.heartbeat_manager.brokers[stale]
        return DueTask(
            schedule=schedule,
            records=records,
            heartbeat_manager=heartbeat_manager,
            expired=BrokerSessionExpired(
                broker_id=stale,
                silent_ms=now - session.last_contact,
                session_timeout_ms=context.heartbeat_manager.session_timeout_ms,
            ),
        )
    # 2.
    if schedule.unclean is not None and schedule.unclean <= now:
        schedule = replace(schedule, unclean=_later(now, config.unclean_election_interval_ms))
        records = tuple(replication.elect_leaderless(MAX_ELECTIONS))
        # Without records the next task may run in the same call.
        if records:
            return DueTask(schedule=schedule, records=records)
    # 3.
    if schedule.balance is not None and schedule.balance <= now:
        interval = config.leader_imbalance_check_interval_ms
        schedule = replace(schedule, balance=_later(now, interval))
        records = tuple(replication.balance(MAX_ELECTIONS))
        if records:
            return DueTask(schedule=schedule, records=records)
    # 4.
    if schedule.expired_tokens is not None and schedule.expired_tokens <= now:
        interval = config.delegation_tokens.expiry_check_interval_ms
        schedule = replace(schedule, expired_tokens=_later(now, interval))
        records = tuple(removed_expired_tokens(context.image.delegation_tokens, now))
        if records:
            return DueTask(schedule=schedule, records=records)
    return DueTask(schedule=schedule)


def _later(now: int, interval: int) -> int | None:
    return now + interval if interval > 0 else None
