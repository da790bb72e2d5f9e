"""AdminClient: ask a Kafka cluster over bootstrap.servers or bootstrap.controllers (KIP-919)."""

from kwire.admin.client import AdminClient
from kwire.admin.cluster_description import ClusterDescription, ClusterNode
from kwire.admin.errors import (
    DuplicateVoter,
    InconsistentClusterId,
    MismatchedEndpointType,
    NoReachableLeader,
    VoterNotFound,
)
from kwire.admin.features import FeatureMetadata
from kwire.admin.quorum import (
    QuorumInfo,
    QuorumNode,
    RaftVoterEndpoint,
    ReplicaState,
)

__all__ = [
    "AdminClient",
    "ClusterDescription",
    "ClusterNode",
    "DuplicateVoter",
    "FeatureMetadata",
    "InconsistentClusterId",
    "MismatchedEndpointType",
    "NoReachableLeader",
    "QuorumInfo",
    "QuorumNode",
    "RaftVoterEndpoint",
    "ReplicaState",
    "VoterNotFound",
]
