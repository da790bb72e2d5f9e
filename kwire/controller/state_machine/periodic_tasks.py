"""What the active controller does by itself, and when (Java: QuorumController's periodic tasks)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kwire.batches.metadata_records import VersionedRecord
from kwire.controller.handlers.placement import replication
from kwire.controller.handlers.result import ControllerConfig, ControllerContext, versioned
from kwire.controller.replicas.broker_heartbeat_manager import BrokerHeartbeatManager
from kwire.messages.records.no_op import NoOpRecord

MOST_ELECTIONS = 1000
"""What one round of balancing or of unclean elections may change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """When what is due, in milliseconds; None for never."""

    no_op: int | None = None
    balance: int | None = None
    unclean: int | None = None

    @classmethod
    def starting(cls, now: int, config: ControllerConfig) -> Schedule:
        """That of a new leader."""
        schedule = cls(balance=_later(now, config.leader_imbalance_check_interval_ms), unclean=now)
        return schedule.written(now, config)

    def written(self, now: int, config: ControllerConfig) -> Schedule:
        """The log moved on: no NoOpRecord for an interval (KIP-835)."""
        return replace(self, no_op=_later(now, config.no_op_interval_ms))

    def looks_at_partitions(self, now: int) -> bool:
        """True if an election or a balance is due, for which all partitions are looked at."""
        times = (time for time in (self.balance, self.unclean) if time is not None)
        return any(time <= now for time in times)

    @property
    def deadline(self) -> int | None:
        """When the next thing is due."""
        times = [time for time in (self.no_op, self.balance, self.unclean) if time is not None]
        return min(times, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What was due. heartbeats: None where the sessions stay."""

    schedule: Schedule
    records: tuple[VersionedRecord, ...] = ()
    heartbeats: BrokerHeartbeatManager | None = None


def due(context: ControllerContext, schedule: Schedule) -> Due:
    """The first of what is due now.

    1. A broker whose session is over is fenced.
    2. Partitions that nobody leads get an unclean leader where their topics allow it.
    3. DeferredEventQueue goes back to the preferred replicas.
    4. A log that rested gets a NoOpRecord.
    """
    now, config = context.now, context.config
    rules = replication(context)
    stale = context.heartbeats.stale_broker(now)
    if stale is not None:
        records = tuple(rules.fenced(context.image.cluster.brokers[stale]))
        heartbeats = context.heartbeats.fenced(stale)
        return Due(schedule=schedule, records=records, heartbeats=heartbeats)
    if schedule.unclean is not None and schedule.unclean <= now:
        schedule = replace(schedule, unclean=_later(now, config.unclean_election_interval_ms))
        records = tuple(rules.elect_leaderless(MOST_ELECTIONS))
        if records:
            return Due(schedule=schedule, records=records)
    if schedule.balance is not None and schedule.balance <= now:
        interval = config.leader_imbalance_check_interval_ms
        schedule = replace(schedule, balance=_later(now, interval))
        records = tuple(rules.balance(MOST_ELECTIONS))
        if records:
            return Due(schedule=schedule, records=records)
    if schedule.no_op is not None and schedule.no_op <= now:
        schedule = replace(schedule, no_op=_later(now, config.no_op_interval_ms))
        return Due(schedule=schedule, records=(versioned(NoOpRecord()),))
    return Due(schedule=schedule)


def _later(now: int, interval: int) -> int | None:
    return now + interval if interval > 0 else None
