"""Requests of a KRaft controller to brokers that still run with ZooKeeper (KIP-866).

They take their metadata from a controller's LeaderAndIsr, UpdateMetadata and StopReplica requests,
not from the metadata log. Brokers that run as KRaft fetch that log and are told nothing.
"""

from kwire.migration.driver.propagation.broker_changes import BrokerChanges, is_told
from kwire.migration.driver.propagation.control_requests import (
    BrokerControlRequest,
    BrokerRequest,
    ControlRequestSender,
)
from kwire.migration.driver.propagation.migration_propagator import (
    full_requests,
    incremental_requests,
)

__all__ = [
    "BrokerChanges",
    "BrokerControlRequest",
    "BrokerRequest",
    "ControlRequestSender",
    "full_requests",
    "incremental_requests",
    "is_told",
]
