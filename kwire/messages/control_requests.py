"""Values in the requests of a controller to ZooKeeper-era brokers (Java: AbstractControlRequest,
LeaderAndIsr; KIP-866)."""

from __future__ import annotations

from enum import IntEnum

LEADER_DURING_DELETE = -2
"""The leader that UpdateMetadata gives to the partitions of a topic that is being deleted."""

EPOCH_DURING_DELETE = -2
"""The leader epoch that StopReplica gives to them: it overrides any epoch that a broker has."""


class ControlRequestType(IntEnum):
    """The extent of a LeaderAndIsr or an UpdateMetadata (Java: AbstractControlRequest.Type).

    A broker sets aside the replicas that a full LeaderAndIsr does not list, and forgets the
    partitions that a full UpdateMetadata does not list.
    """

    UNKNOWN = 0
    INCREMENTAL = 1
    FULL = 2
