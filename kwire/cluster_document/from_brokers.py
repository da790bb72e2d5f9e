"""The document of a cluster as its brokers describe it, for who cannot read the metadata log.

A broker tells what the principal may see. It tells no key of a SCRAM credential, and before
Kafka 4.1 no names of groups that have configuration.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any

from kwire.admin.client import AdminClient
from kwire.admin.configs import ConfigEntry
from kwire.admin.errors import NodeNotFound
from kwire.admin.scram import mechanism_text
from kwire.admin.topic_descriptions import TopicDescription
from kwire.admin.topic_partition import TopicPartition
from kwire.cluster_document.document import (
    VERSION,
    ClusterDocument,
    DocumentAcl,
    DocumentCluster,
    DocumentConfigs,
    DocumentCredential,
    DocumentQuota,
    DocumentSection,
    DocumentTopic,
)
from kwire.cluster_document.document_words import RESOURCE_NUMBERS, RESOURCE_TYPES
from kwire.configs.hidden_values import is_hidden
from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError, UnsupportedVersion
from kwire.messages.access_control import (
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
    number_name,
)
from kwire.messages.config_resource import ConfigResource, ConfigSource, ResourceType

_SOURCES: Mapping[int, int] = MappingProxyType(
    {
        ResourceType.TOPIC: ConfigSource.TOPIC,
        ResourceType.CLIENT_METRICS: ConfigSource.CLIENT_METRICS,
        ResourceType.GROUP: ConfigSource.GROUP,
    }
)
"""The places of values that the log has of a resource; of brokers it depends on the name."""


async def document_of_brokers(
    admin: AdminClient, wanted: ClusterDocument, only: Collection[DocumentSection] = ()
) -> ClusterDocument:
    """Return what brokers tell of the sections of another document.

    wanted: the document whose sections are read, with replicas if it has some. Configuration is
    read of its topics only. Raises what the operations raise, and BrokerError for a section that
    the principal may not read.
    """
    cluster = await admin.describe_cluster()
    fields: dict[str, Any] = {
        "version": VERSION,
        "cluster": DocumentCluster(id=cluster.cluster_id),
    }
    for section, read in _READ.items():
        if (not only or section in only) and wanted.section(section) is not None:
            fields[section] = await read(admin, wanted)
    return ClusterDocument(**fields)


async def _features(admin: AdminClient, wanted: ClusterDocument) -> dict[str, int]:
    features = await admin.describe_features()
    return {name: levels.max_version for name, levels in features.finalized_features.items()}


async def _topics(admin: AdminClient, wanted: ClusterDocument) -> tuple[DocumentTopic, ...]:
    described = dict(await admin.describe_topics())
    names = [topic.name for topic in wanted.topics or () if topic.name in described]
    resources = [ConfigResource(ResourceType.TOPIC, name) for name in names]
    configs = await _described(admin, resources)
    targets = {}
    if wanted.has_assignments:
        moving = await admin.list_partition_reassignments()
        targets = {partition: ongoing.target for partition, ongoing in moving.items()}
    return tuple(
        _topic(topic, configs.get(ConfigResource(ResourceType.TOPIC, topic.name)), targets)
        for topic in described.values()
    )


async def _described(
    admin: AdminClient, resources: Collection[ConfigResource]
) -> Mapping[ConfigResource, Mapping[str, ConfigEntry]]:
    """Return the configuration of resources, without those of nodes that are not there.

    Raises the first other error: without what is set it is not known what is to change.
    """
    if not resources:
        return {}
    outcomes = await admin.describe_configs(resources)
    for resource, error in outcomes.failed.items():
        if isinstance(error, BrokerError):
            sentence = f"configuration of {resource.name or 'all brokers'}: {error.explanation}"
            raise BrokerError(error.code, sentence) from error
        if not isinstance(error, NodeNotFound):
            raise error
    return dict(outcomes)


def _topic(
    topic: TopicDescription,
    configs: Mapping[str, ConfigEntry] | None,
    targets: Mapping[TopicPartition, tuple[int, ...]],
) -> DocumentTopic:
    resource = ConfigResource(ResourceType.TOPIC, topic.name)
    replicas = tuple(
        targets.get(TopicPartition(topic.name, partition.partition), tuple(partition.replicas))
        for partition in topic.partitions
    )
    return DocumentTopic(
        name=topic.name,
        partitions=len(replicas),
        assignments=replicas,
        configs=None if configs is None else _values(resource, configs),
    )


def _values(resource: ConfigResource, entries: Mapping[str, ConfigEntry]) -> dict[str, str | None]:
    """Return the values that the log has of a resource, None for each that is not shown."""
    if resource.type == ResourceType.BROKER:
        source = (
            ConfigSource.DYNAMIC_BROKER if resource.name else ConfigSource.DYNAMIC_DEFAULT_BROKER
        )
    else:
        source = ConfigSource(_SOURCES.get(resource.type, ConfigSource.UNKNOWN))
    return {
        name: None if entry.is_sensitive or is_hidden(resource, name) else entry.value
        for name, entry in sorted(entries.items())
        if entry.source == source
    }


async def _configs(admin: AdminClient, wanted: ClusterDocument) -> tuple[DocumentConfigs, ...]:
    resources = {
        ConfigResource(RESOURCE_NUMBERS[entry.type], entry.name or "")
        for entry in wanted.configs or ()
        if entry.type in RESOURCE_NUMBERS
    }
    with suppress(UnsupportedVersion):
        listed = await admin.list_config_resources([ResourceType.GROUP])
        resources.update(listed)
    described = await _described(admin, resources)
    values = {resource: _values(resource, entries) for resource, entries in described.items()}
    return tuple(
        DocumentConfigs(
            type=RESOURCE_TYPES[resource.type], name=resource.name or None, configs=configs
        )
        for resource, configs in values.items()
        if configs
    )


async def _quotas(admin: AdminClient, wanted: ClusterDocument) -> tuple[DocumentQuota, ...]:
    quotas = await admin.describe_client_quotas()
    return tuple(
        DocumentQuota(entity=dict(entity.ordered), quotas=values)
        for entity, values in quotas.items()
    )


async def _scram(admin: AdminClient, wanted: ClusterDocument) -> tuple[DocumentCredential, ...]:
    described = await admin.describe_user_scram_credentials()
    return tuple(
        DocumentCredential(
            user=user, mechanism=mechanism_text(info.mechanism), iterations=info.iterations
        )
        for user, infos in described.items()
        for info in infos
    )


async def _acls(admin: AdminClient, wanted: ClusterDocument) -> tuple[DocumentAcl, ...]:
    try:
        acls = await admin.describe_acls()
    except BrokerError as error:
        if error.code != ErrorCode.SECURITY_DISABLED:
            raise
        return ()
    return tuple(
        DocumentAcl(
            principal=acl.principal,
            permission=number_name(AclPermission, acl.permission),
            operation=number_name(AclOperation, acl.operation),
            resource_type=number_name(AclResourceType, acl.resource_type),
            resource_name=acl.resource_name,
            pattern_type=number_name(PatternType, acl.pattern_type),
            host=acl.host,
        )
        for acl in acls
    )


_READ: Mapping[DocumentSection, Callable[[AdminClient, ClusterDocument], Awaitable[Any]]] = (
    MappingProxyType(
        {
            DocumentSection.FEATURES: _features,
            DocumentSection.TOPICS: _topics,
            DocumentSection.CONFIGS: _configs,
            DocumentSection.QUOTAS: _quotas,
            DocumentSection.SCRAM: _scram,
            DocumentSection.ACLS: _acls,
        }
    )
)
