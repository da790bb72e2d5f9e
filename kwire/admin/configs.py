"""Configuration of topics, nodes, groups and client metrics (KIP-133, KIP-226, KIP-339, KIP-1142).

The settings and the log levels of one node are that node's to tell and to change: they are asked of
it, with controllers as bootstrap also of those that do not lead (KIP-919). Everything else any
broker answers, or the active controller.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from kwire.admin import registry
from kwire.admin.driver import Driver
from kwire.admin.errors import raise_for_code, refusal
from kwire.admin.operation import Operation, OperationCall
from kwire.admin.outcomes import Outcomes
from kwire.errors import KwireError, UnsupportedVersion
from kwire.messages import a32_describe_configs as described
from kwire.messages import a44_incremental_alter_configs as altered
from kwire.messages import a74_list_config_resources as listed
from kwire.messages.config_resource import ConfigResource, ConfigSource, ConfigType, ResourceType
from kwire.messages.endpoint_type import EndpointType
from kwire.text.untrusted import whole_number

if TYPE_CHECKING:
    from kwire.image import MetadataImage

OF_ONE_NODE = frozenset({ResourceType.BROKER, ResourceType.BROKER_LOGGER})
"""The types of resources whose name is a node id; the empty name of BROKER means every broker."""

_SOURCES = {source.value: source for source in ConfigSource}
_TYPES = {type.value: type for type in ConfigType}

_TYPES_SINCE = 1
"""The version of ListConfigResources from which on it takes types (Kafka 4.1); before, as
ListClientMetricsResources, it lists nothing but client metrics."""


class AlterConfigOperation(IntEnum):
    """The kinds of changes (Java: AlterConfigOp.OpType); the last two are for lists."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigChange:
    """One change of one key. value: None to delete it, which brings back the default."""

    name: str
    operation: AlterConfigOperation = AlterConfigOperation.SET
    value: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigSynonym:
    """A value that a key has in one place; a key's first synonym is the one in force.

    source: a ConfigSource, or the number of one that kwire does not know.
    """

    name: str
    value: str | None
    source: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigEntry:
    """A key with the value in force and the place it comes from.

    value: None for a sensitive key, which no node reveals, and for a key without any value.
    source, type: a ConfigSource and a ConfigType, or the number of one that kwire does not know.
    synonyms: the values in every place, strongest first; empty unless they were asked for.
    documentation: None unless it was asked for.
    """

    name: str
    value: str | None
    source: int
    type: int = ConfigType.UNKNOWN
    is_sensitive: bool = False
    is_read_only: bool = False
    synonyms: tuple[ConfigSynonym, ...] = ()
    documentation: str | None = None

    @property
    def is_default(self) -> bool:
        """True if nobody set it: the value is Kafka's own default."""
        return self.source == ConfigSource.DEFAULT


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    names: tuple[str, ...] | None
    synonyms: bool
    documentation: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Changes:
    by_resource: Mapping[ConfigResource, tuple[ConfigChange, ...]]
    validate_only: bool
    at: EndpointType


def _node(resource: ConfigResource) -> int | None:
    """Return the id of the node that has to be asked; None if any other will do."""
    if resource.type not in OF_ONE_NODE:
        return None
    return whole_number(resource.name, bits=31)  # a name that is no number is the server's to judge


def _node_to_change(resource: ConfigResource, changes: _Changes) -> int | None:
    # A controller writes settings of any node into the log, and only the active one can; levels of
    # loggers are not in the log, but in the memory of the node.
    if changes.at is EndpointType.CONTROLLER and resource.type == ResourceType.BROKER:
        return None
    return _node(resource)


