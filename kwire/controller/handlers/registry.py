"""The table of the APIs that the metadata state machine answers, with their handlers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from kwire.codec.declaration import Request, Response
from kwire.codec.versions import Versions
from kwire.controller.handlers import (
    allocate_producer_ids,
    alter_client_quotas,
    alter_configs,
    alter_partition,
    alter_partition_reassignments,
    alter_user_scram_credentials,
    assign_replicas_to_dirs,
    broker_heartbeat,
    broker_registration,
    controller_registration,
    create_acls,
    create_delegation_token,
    create_partitions,
    create_topics,
    delete_acls,
    delete_topics,
    describe_acls,
    describe_cluster,
    describe_configs,
    elect_leaders,
    expire_delegation_token,
    incremental_alter_configs,
    list_partition_reassignments,
    renew_delegation_token,
    unregister_broker,
    unregister_controller,
    update_features,
)
from kwire.controller.handlers.result import ControllerContext, ControllerEvent, ControllerResult
from kwire.errors import ApiError
from kwire.messages.a19_create_topics import CreateTopicsRequest
from kwire.messages.a20_delete_topics import DeleteTopicsRequest
from kwire.messages.a29_describe_acls import DescribeAclsRequest
from kwire.messages.a30_create_acls import CreateAclsRequest
from kwire.messages.a31_delete_acls import DeleteAclsRequest
from kwire.messages.a32_describe_configs import DescribeConfigsRequest
from kwire.messages.a33_alter_configs import AlterConfigsRequest
from kwire.messages.a37_create_partitions import CreatePartitionsRequest
from kwire.messages.a38_create_delegation_token import CreateDelegationTokenRequest
from kwire.messages.a39_renew_delegation_token import RenewDelegationTokenRequest
from kwire.messages.a40_expire_delegation_token import ExpireDelegationTokenRequest
from kwire.messages.a43_elect_leaders import ElectLeadersRequest
from kwire.messages.a44_incremental_alter_configs import IncrementalAlterConfigsRequest
from kwire.messages.a45_alter_partition_reassignments import AlterPartitionReassignmentsRequest
from kwire.messages.a46_list_partition_reassignments import ListPartitionReassignmentsRequest
from kwire.messages.a49_alter_client_quotas import AlterClientQuotasRequest
from kwire.messages.a51_alter_user_scram_credentials import AlterUserScramCredentialsRequest
from kwire.messages.a56_alter_partition import AlterPartitionRequest
from kwire.messages.a57_update_features import UpdateFeaturesRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.a62_broker_registration import BrokerRegistrationRequest
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest
from kwire.messages.a67_allocate_producer_ids import AllocateProducerIdsRequest
from kwire.messages.a70_controller_registration import ControllerRegistrationRequest
from kwire.messages.a73_assign_replicas_to_dirs import AssignReplicasToDirsRequest
from kwire.messages.a94_unregister_controller import UnregisterControllerRequest
from kwire.messages.access_control import AclOperation
from kwire.messages.error_response import error_response

EventOf = Callable[[Any, ControllerContext], ControllerEvent]


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """The handler of one API.

    needs: the operation on the cluster that the sender must be allowed; None if the handler itself
    asks for what it needs, such as operations on topics. needs_authorizer: without one the answer
    is SECURITY_DISABLED.
    writes: the handler sees what is written but not committed, and the answer waits for the
    commit. event: which one a request is; a WRITE needs the active controller. has_deadline: the
    event does not happen once `timeout_ms` of the request have passed; Kafka ignores this field of
    other APIs.
    """

    request: type[Request]
    versions: Versions
    handle: Callable[[Any, ControllerContext], ControllerResult]
    needs: AclOperation | None = None
    writes: bool = True
    needs_authorizer: bool = False
    has_deadline: bool = False
    event: EventOf = lambda request, context: ControllerEvent.WRITE

    @property
    def key(self) -> int:
        """The API key."""
        assert self.request.key is not None, "every request has an API key"
        return self.request.key

    def limit_ms(self, request: Request) -> int | None:
        """Return the milliseconds after which a request is not carried out; None for no limit."""
        return request.timeout_ms if self.has_deadline else None  # type: ignore[attr-defined]

    def refuse(self, request: Request, version: int, error: ApiError) -> Response:
        """Return the response that gives one error for the whole request."""
        return error_response(request, version, error.code, error.message)


Handle = Callable[[Any, ControllerContext], ControllerResult]


def _write(
    request: type[Request], handle: Handle, versions: str, needs: AclOperation | None = None
) -> Handler:
    """Register an API that only the active controller answers, when everything is committed."""
    return Handler(
        request=request,
        versions=Versions(versions),
        handle=handle,
        needs=needs,
    )


def _asking(event: EventOf, handler: Handler) -> Handler:
    """Register an API some of whose requests every controller answers."""
    return replace(handler, event=event)


def _timed(handler: Handler) -> Handler:
    """Register an API whose requests say how long they may take."""
    return replace(handler, has_deadline=True)


def _read(
    request: type[Request], handle: Handle, versions: str, needs: AclOperation | None = None
) -> Handler:
    """Register an API that every controller answers, from what is committed."""
    handler = _write(request, handle, versions, needs)
    return replace(handler, writes=False, event=lambda request, context: ControllerEvent.READ)


def _of_acls(handler: Handler) -> Handler:
    """Register an API that only nodes with an authorizer answer."""
    return replace(handler, needs_authorizer=True)


ALTER, DESCRIBE = AclOperation.ALTER, AclOperation.DESCRIBE
ALTER_CONFIGS = AclOperation.ALTER_CONFIGS
CLUSTER_ACTION = AclOperation.CLUSTER_ACTION

HANDLERS: Mapping[int, Handler] = MappingProxyType(
    {
        handler.key: handler
        for handler in (
            _timed(
                _asking(
                    create_topics.event, _write(CreateTopicsRequest, create_topics.handle, "2-7")
                )
            ),
            _timed(
                _asking(
                    delete_topics.event, _write(DeleteTopicsRequest, delete_topics.handle, "1-6")
                )
            ),
            _of_acls(_read(DescribeAclsRequest, describe_acls.handle, "1-3", DESCRIBE)),
            _of_acls(_write(CreateAclsRequest, create_acls.handle, "1-3", ALTER)),
            _of_acls(_write(DeleteAclsRequest, delete_acls.handle, "1-3", ALTER)),
            _read(DescribeConfigsRequest, describe_configs.handle, "1-4"),
            _asking(alter_configs.event, _write(AlterConfigsRequest, alter_configs.handle, "0-2")),
            _timed(
                _asking(
                    create_partitions.event,
                    _write(CreatePartitionsRequest, create_partitions.handle, "0-3"),
                )
            ),
            _asking(
                create_delegation_token.event,
                _write(CreateDelegationTokenRequest, create_delegation_token.handle, "1-3"),
            ),
            _asking(
                renew_delegation_token.event,
                _write(RenewDelegationTokenRequest, renew_delegation_token.handle, "1-2"),
            ),
            _asking(
                expire_delegation_token.event,
                _write(ExpireDelegationTokenRequest, expire_delegation_token.handle, "1-2"),
            ),
            _timed(
                _asking(
                    elect_leaders.event,
                    _write(ElectLeadersRequest, elect_leaders.handle, "0-2", ALTER),
                )
            ),
            _asking(
                incremental_alter_configs.event,
                _write(IncrementalAlterConfigsRequest, incremental_alter_configs.handle, "0-1"),
            ),
            _timed(
                _asking(
                    alter_partition_reassignments.event,
                    _write(
                        AlterPartitionReassignmentsRequest,
                        alter_partition_reassignments.handle,
                        "0-1",
                        ALTER,
                    ),
                )
            ),
            _read(
                ListPartitionReassignmentsRequest,
                list_partition_reassignments.handle,
                "0",
                DESCRIBE,
            ),
            _write(AlterClientQuotasRequest, alter_client_quotas.handle, "0-1", ALTER_CONFIGS),
            _write(
                AlterUserScramCredentialsRequest, alter_user_scram_credentials.handle, "0", ALTER
            ),
            _asking(
                alter_partition.event,
                _write(AlterPartitionRequest, alter_partition.handle, "2-3", CLUSTER_ACTION),
            ),
            _write(UpdateFeaturesRequest, update_features.handle, "0-2", ALTER),
            _read(DescribeClusterRequest, describe_cluster.handle, "0-2"),
            _write(BrokerRegistrationRequest, broker_registration.handle, "0-4", CLUSTER_ACTION),
            _write(BrokerHeartbeatRequest, broker_heartbeat.handle, "0-2", CLUSTER_ACTION),
            _write(UnregisterBrokerRequest, unregister_broker.handle, "0", ALTER),
            _write(AllocateProducerIdsRequest, allocate_producer_ids.handle, "0", CLUSTER_ACTION),
            _write(
                ControllerRegistrationRequest,
                controller_registration.handle,
                "0",
                CLUSTER_ACTION,
            ),
            _write(
                AssignReplicasToDirsRequest, assign_replicas_to_dirs.handle, "0", CLUSTER_ACTION
            ),
            _write(UnregisterControllerRequest, unregister_controller.handle, "0", ALTER),
        )
    }
)
"""By API key; the versions are those of a 4.4 controller. Other APIs are not advertised."""
