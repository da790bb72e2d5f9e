"""Makes the document of a metadata image, in an order that depends on its content alone."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from pydantic import Field

from kwire.cluster_document.document import (
    VERSION,
    ClusterDocument,
    ConfigValues,
    DocumentAcl,
    DocumentBroker,
    DocumentCluster,
    DocumentConfigs,
    DocumentController,
    DocumentCredential,
    DocumentQuota,
    DocumentSection,
    DocumentTopic,
)
from kwire.cluster_document.document_words import RESOURCE_TYPES, stored_key_fingerprint
from kwire.configs.hidden_values import is_hidden
from kwire.image.acls import StandardAcl
from kwire.image.broker import BrokerRegistration
from kwire.image.endpoint import Endpoint
from kwire.image.partition import PartitionRegistration
from kwire.image.scram import MECHANISMS
from kwire.image.topics import TopicImage
from kwire.messages.access_control import (
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
    number_name,
)
from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.messages.metadata_versions import KRAFT_VERSION
from kwire.net.address import Address
from kwire.observer.stored_metadata import StoredMetadata
from kwire.text.ids import uuid_text


class StoredCredential(DocumentCredential):
    """A SCRAM credential of a cluster, whose key can be compared; it is not written."""

    key: str = Field(exclude=True, repr=False)

    @property
    def fingerprint(self) -> str:
        """A short hash of the key that the cluster has."""
        return self.key


def document_of(
    metadata: StoredMetadata,
    only: Collection[DocumentSection] = (),
    *,
    assignments: bool = False,
    keys: bool = False,
) -> ClusterDocument:
    """Return the document of an image.

    only: the sections it has; none stands for all, with the brokers and controllers.
    assignments: with the replicas of every partition, not of those topics alone whose partitions
    differ in their number. keys: compare SCRAM credentials by their keys, too, which are not
    written.
    """
    fields: dict[str, Any] = {"version": VERSION}
    if metadata.cluster_id is not None:
        fields["cluster"] = DocumentCluster(id=metadata.cluster_id)
    if not only:
        fields |= _nodes(metadata)
    for section, build in _SECTIONS.items():
        if not only or section in only:
            fields[section] = build(metadata)
    if not only or DocumentSection.TOPICS in only:
        fields[DocumentSection.TOPICS] = _topics(metadata, assignments)
    if not only or DocumentSection.SCRAM in only:
        fields[DocumentSection.SCRAM] = tuple(_scram(metadata, keys))
    return ClusterDocument(**fields)


def target_replicas(partition: PartitionRegistration) -> tuple[int, ...]:
    """Return the replicas of a partition, without those that a reassignment is removing."""
    removed = partition.removing_replicas
    return tuple(replica for replica in partition.replicas if replica not in removed)


def _nodes(metadata: StoredMetadata) -> dict[str, Any]:
    cluster = metadata.image.cluster
    return {
        "brokers": tuple(_broker(cluster.brokers[id]) for id in sorted(cluster.brokers)),
        "controllers": tuple(
            DocumentController(
                id=id, endpoints=tuple(map(_endpoint, cluster.controllers[id].endpoints))
            )
            for id in sorted(cluster.controllers)
        ),
    }


def _broker(broker: BrokerRegistration) -> DocumentBroker:
    fields: dict[str, Any] = {"id": broker.id}
    if broker.rack is not None:
        fields["rack"] = broker.rack
    fields |= {"endpoints": tuple(map(_endpoint, broker.endpoints)), "fenced": broker.fenced}
    if broker.in_controlled_shutdown:
        fields["in_controlled_shutdown"] = True
    return DocumentBroker(**fields)


def _endpoint(endpoint: Endpoint) -> str:
    return f"{endpoint.name}://{Address(endpoint.host, endpoint.port)}"


def _features(metadata: StoredMetadata) -> dict[str, int]:
    levels = dict(metadata.image.features.levels.items())
    if metadata.kraft_version:
        levels[KRAFT_VERSION] = metadata.kraft_version
    return dict(sorted(levels.items()))


def _topics(metadata: StoredMetadata, assignments: bool) -> tuple[DocumentTopic, ...]:
    image = metadata.image
    topics = (image.topics.by_id[image.topics.ids[name]] for name in sorted(image.topics.ids))
    return tuple(
        _topic(topic, _shown(metadata, ConfigResource(ResourceType.TOPIC, topic.name)), assignments)
        for topic in topics
    )


def _topic(topic: TopicImage, configs: ConfigValues, assignments: bool) -> DocumentTopic:
    replicas = tuple(
        target_replicas(topic.partitions[number]) for number in sorted(topic.partitions)
    )
    sizes = {len(partition) for partition in replicas}
    fields: dict[str, Any] = {"replication_factor": next(iter(sizes))} if len(sizes) == 1 else {}
    if assignments or len(sizes) > 1:
        fields["assignments"] = replicas
    return DocumentTopic(
        name=topic.name,
        id=uuid_text(topic.id),
        partitions=len(topic.partitions),
        configs=configs,
        **fields,
    )


def _shown(metadata: StoredMetadata, resource: ConfigResource) -> dict[str, str | None]:
    """Return the configuration of a resource, None for each value that must not be shown."""
    configs = metadata.image.configs.of(*resource)
    return {
        key: None if is_hidden(resource, key) else value for key, value in sorted(configs.items())
    }


def _configs(metadata: StoredMetadata) -> tuple[DocumentConfigs, ...]:
    resources = sorted(metadata.image.configs.resources)
    return tuple(
        DocumentConfigs(
            type=RESOURCE_TYPES.get(resource.type, str(resource.type)),
            name=resource.name or None,
            configs=_shown(metadata, resource),
        )
        for resource in resources
        if resource.type != ResourceType.TOPIC
    )


def _quotas(metadata: StoredMetadata) -> tuple[DocumentQuota, ...]:
    entities = metadata.image.client_quotas.entities
    quotas = [
        DocumentQuota(
            entity=dict(sorted(entity, key=_part_order)),
            quotas=dict(sorted(entities[entity].items())),
        )
        for entity in entities
    ]
    return tuple(sorted(quotas, key=_entity_order))


def _part_order(part: tuple[str, str | None]) -> tuple[str, bool, str]:
    type, name = part
    return type, name is not None, name or ""


def _entity_order(quota: DocumentQuota) -> list[tuple[str, bool, str]]:
    return [_part_order(part) for part in quota.entity.items()]


def _scram(metadata: StoredMetadata, keys: bool) -> Iterator[DocumentCredential]:
    credentials = metadata.image.scram.credentials
    for user in sorted(credentials, key=lambda user: (user.name, user.mechanism)):
        credential = credentials[user]
        facts: dict[str, Any] = {
            "user": user.name,
            "mechanism": MECHANISMS.get(user.mechanism, str(user.mechanism)),
            "iterations": credential.iterations,
        }
        if keys:
            yield StoredCredential(**facts, key=stored_key_fingerprint(credential.stored_key))
        else:
            yield DocumentCredential(**facts)


def _acls(metadata: StoredMetadata) -> tuple[DocumentAcl, ...]:
    acls = set(metadata.image.acls.by_id.values())
    return tuple(map(_acl, sorted(acls, key=_acl_order)))


def _acl_order(acl: StandardAcl) -> tuple[int, str, int, str, str, int, int]:
    return (
        acl.resource_type,
        acl.resource_name,
        acl.pattern_type,
        acl.principal,
        acl.host,
        acl.operation,
        acl.permission_type,
    )


def _acl(acl: StandardAcl) -> DocumentAcl:
    return DocumentAcl(
        principal=acl.principal,
        permission=number_name(AclPermission, acl.permission_type),
        operation=number_name(AclOperation, acl.operation),
        resource_type=number_name(AclResourceType, acl.resource_type),
        resource_name=acl.resource_name,
        pattern_type=number_name(PatternType, acl.pattern_type),
        host=acl.host,
    )


_SECTIONS: Mapping[DocumentSection, Callable[[StoredMetadata], object]] = MappingProxyType(
    {
        DocumentSection.FEATURES: _features,
        DocumentSection.CONFIGS: _configs,
        DocumentSection.QUOTAS: _quotas,
        DocumentSection.ACLS: _acls,
    }
)
