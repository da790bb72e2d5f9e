"""Admin client: ask a Kafka cluster over bootstrap.servers or bootstrap.controllers (KIP-919).

async with AdminClient(bootstrap_controllers="127.0.0.1:9093") as admin:
    quorum = await admin.describe_metadata_quorum()
"""

from typing import TYPE_CHECKING

from kwire.lazy_names import lazy_names

if TYPE_CHECKING:
    from kwire.admin.client import AdminClient
    from kwire.admin.cluster_description import ClusterDescription, ClusterNode
    from kwire.admin.errors import (
        DuplicateVoter,
        InconsistentClusterId,
        MismatchedEndpointType,
        MissingFromAnswer,
        NodeNotFound,
        NoReachableLeader,
        OutcomeUnknown,
        ReadOnly,
        VoterNotFound,
    )
    from kwire.admin.features import FeatureMetadata
    from kwire.admin.outcomes import Outcomes
    from kwire.admin.quorum import QuorumInfo, QuorumNode, RaftVoterEndpoint, ReplicaState
    from kwire.admin.topic_partition import TopicPartition

__all__ = [
    "AdminClient",
    "ClusterDescription",
    "ClusterNode",
    "DuplicateVoter",
    "FeatureMetadata",
    "InconsistentClusterId",
    "MismatchedEndpointType",
    "MissingFromAnswer",
    "NoReachableLeader",
    "NodeNotFound",
    "OutcomeUnknown",
    "Outcomes",
    "QuorumInfo",
    "QuorumNode",
    "RaftVoterEndpoint",
    "ReadOnly",
    "ReplicaState",
    "TopicPartition",
    "VoterNotFound",
]

if not TYPE_CHECKING:  # a type checker would take any name for one of these
    _MODULE_OF = {
        "AdminClient": "client",
        "ClusterDescription": "cluster_description",
        "ClusterNode": "cluster_description",
        "FeatureMetadata": "features",
        "Outcomes": "outcomes",
        "QuorumInfo": "quorum",
        "QuorumNode": "quorum",
        "RaftVoterEndpoint": "quorum",
        "ReplicaState": "quorum",
        "TopicPartition": "topic_partition",
    }

    __getattr__, __dir__ = lazy_names("kwire.admin", dict.fromkeys(__all__, "errors") | _MODULE_OF)