def _describe(
    call: OperationCall[ConfigResource, _Question],
) -> Iterator[tuple[tuple[ConfigResource, ...], described.DescribeConfigsRequest]]:
    # A type or a node's name that a broker cannot read makes it refuse the whole request.
    by_type: defaultdict[object, list[ConfigResource]] = defaultdict(list)
    for resource in call.keys:
        is_node = resource.type in OF_ONE_NODE and resource.name
        is_odd = is_node and _node(resource) is None
        by_type[resource if is_odd else resource.type].append(resource)
    for resources in by_type.values():
        yield tuple(resources), _describe_request(resources, call.arguments)


def _describe_request(
    resources: Iterable[ConfigResource], question: _Question
) -> described.DescribeConfigsRequest:
    return described.DescribeConfigsRequest(
        resources=[
            described.DescribeConfigsResource(
                resource_type=resource.type,
                resource_name=resource.name,
                configuration_keys=question.names,
            )
            for resource in resources
        ],
        include_synonyms=question.synonyms,
        include_documentation=question.documentation,
    )


def _described(
    response: described.DescribeConfigsResponse, call: OperationCall[ConfigResource, _Question]
) -> Iterator[tuple[ConfigResource, Mapping[str, ConfigEntry] | KwireError]]:
    for result in response.results:
        error = refusal(result.error_code, result.error_message)
        resource = ConfigResource(result.resource_type, result.resource_name)
        yield resource, error or {config.name: _entry(config) for config in result.configs}


def _entry(config: described.DescribeConfigsResourceResult) -> ConfigEntry:
    return ConfigEntry(
        name=config.name,
        value=config.value,
        source=_source(config.config_source),
        type=_type(config.config_type),
        is_sensitive=config.is_sensitive,
        is_read_only=config.read_only,
        synonyms=tuple(
            ConfigSynonym(name=synonym.name, value=synonym.value, source=_source(synonym.source))
            for synonym in config.synonyms
        ),
        documentation=config.documentation,
    )


def _source(number: int) -> int:
    return _SOURCES.get(number, number)


def _type(number: int) -> int:
    return _TYPES.get(number, number)


def _alter(call: OperationCall[ConfigResource, _Changes]) -> altered.IncrementalAlterConfigsRequest:
    return altered.IncrementalAlterConfigsRequest(
        resources=[
            altered.AlterConfigsResource(
                resource_type=resource.type,
                resource_name=resource.name,
                configs=[
                    altered.AlterableConfig(
                        name=change.name, config_operation=change.operation, value=change.value
                    )
                    for change in call.arguments.by_resource[resource]
                ],
            )
            for resource in call.keys
        ],
        validate_only=call.arguments.validate_only,
    )


def _altered(
    response: altered.IncrementalAlterConfigsResponse,
    call: OperationCall[ConfigResource, _Changes],
) -> Iterator[tuple[ConfigResource, KwireError | None]]:
    for result in response.responses:
        resource = ConfigResource(result.resource_type, result.resource_name)
        yield resource, refusal(result.error_code, result.error_message)


def _list(call: OperationCall[None, tuple[int, ...]]) -> listed.ListConfigResourcesRequest:
    types = call.arguments
    if call.offers(listed.ListConfigResourcesRequest, since=_TYPES_SINCE):
        return listed.ListConfigResourcesRequest(resource_types=types)
    if types != (ResourceType.CLIENT_METRICS,):
        raise UnsupportedVersion(
            "the nodes list no resources but client metrics, others from Kafka 4.1 on:"
            " ask for client metrics alone"
        )
    return listed.ListConfigResourcesRequest()


def _listed(
    response: listed.ListConfigResourcesResponse, call: OperationCall[None, tuple[int, ...]]
) -> Iterator[tuple[None, tuple[ConfigResource, ...]]]:
    raise_for_code(response.error_code)
    resources = response.config_resources
    yield None, tuple(ConfigResource(it.resource_type, it.resource_name) for it in resources)


