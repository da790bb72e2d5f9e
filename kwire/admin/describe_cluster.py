"""The operation DescribeCluster: of brokers (KIP-700) and of controllers (KIP-919)."""

from __future__ import annotations

from kwire.admin.cluster_description import ClusterDescription
from kwire.admin.routing import Operation
from kwire.messages.a60_describe_cluster import DescribeClusterRequest


class DescribeClusterOperation(Operation):
    """`AdminClient.describe_cluster`."""

    async def describe_cluster(
        self,
        *,
        include_fenced_brokers: bool = False,
        include_authorized_operations: bool = False,
        timeout: float | None = None,
    ) -> ClusterDescription:
        """Return the cluster's id and nodes: brokers, or controllers if those are the bootstrap.

        The first node that answers is asked; its view may lag behind the active controller's.

        Raises UnsupportedEndpointType for `include_fenced_brokers` with controllers as bootstrap,
        MismatchedEndpointType if a node of the other kind answers, UnsupportedVersion for a
        controller from before KIP-919, ConnectionFailed if no node answers.
        """
        return await self._router.describe_cluster(
            DescribeClusterRequest(
                include_fenced_brokers=include_fenced_brokers,
                include_cluster_authorized_operations=include_authorized_operations,
            ),
            timeout,
        )
