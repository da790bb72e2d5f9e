"""Ask a Kafka cluster: AdminClient over bootstrap.servers or bootstrap.controllers (KIP-919)."""

from kwire.admin.client import AdminClient
from kwire.admin.cluster import ClusterDescription, Node
from kwire.admin.errors import (
    DuplicateVoter,
    InconsistentClusterId,
    MismatchedEndpointType,
    NoReachableLeader,
    VoterNotFound,
)
from kwire.admin.features import FeatureMetadata
from kwire.admin.quorum import QuorumInfo, QuorumNode, RaftVoterEndpoint, ReplicaState

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