def _observed(
    image: MetadataImage, keys: tuple[None, ...], types: tuple[int, ...]
) -> Iterator[tuple[None, tuple[ConfigResource, ...]]]:
    brokers = [str(node_id) for node_id in sorted(image.cluster.brokers)]
    named: dict[int, list[str]] = {
        ResourceType.TOPIC: sorted(image.topics.ids),
        ResourceType.BROKER: brokers,
        ResourceType.BROKER_LOGGER: brokers,
    }
    for resource in sorted(image.configs.resources):
        if resource.type not in (ResourceType.TOPIC, *OF_ONE_NODE):
            named.setdefault(resource.type, []).append(resource.name)
    yield (
        None,
        tuple(
            ConfigResource(type, name)
            for type, names in named.items()
            if not types or type in types
            for name in names
        ),
    )


DESCRIBE_CONFIGS: Operation[ConfigResource, _Question, Mapping[str, ConfigEntry]] = Operation(
    row=registry.DESCRIBE_CONFIGS,
    build=_describe,
    parse=_described,
    target=lambda resource, question: _node(resource),
)
INCREMENTAL_ALTER_CONFIGS: Operation[ConfigResource, _Changes, None] = Operation(
    row=registry.INCREMENTAL_ALTER_CONFIGS, build=_alter, parse=_altered, target=_node_to_change
)
LIST_CONFIG_RESOURCES: Operation[None, tuple[int, ...], tuple[ConfigResource, ...]] = Operation(
    row=registry.LIST_CONFIG_RESOURCES, build=_list, parse=_listed, observe=_observed
)


async def describe_configs(
    driver: Driver,
    resources: Iterable[ConfigResource],
    *,
    names: Iterable[str] | None = None,
    synonyms: bool = False,
    documentation: bool = False,
    timeout: float | None = None,
) -> Outcomes[ConfigResource, Mapping[str, ConfigEntry]]:
    """Return the keys of each resource with their values, as the node knows them.

    names: the keys to return; by default all. A name that a resource does not have is left out.
    synonyms, documentation: ask also for the values in all places, and for Kafka's sentences.

    Fails per resource: UNKNOWN_TOPIC_OR_PARTITION (3), INVALID_REQUEST (42) for a type or a
    name that does not exist, the AUTHORIZATION_FAILED codes, NodeNotFound for a node's id.
    """
    question = _Question(
        names=None if names is None else tuple(names),
        synonyms=synonyms,
        documentation=documentation,
    )
    return await driver.run(DESCRIBE_CONFIGS, resources, question, timeout=timeout)


async def incremental_alter_configs(
    driver: Driver,
    changes: Mapping[ConfigResource, Iterable[ConfigChange]],
    *,
    validate_only: bool = False,
    timeout: float | None = None,
) -> Outcomes[ConfigResource, None]:
    """Change single keys and leave the others alone; one resource's changes all, or none.

    validate_only: have the node check the changes, and make none.

    Fails per resource: INVALID_CONFIG (40) for a value or a key, INVALID_REQUEST (42) for a key
    that comes twice, UNKNOWN_TOPIC_OR_PARTITION (3), POLICY_VIOLATION (44), the
    AUTHORIZATION_FAILED codes, NodeNotFound for a node's id.
    """
    arguments = _Changes(
        by_resource={resource: tuple(of_one) for resource, of_one in changes.items()},
        validate_only=validate_only,
        at=driver.router.endpoint_type,
    )
    return await driver.run(
        INCREMENTAL_ALTER_CONFIGS, arguments.by_resource, arguments, timeout=timeout
    )


async def list_config_resources(
    driver: Driver, types: Iterable[int] = (), *, timeout: float | None = None
) -> tuple[ConfigResource, ...]:
    """Return the resources of these types, by default of all, that may have configuration.

    Topics and nodes are all listed, groups and client metrics only if a key of them is set.

    Raises UnsupportedVersion before Kafka 4.1 for any type but CLIENT_METRICS.
    """
    return await driver.ask(LIST_CONFIG_RESOURCES, None, tuple(types), timeout=timeout)
