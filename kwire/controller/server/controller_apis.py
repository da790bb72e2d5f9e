"""Gives each request to the part of a controller that answers its API (Java: ControllerApis)."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Protocol

from kwire.codec.declaration import Request, Response
from kwire.codec.versions import Versions
from kwire.controller.authorization.access import Access, check_cluster
from kwire.controller.handlers import envelope
from kwire.controller.handlers.acl_filters import ACL_REQUESTS, has_unknown_elements
from kwire.controller.handlers.registry import HANDLERS
from kwire.controller.raft import API_KEYS as RAFT_KEYS
from kwire.controller.raft.rpc import describe_quorum
from kwire.controller.rules import Rules
from kwire.controller.server import large_messages
from kwire.controller.server.foreign_clusters import ForeignClusters
from kwire.controller.server.large_messages import (
    has_many_elements,
    in_thread_if,
    in_thread_if_many,
)
from kwire.controller.server.raft_runtime import RaftRuntime
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError, ConnectionFailed, StorageFailed
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest
from kwire.messages.a18_api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest
from kwire.messages.a58_envelope import EnvelopeRequest, EnvelopeResponse
from kwire.messages.access_control import AclOperation
from kwire.messages.error_response import error_response
from kwire.messages.registry import api_key, api_keys, api_name, request
from kwire.net.negotiation import VersionRange
from kwire.net.service import RequestContext, Service

logger = logging.getLogger(__name__)

FETCH_VERSIONS = Versions("4-18")
"""Versions before 4 are gone from Kafka 4, too (KIP-896)."""

RAFT_NEEDS = {
    **dict.fromkeys(
        api_keys(
            "Fetch",
            "FetchSnapshot",
            "Vote",
            "BeginQuorumEpoch",
            "EndQuorumEpoch",
            "UpdateRaftVoter",
        ),
        AclOperation.CLUSTER_ACTION,
    ),
    **dict.fromkeys(api_keys("AddRaftVoter", "RemoveRaftVoter"), AclOperation.ALTER),
    **dict.fromkeys(api_keys("DescribeQuorum"), AclOperation.DESCRIBE),
}
"""The operation on the cluster that each of raft's RPCs needs."""

CLUSTER_NEEDS = {
    **{key: handler.needs for key, handler in HANDLERS.items() if handler.needs is not None},
    **RAFT_NEEDS,
    api_key("Envelope"): AclOperation.CLUSTER_ACTION,
}
"""The operation on the cluster that an API needs, whatever a request of it says."""

_ZERO_LEVELS_SINCE = 4
_SOFTWARE_SINCE = 3  # KIP-511
_IDENTITY_SINCE = 5  # KIP-1242
_NO_NODE = -1
_FAULT = "The controller failed to handle this request; its log has the reason."
_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?")


class MetadataService(Service, Protocol):
    """The part that answers from the metadata and changes it, and knows the features."""

    @property
    def rules(self) -> Rules:
        """The rules of the cluster."""

    @property
    def supported_features(self) -> Mapping[str, VersionRange]:
        """Supported levels by feature name."""

    @property
    def finalized_features(self) -> Mapping[str, int]:
        """Finalized levels by feature name."""

    @property
    def features_epoch(self) -> int:
        """The offset at which the finalized levels were read; -1 before there is one."""

    def access(self, context: RequestContext) -> Access:
        """Return what a sender may do. UNKNOWN_SERVER_ERROR as long as nobody can tell."""

    async def until_acls_loaded(self) -> None:
        """Wait until everybody can tell."""


