"""Every field that carries the address of a node, in requests, responses and records.

A test holds this against all declarations, so that no release brings one unseen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple


class Role(Enum):
    """Which of a node's listeners an address is of. A node may have both roles."""

    BROKER = "broker"
    CONTROLLER = "controller"


class AddressField(NamedTuple):
    """Where a message carries addresses.

    path: from the message to the structs that have them, "" where it has one itself. node_id: the
    field, in such a struct or in one around it, that says whose they are. host, port: their fields.
    role: of the nodes; DescribeCluster and Fetch say more in the message.
    """

    message: str
    path: str
    node_id: str
    host: str = "host"
    port: str = "port"
    role: Role = Role.BROKER


def _controllers(message: str, path: str, node_id: str) -> AddressField:
    return AddressField(message, path, node_id, role=Role.CONTROLLER)


ADDRESS_FIELDS = (
    # Where clients and brokers look for brokers.
    AddressField("MetadataResponse", "brokers", "node_id"),
    AddressField("DescribeClusterResponse", "brokers", "broker_id"),
    AddressField("FindCoordinatorResponse", "", "node_id"),
    AddressField("FindCoordinatorResponse", "coordinators", "node_id"),
    AddressField("ProduceResponse", "node_endpoints", "node_id"),
    AddressField("FetchResponse", "node_endpoints", "node_id"),
    AddressField("ShareFetchResponse", "node_endpoints", "node_id"),
    AddressField("ShareAcknowledgeResponse", "node_endpoints", "node_id"),
    # The metadata quorum: who leads, who votes.
    _controllers("VoteResponse", "node_endpoints", "node_id"),
    _controllers("BeginQuorumEpochRequest", "leader_endpoints", "leader_id"),
    _controllers("BeginQuorumEpochResponse", "node_endpoints", "node_id"),
    _controllers("EndQuorumEpochRequest", "leader_endpoints", "leader_id"),
    _controllers("EndQuorumEpochResponse", "node_endpoints", "node_id"),
    _controllers("FetchSnapshotResponse", "node_endpoints", "node_id"),
    _controllers("DescribeQuorumResponse", "nodes.listeners", "node_id"),
    _controllers("AddRaftVoterRequest", "listeners", "voter_id"),
    _controllers("UpdateRaftVoterRequest", "listeners", "voter_id"),
    _controllers("UpdateRaftVoterResponse", "current_leader", "leader_id"),
    # What nodes say of themselves.
    AddressField("BrokerRegistrationRequest", "listeners", "broker_id"),
    _controllers("ControllerRegistrationRequest", "listeners", "controller_id"),
    # What a controller told brokers before KRaft.
    AddressField("LeaderAndIsrRequest", "live_leaders", "broker_id", host="host_name"),
    AddressField("UpdateMetadataRequest", "live_brokers", "id", host="v0_host", port="v0_port"),
    AddressField("UpdateMetadataRequest", "live_brokers.endpoints", "id"),
    # The metadata log and its snapshots.
    _controllers("VotersRecord", "voters.endpoints", "voter_id"),
    AddressField("RegisterBrokerRecord", "end_points", "broker_id"),
    _controllers("RegisterControllerRecord", "end_points", "controller_id"),
)


def _by_message() -> Mapping[str, tuple[AddressField, ...]]:
    found: dict[str, tuple[AddressField, ...]] = defaultdict(tuple)
    for one in ADDRESS_FIELDS:
        found[one.message] += (one,)
    return dict(found)


BY_MESSAGE = _by_message()
