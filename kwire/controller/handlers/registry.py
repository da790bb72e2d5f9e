"""The table of the APIs that the metadata state machine answers, with their handlers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, get_type_hints

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
    describe_client_quotas,
    describe_cluster,
    describe_configs,
    describe_delegation_token,
    describe_user_scram_credentials,
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


def _api(
    module: Any,
    versions: str,
    needs: AclOperation | None = None,
    *,
    reads: bool = False,
    has_deadline: bool = False,
    needs_authorizer: bool = False,
) -> Handler:
    """Return the handler of the API whose requests a module takes.

    reads: every controller answers, from what is committed; else only the active one, when
    everything is committed. A module with a function `event` says so of each request.
    """
    event = ControllerEvent.READ if reads else ControllerEvent.WRITE
    return Handler(
        request=get_type_hints(module.handle)["request"],
        versions=Versions(versions),
        handle=module.handle,
        needs=needs,
        writes=not reads,
        needs_authorizer=needs_authorizer,
        has_deadline=has_deadline,
        event=getattr(module, "event", lambda request, context: event),
    )


ALTER, DESCRIBE = AclOperation.ALTER, AclOperation.DESCRIBE
ALTER_CONFIGS = AclOperation.ALTER_CONFIGS
CLUSTER_ACTION = AclOperation.CLUSTER_ACTION

_HANDLERS = (
    _api(create_topics, "2-7", has_deadline=True),
    _api(delete_topics, "1-6", has_deadline=True),
    _api(describe_acls, "1-3", DESCRIBE, reads=True, needs_authorizer=True),
    _api(create_acls, "1-3", ALTER, needs_authorizer=True),
    _api(delete_acls, "1-3", ALTER, needs_authorizer=True),
    _api(describe_configs, "1-4", reads=True),
    _api(alter_configs, "0-2"),
    _api(create_partitions, "0-3", has_deadline=True),
    _api(create_delegation_token, "1-3"),
    _api(renew_delegation_token, "1-2"),
    _api(expire_delegation_token, "1-2"),
    _api(describe_delegation_token, "1-3", reads=True),
    _api(elect_leaders, "0-2", ALTER, has_deadline=True),
    _api(incremental_alter_configs, "0-1"),
    _api(alter_partition_reassignments, "0-1", ALTER, has_deadline=True),
    _api(list_partition_reassignments, "0", DESCRIBE, reads=True),
    _api(describe_client_quotas, "0-1", AclOperation.DESCRIBE_CONFIGS, reads=True),
    _api(alter_client_quotas, "0-1", ALTER_CONFIGS),
    _api(describe_user_scram_credentials, "0", DESCRIBE, reads=True),
    _api(alter_user_scram_credentials, "0", ALTER),
    _api(alter_partition, "2-3", CLUSTER_ACTION),
    _api(update_features, "0-2", ALTER),
    _api(describe_cluster, "0-2", reads=True),
    _api(broker_registration, "0-4", CLUSTER_ACTION),
    _api(broker_heartbeat, "0-2", CLUSTER_ACTION),
    _api(unregister_broker, "0", ALTER),
    _api(allocate_producer_ids, "0", CLUSTER_ACTION),
    _api(controller_registration, "0", CLUSTER_ACTION),
    _api(assign_replicas_to_dirs, "0", CLUSTER_ACTION),
    _api(unregister_controller, "0", ALTER),
)
HANDLERS: Mapping[int, Handler] = MappingProxyType({handler.key: handler for handler in _HANDLERS})
"""By API key. The versions are those of a 4.4 controller, or of a 4.4 broker for what KIP-919 lists
and no controller of Kafka serves. Other APIs are not advertised."""
