"""Ask a Kafka cluster: AdminClient over bootstrap.servers or bootstrap.controllers (KIP-919)."""

from admin.client import AdminClient
from admin.cluster import ClusterDescription, Node
from admin.errors import (
    DuplicateVoter,
    InconsistentClusterId,
    MismatchedEndpointType,
    NoReachableLeader,
    VoterNotFound,
)
from admin.features import FeatureMetadata
from admin.quorum import QuorumInfo, QuorumNode, RaftVoterEndpoint, ReplicaState

__all__ = [
    "AdminClient",
    "ClusterDescription",
    "DuplicateVoter",
    "FeatureMetadata",
    "InconsistentClusterId",
    "MismatchedEndpointType",
    "NoReachableLeader",
    "Node",
    "QuorumInfo",
    "QuorumNode",
    "RaftVoterEndpoint",
    "ReplicaState",
    "VoterNotFound",
]
