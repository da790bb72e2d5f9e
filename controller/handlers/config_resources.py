"""What configuration may be of, and whether it exists (Java: ControllerConfigurationValidator)."""

from __future__ import annotations

from controller import topic_config_keys
from controller.handlers.errors import ApiError
from controller.handlers.topic_names import name_problem
from kwire.error_codes import ErrorCode
from kwire.image import MetadataImage
from kwire.image.configs import ConfigResource, ResourceType
from kwire.numbers import whole_number


def check_resource(resource: ConfigResource) -> None:
    """The name of a resource.

    1. A topic without a name: INVALID_REQUEST; with a bad one: INVALID_TOPIC_EXCEPTION.
    2. A broker whose name is neither empty nor a node's id: INVALID_REQUEST.
    3. A group or a subscription of client metrics without a name: INVALID_REQUEST.
    4. Anything else: INVALID_REQUEST.
    """
    if resource.type == ResourceType.TOPIC and resource.name:
        problem = name_problem(resource.name)
        if problem is not None:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
    elif resource.type == ResourceType.BROKER:
        if resource.name and whole_number(resource.name, bits=31) is None:
            raise _invalid(f"{resource.name!r} is not a broker's id.")
    elif resource.type in (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.CLIENT_METRICS):
        if not resource.name:
            raise _invalid("This kind of resource needs a name.")
    else:
        raise _invalid(f"Resources of type {resource.type} have no configuration here.")


def check_exists(resource: ConfigResource, image: MetadataImage) -> None:
    """A topic that is not there: UNKNOWN_TOPIC_OR_PARTITION; a node: BROKER_ID_NOT_REGISTERED."""
    if resource.type == ResourceType.TOPIC and resource.name not in image.topics.ids:
        text = f"There is no topic {resource.name}."
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, text)
    if resource.type == ResourceType.BROKER and resource.name:
        cluster, id = image.cluster, int(resource.name)
        if id not in cluster.brokers and id not in cluster.controllers:
            text = f"Node {id} is not registered."
            raise ApiError(ErrorCode.BROKER_ID_NOT_REGISTERED, text)


def check_values(resource: ConfigResource, values: dict[str, str]) -> None:
    """A topic's key that is not known, or a value that is not valid: INVALID_CONFIG."""
    if resource.type == ResourceType.TOPIC:
        problem = topic_config_keys.problem(values)
        if problem is not None:
            raise ApiError(ErrorCode.INVALID_CONFIG, problem)


def _invalid(message: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REQUEST, message)
