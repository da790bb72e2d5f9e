"""AdminClient: asks brokers, or controllers directly (KIP-919), as Java's Admin does."""

from __future__ import annotations

from kwire.admin.acls import Acls
from kwire.admin.cluster import ClusterNodes
from kwire.admin.configs import Configs
from kwire.admin.features import Features
from kwire.admin.group_seek import GroupSeeks
from kwire.admin.hanging_transactions import HangingTransactions
from kwire.admin.logdirs import LogDirs
from kwire.admin.node_versions import NodeVersions
from kwire.admin.partitions import Partitions
from kwire.admin.quotas import ClientQuotas
from kwire.admin.reassignments import Reassignments
from kwire.admin.scram import ScramCredentials
from kwire.admin.tokens import DelegationTokens
from kwire.admin.voters import Voters


class AdminClient(
    Acls,
    DelegationTokens,
    ScramCredentials,
    ClientQuotas,
    ClusterNodes,
    Configs,
    Features,
    HangingTransactions,
    GroupSeeks,
    LogDirs,
    NodeVersions,
    Partitions,
    Reassignments,
    Voters,
):
    """Every operation in one client; the parameters are those of ClusterClient.

    async with AdminClient(bootstrap_controllers="127.0.0.1:9093") as admin:
        quorum = await admin.describe_metadata_quorum()
    """
