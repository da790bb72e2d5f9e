"""Checks of configurations and of the resources they are of (ControllerConfigurationValidator)."""

from __future__ import annotations

from functools import cached_property

from kwire.configs import client_metrics_validation, group_validation, topic_validation
from kwire.configs.keys import Configs
from kwire.configs.node_configs import node_value
from kwire.configs.topic_configs import inherited
from kwire.configs.values import java_int
from kwire.controller.authorization.access import Access, check_resource
from kwire.controller.handlers.result import ControllerContext
from kwire.controller.handlers.topic_names import name_problem
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image import MetadataImage
from kwire.messages.access_control import CLUSTER_NAME, AclOperation, AclResourceType
from kwire.messages.config_resource import ConfigResource, ResourceType


def check_name(resource: ConfigResource) -> None:
    """Check the name of a resource. Raises ApiError:

    1. A topic without a name: INVALID_REQUEST; with a bad one: INVALID_TOPIC_EXCEPTION.
    2. A broker whose name is neither empty nor a node's id: INVALID_REQUEST.
    3. A group or a subscription of client metrics without a name: INVALID_REQUEST.
    4. Anything else: INVALID_REQUEST.
    """
    # 1.
    if resource.type == ResourceType.TOPIC and resource.name:
        problem = name_problem(resource.name)
        if problem is not None:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
    # 2.
    elif resource.type == ResourceType.BROKER:
        # As in Java -1 is none, but +1 and 01 are, each a resource of its own.
        id = java_int(resource.name)
        if resource.name and (id is None or id < 0):
            raise _invalid(f"{resource.name!r} is not a broker's id.")
    # 1., 3.
    elif resource.type in _UNNAMED:
        if not resource.name:
            raise _invalid(_UNNAMED[resource.type])
    # 4.
    else:
        raise _invalid(f"Resources of type {resource.type} have no configuration here.")


_UNNAMED: dict[int, str] = {
    ResourceType.TOPIC: "Default topic resources are not allowed.",
    ResourceType.GROUP: "Default group resources are not allowed.",
    ResourceType.CLIENT_METRICS: "Subscription name can't be empty",
}


_ACL_TYPES = {
    ResourceType.TOPIC: AclResourceType.TOPIC,
    ResourceType.GROUP: AclResourceType.GROUP,
}


def check_access(access: Access, operation: AclOperation, resource: ConfigResource) -> None:
    """Check that an operation on a resource's configuration is allowed. Raises ApiError:

    1. Not allowed on a topic or a group: TOPIC_AUTHORIZATION_FAILED, GROUP_AUTHORIZATION_FAILED.
    2. For nodes, their loggers and client metrics, not allowed on the cluster:
       CLUSTER_AUTHORIZATION_FAILED.
    """
    type = _ACL_TYPES.get(ResourceType(resource.type), AclResourceType.CLUSTER)
    name = CLUSTER_NAME if type == AclResourceType.CLUSTER else resource.name
    check_resource(access, operation, type, name)


def check_exists(resource: ConfigResource, image: MetadataImage) -> None:
    """Raise UNKNOWN_TOPIC_OR_PARTITION or BROKER_ID_NOT_REGISTERED for what does not exist."""
    if resource.type == ResourceType.TOPIC and resource.name not in image.topics.ids:
        text = f"The topic '{resource.name}' does not exist."
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, text)
    if resource.type == ResourceType.BROKER and resource.name:
        cluster, id = image.cluster, java_int(resource.name)
        if id not in cluster.brokers and id not in cluster.controllers:
            text = f"No node with id {id} found."
            raise ApiError(ErrorCode.BROKER_ID_NOT_REGISTERED, text)


class ConfigChecker:
    """The checks of the configurations that resources of one request would have."""

    def __init__(self, context: ControllerContext) -> None:
        self._context = context

    def check(self, resource: ConfigResource, configs: Configs, old: Configs) -> None:
        """Check a name, and all keys and values as they would be together.

        Settings of nodes are not checked: Kafka's brokers do that before they forward them.
        Raises ApiError as `check_name` and the `check` of `topic_validation`, `group_validation`
        and `client_metrics_validation` do.
        """
        check_name(resource)
        static = self._context.config.static
        if resource.type == ResourceType.TOPIC:
            topic_validation.check(
                configs,
                old,
                self._inherited,
                remote_storage_enabled=node_value(static, REMOTE_STORAGE) is True,
            )
        elif resource.type == ResourceType.GROUP:
            group_validation.check(configs, static)
        elif resource.type == ResourceType.CLIENT_METRICS:
            client_metrics_validation.check(configs)

    @cached_property
    def _inherited(self) -> dict[str, str]:
        config = self._context.config
        return inherited(self._context.image, config.static.get, config.node_id)


REMOTE_STORAGE = "remote.log.storage.system.enable"


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
