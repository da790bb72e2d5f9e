"""Finds the node that a connection comes from by what it sends: source ports are arbitrary.

Kafka's nodes call themselves `raft-client-N` between quorum members, plain `N` towards the active
controller and `broker-N-fetcher-M` when they replicate.
"""

from __future__ import annotations

import re

from kwire.codec.declaration import Request
from kwire.messages.a01_fetch import FetchRequest
from kwire.messages.a04_leader_and_isr import LeaderAndIsrRequest
from kwire.messages.a05_stop_replica import StopReplicaRequest
from kwire.messages.a06_update_metadata import UpdateMetadataRequest
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a53_begin_quorum_epoch import BeginQuorumEpochRequest
from kwire.messages.a54_end_quorum_epoch import EndQuorumEpochRequest
from kwire.messages.a56_alter_partition import AlterPartitionRequest
from kwire.messages.a59_fetch_snapshot import FetchSnapshotRequest
from kwire.messages.a62_broker_registration import BrokerRegistrationRequest
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.a70_controller_registration import ControllerRegistrationRequest
from kwire.messages.a82_update_raft_voter import UpdateRaftVoterRequest
from kwire.messages.registry import api_keys

NODE_APIS = api_keys(
    "LeaderAndIsr",
    "StopReplica",
    "UpdateMetadata",
    "ControlledShutdown",
    "Vote",
    "BeginQuorumEpoch",
    "EndQuorumEpoch",
    "AlterPartition",
    "Envelope",
    "FetchSnapshot",
    "BrokerRegistration",
    "BrokerHeartbeat",
    "AllocateProducerIds",
    "ControllerRegistration",
    "AssignReplicasToDirs",
    "UpdateRaftVoter",
)
"""APIs that only brokers and controllers call, so that a client id that is a number is theirs."""

_NAMED = re.compile(r"(?:raft-client-|broker-(?=\d+-fetcher-\d+$))(\d{1,10})")
_NUMBER = re.compile(r"\d{1,10}")


def node_of_client_id(client_id: str | None, key: int) -> int | None:
    """Return the node id in the client id of a request with this API key, None if there is none."""
    if client_id is None:
        return None
    # A plain number is a node's only in APIs that nodes alone call: any client may be called 7.
    if match := _NAMED.match(client_id):
        return int(match[1])
    return int(client_id) if key in NODE_APIS and _NUMBER.fullmatch(client_id) else None


def node_of_request(body: Request) -> int | None:
    """Return the node id that a request gives for its sender, None if it gives none."""
    match body:
        case BrokerRegistrationRequest() | BrokerHeartbeatRequest() | AlterPartitionRequest():
            return body.broker_id
        case ControllerRegistrationRequest():
            return body.controller_id
        case LeaderAndIsrRequest() | StopReplicaRequest() | UpdateMetadataRequest():
            return body.controller_id
        case UpdateRaftVoterRequest():
            return body.voter_id
        case FetchRequest():
            replica = body.replica_state.replica_id if body.replica_state else body.replica_id
            return replica if replica >= 0 else None
        case FetchSnapshotRequest():
            return body.replica_id if body.replica_id >= 0 else None
        case VoteRequest() if body.topics and body.topics[0].partitions:
            return body.topics[0].partitions[0].replica_id
        case BeginQuorumEpochRequest() | EndQuorumEpochRequest():
            partitions = body.topics[0].partitions if body.topics else []
            return partitions[0].leader_id if partitions else None
    return None
