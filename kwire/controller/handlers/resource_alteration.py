"""Changes of the configuration of resources, as both APIs for them make them (Java:
ConfigurationControlManager.validateAlterConfig)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Protocol, TypeVar

from kwire.controller.handlers.config_changes import check_change, cleared_elrs
from kwire.controller.handlers.config_resources import ConfigChecker, check_exists
from kwire.controller.handlers.limits import check_records
from kwire.controller.handlers.result import ControllerContext, VersionedRecords, versioned
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image.features import FeaturesImage
from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.messages.records.config import ConfigRecord

KNOWN_TYPES = frozenset(ResourceType) - {ResourceType.UNKNOWN}


class RequestedResource(Protocol):
    """A resource of a request."""

    resource_type: int
    resource_name: str


Requested = TypeVar("Requested", bound=RequestedResource)
ResourceResponse = TypeVar("ResourceResponse")


class ResourceOutcome(NamedTuple):
    """The result for one resource. code: 0 without an error."""

    resource: ConfigResource
    code: int
    message: str | None


def alter_each(
    requested: Iterable[Requested],
    alter: Callable[[Requested], VersionedRecords],
    features: FeaturesImage,
) -> tuple[VersionedRecords, list[ResourceOutcome]]:
    """Alter each resource by itself; return all records, and what became of each resource.

    1. A type of resource that does not exist: UNSUPPORTED_VERSION.
    2. A resource twice: INVALID_REQUEST, once.
    3. The error that `alter` raises.
    4. ELRs that another min.insync.replicas makes wrong are cleared last.
    """
    resources = list(requested)
    counts = Counter(_resource(item) for item in resources)
    records: VersionedRecords = []
    outcomes = []
    for resource, item in {_resource(item): item for item in resources}.items():
        try:
            # 1.
            if resource.type not in KNOWN_TYPES:
                text = f"Unknown resource type {resource.type}."
                raise ApiError(ErrorCode.UNSUPPORTED_VERSION, text)
            # 2.
            if counts[resource] > 1:
                raise ApiError(ErrorCode.INVALID_REQUEST, "Duplicate resource.")
            # 3.
            records += alter(item)
        except ApiError as error:
            outcomes.append(ResourceOutcome(resource, int(error.code), error.message))
        else:
            outcomes.append(ResourceOutcome(resource, 0, None))
        check_records(records)
    # 4.
    changes = [record.record for record in records if isinstance(record.record, ConfigRecord)]
    return records + cleared_elrs(changes, features), outcomes


def responses(
    outcomes: Iterable[ResourceOutcome], response: Callable[..., ResourceResponse]
) -> list[ResourceResponse]:
    """Return one response for each resource, made by the class that the API has for it."""
    return [
        response(
            error_code=outcome.code,
            error_message=outcome.message,
            resource_type=outcome.resource.type,
            resource_name=outcome.resource.name,
        )
        for outcome in outcomes
    ]


def _resource(requested: RequestedResource) -> ConfigResource:
    return ConfigResource(requested.resource_type, requested.resource_name)


def config_records(
    resource: ConfigResource,
    values: Mapping[str, str | None],
    context: ControllerContext,
    checker: ConfigChecker,
    *,
    others_stay: bool,
) -> VersionedRecords:
    """Return the records that give keys of a resource new values; None deletes a key.

    others_stay: False if keys that are not named are deleted.

    1. Keep the keys that change; of a broker, all: the same value makes it load its files again, a
       new certificate perhaps (KIP-226).
    2. Raise the errors of `check_change`, `ConfigChecker` and `check_exists`, in this order.
    3. One record for each of these keys, then one for each key that is deleted unnamed.
    """
    # 1.
    current = context.image.configs.of(*resource)
    is_broker = resource.type == ResourceType.BROKER
    changes = {
        name: value for name, value in values.items() if value != current.get(name) or is_broker
    }
    deleted = [] if others_stay else [name for name in current if name not in values]
    # 2.
    for name, value in {**changes, **dict.fromkeys(deleted)}.items():
        check_change(
            resource,
            name,
            value,
            current.get(name),
            context.metadata_version,
            forwarded=context.forwarded,
            elr_enabled=context.image.features.elr_enabled,
        )
    after = {**current, **changes, **dict.fromkeys(deleted)}
    present = {name: value for name, value in after.items() if value is not None}
    checker.check(resource, present, current)
    check_exists(resource, context.image)
    # 3.
    return [
        versioned(
            ConfigRecord(
                resource_type=resource.type, resource_name=resource.name, name=name, value=value
            )
        )
        for name, value in (changes | dict.fromkeys(sorted(deleted))).items()
    ]
