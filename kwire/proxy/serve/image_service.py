"""The service that answers, from an image, the APIs that brokers have and controllers lack."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from kwire.codec.declaration import Request, Response
from kwire.codec.versions import Versions
from kwire.image.answers import describe_client_quotas, describe_user_scram_credentials
from kwire.messages.a03_metadata import MetadataRequest
from kwire.messages.a48_describe_client_quotas import DescribeClientQuotasRequest
from kwire.messages.a50_describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.net.service import RequestContext
from kwire.proxy.serve.answers import (
    describe_cluster,
    metadata,
)
from kwire.proxy.serve.cluster_view import ClusterView

ANSWERED: Mapping[int, Versions] = {
    request.key or 0: request.versions
    for request in (
        MetadataRequest,
        DescribeClientQuotasRequest,
        DescribeUserScramCredentialsRequest,
        DescribeClusterRequest,
    )
}


class ImageService:
    """Answers Metadata, DescribeCluster, DescribeClientQuotas and DescribeUserScramCredentials.

    view: returns the cluster as it is now; may wait for a first image.
    """

    def __init__(self, view: Callable[[], Awaitable[ClusterView]]) -> None:
        self._view = view

    @property
    def apis(self) -> Mapping[int, Versions]:
        """API key to versions: every version that Kafka has."""
        return ANSWERED

    async def answer(self, request: Request, context: RequestContext) -> Response | None:
        """Answer from the image of this moment."""
        view = await self._view()
        match request:
            case MetadataRequest():
                return metadata.answer(request, context.version, view)
            case DescribeClusterRequest():
                return describe_cluster.answer(request, context.version, view)
            case DescribeClientQuotasRequest():
                return describe_client_quotas.answer(request, view.image)
            case DescribeUserScramCredentialsRequest():
                return describe_user_scram_credentials.answer(request, view.image)
        return None