class ControllerApis:
    """The `Service` of one controller.

    late_listeners: names of the listeners whose requests wait until the ACLs are loaded.
    """

    def __init__(
        self,
        runtime: RaftRuntime,
        metadata: MetadataService,
        foreign: ForeignClusters,
        *,
        late_listeners: Collection[str] = (),
    ) -> None:
        self._late_listeners = frozenset(late_listeners)
        self._runtime = runtime
        self._foreign = foreign
        self._metadata = metadata
        raft = {key: request(key).versions for key in RAFT_KEYS}
        own = {api_key("Fetch"): FETCH_VERSIONS} | {
            key: request(key).versions
            for key in api_keys("ApiVersions", "Envelope", "SaslHandshake", "SaslAuthenticate")
        }
        self._apis = MappingProxyType(dict(sorted({**metadata.apis, **raft, **own}.items())))

    @property
    def apis(self) -> Mapping[int, Versions]:
        """Every API that this controller answers, with its versions."""
        return self._apis

    async def answer(self, request: Request, context: RequestContext) -> Response | None:
        """Return the response of the part that answers a request; None to close the connection.

        An exception that is no refusal is a fault of this controller's, not of the connection: it
        is logged, and the answer is UNKNOWN_SERVER_ERROR (Java: ControllerApis.handle).
        """
        try:
            return await self._answer(request, context)
        except (ConnectionFailed, StorageFailed):  # the node ends
            raise
        except Exception:
            api, code = api_name(type(request).key or 0), ErrorCode.UNKNOWN_SERVER_ERROR
            logger.exception(
                "%s v%d from %s:%d could not be answered", api, context.version, *context.peer
            )
            return await in_thread_if_many(
                request, error_response, request, context.version, code, _FAULT
            )

    async def _answer(self, request: Request, context: RequestContext) -> Response | None:
        """Pass a request to the part that answers it, and return the response.

        1. At a listener that is not among early.start.listeners, wait for the ACLs.
        2. Answer ApiVersions here: everybody may ask.
        3. Close the connection for a request with UNKNOWN elements, as Kafka does.
        4. If nobody can tell what the sender may do: UNKNOWN_SERVER_ERROR. Without CLUSTER_ACTION
           for an Envelope, or what a raft RPC needs: CLUSTER_AUTHORIZATION_FAILED.
        5. Open an Envelope, refuse a login out of turn with ILLEGAL_SASL_STATE, pass raft's own
           RPCs to the replica and all others to the metadata, whose handlers ask what the sender
           may do. A write is answered when its records are committed.
        """
        # 1.
        if context.listener in self._late_listeners:
            await self._metadata.until_acls_loaded()
        # 2.
        if isinstance(request, ApiVersionsRequest):
            return self._api_versions(request, context.version)
        # 3.
        # A forwarded request was looked through when its Envelope was opened.
        is_new_acl_request = isinstance(request, ACL_REQUESTS) and not context.forwarded
        if is_new_acl_request and await in_thread_if_many(request, has_unknown_elements, request):
            return None
        # 4.
        try:
            self._check_access(request, context)
        except ApiError as error:
            return await in_thread_if_many(
                request, error_response, request, context.version, error.code, error.message
            )
        # 5.
        if isinstance(request, EnvelopeRequest):
            return await self._answer_forwarded(request, context)
        if isinstance(request, SaslHandshakeRequest | SaslAuthenticateRequest):
            # A login is the listener's; one that comes here is none.
            text = "Nobody is to log in at this point of a connection."
            return error_response(request, context.version, ErrorCode.ILLEGAL_SASL_STATE, text)
        if isinstance(request, DescribeQuorumRequest) and has_many_elements(request):
            # The one answer of raft's that repeats all that a request names: not in its event loop.
            return await in_thread_if(True, describe_quorum.refused, request)
        if type(request).key in RAFT_KEYS:
            self._foreign.warn_of_request(request, context.peer)
            return await self._runtime.ask(request, context.version, context.listener)
        return await self._metadata.answer(request, context)

    async def check_access(self, key: int, context: RequestContext) -> None:
        """Raise ApiError if the sender may not use the API of this key, whatever it asks for.

        For requests that are too large to be decoded before that is known.
        """
        if context.listener in self._late_listeners:
            await self._metadata.until_acls_loaded()
        needs = CLUSTER_NEEDS.get(key)
        if needs is not None:
            check_cluster(self._metadata.access(context), needs)

    def _check_access(self, request: Request, context: RequestContext) -> None:
        # 4.
        access = self._metadata.access(context)
        is_envelope = isinstance(request, EnvelopeRequest)
        needs = (
            AclOperation.CLUSTER_ACTION if is_envelope else RAFT_NEEDS.get(type(request).key or 0)
        )
        if needs is not None:
            check_cluster(access, needs)

    async def _answer_forwarded(
        self, request: EnvelopeRequest, context: RequestContext
    ) -> EnvelopeResponse:
        """Unwrap a request that a broker forwards, have it answered, wrap the response.

        NOT_CONTROLLER and other errors of the forwarding itself stand on the Envelope, so that the
        broker looks for another controller and the client does not see them (KIP-590).
        """
        is_large = len(request.request_data) >= large_messages.LARGE_FRAME
        try:
            forwarded = await in_thread_if(is_large, envelope.opened, request)
        except ApiError as error:
            return envelope.refused(error.code)
        # The client chose this version with the broker, not with this controller.
        if forwarded.version not in self._apis.get(type(forwarded.request).key or 0, ()):
            return envelope.refused(ErrorCode.UNSUPPORTED_VERSION)
        inner = replace(
            context,
            version=forwarded.version,
            correlation_id=forwarded.correlation_id,
            client_id=forwarded.client_id,
            peer=(forwarded.host, context.peer[1]),
            principal=forwarded.principal,
            by_delegation_token=forwarded.by_delegation_token,
            forwarded=True,
            size=len(request.request_data),
        )
        response = await self.answer(forwarded.request, inner)
        if response is None:
            return envelope.refused(ErrorCode.UNSUPPORTED_VERSION)
        if is_large:
            await asyncio.to_thread(large_messages.free, forwarded.request)
        return await in_thread_if_many(response, envelope.sealed, forwarded, response)

    def _api_versions(self, request: ApiVersionsRequest, version: int) -> ApiVersionsResponse:
        """Return the APIs and features that work here.

        1. Software without a proper name or version: INVALID_REQUEST (KIP-511).
        2. A cluster id without a node id, or the other way round: INVALID_REQUEST (KIP-1242).
           They are not compared with this controller's own: in Kafka only brokers do that.
        3. Features whose lowest level is 0 are left out before version 4, whose readers take no
           such range.
        """
        # 1.
        names = request.client_software_name, request.client_software_version
        if version >= _SOFTWARE_SINCE and not all(map(_SOFTWARE.fullmatch, names)):
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
        # 2.
        has_cluster_id, has_node_id = request.cluster_id is not None, request.node_id != _NO_NODE
        if version >= _IDENTITY_SINCE and has_cluster_id != has_node_id:
            return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
        metadata = self._metadata
        return ApiVersionsResponse(
            api_keys=[
                ApiVersion(api_key=key, min_version=versions.first, max_version=versions.last)
                for key, versions in self._apis.items()
            ],
            supported_features=[
                SupportedFeatureKey(
                    name=name, min_version=levels.min_version, max_version=levels.max_version
                )
                for name, levels in sorted(metadata.supported_features.items())
                # 3.
                if levels.min_version > 0 or version >= _ZERO_LEVELS_SINCE
            ],
            zk_migration_ready=self._metadata.rules.is_ready,
            finalized_features_epoch=metadata.features_epoch,
            finalized_features=[
                FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
                for name, level in sorted(metadata.finalized_features.items())
            ],
        )
