"""A cluster's metadata as a document that people read, keep and compare: the model of the file.

A section that is None is absent, and is not compared. Keys are spelled in camel case, as in Kafka's
JSON. Secrets are not in it: of a credential the iterations only, of a password that it is set.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from kwire.text.yaml_file import Strict

VERSION = 1
"""The version of the document's form; a reader refuses those that it does not know."""


class DocumentSection(StrEnum):
    """The sections that are compared, in the order of the file."""

    FEATURES = "features"
    TOPICS = "topics"
    CONFIGS = "configs"
    QUOTAS = "quotas"
    SCRAM = "scramCredentials"
    ACLS = "acls"


ConfigValues = Mapping[str, str | None]
"""Values by key; None for a value that is set and not shown."""

Natural = Annotated[int, Field(ge=0)]


class _Part(Strict):
    model_config = ConfigDict(alias_generator=to_camel)


class DocumentCluster(_Part):
    """The cluster that the document is of."""

    id: str | None = None


class DocumentBroker(_Part):
    """A registered broker, for information."""

    id: Natural
    rack: str | None = None
    endpoints: tuple[str, ...] = ()
    fenced: bool = False
    in_controlled_shutdown: bool = False


class DocumentController(_Part):
    """A registered controller, for information."""

    id: Natural
    endpoints: tuple[str, ...] = ()


class DocumentTopic(_Part):
    """A topic. id, replication_factor, assignments, configs: not compared where they are None.

    replication_factor: None if the partitions differ in it; assignments has them then.
    assignments: the replicas of each partition, the preferred leader first.
    """

    name: str
    id: str | None = None
    partitions: Natural
    replication_factor: Natural | None = None
    assignments: tuple[tuple[Natural, ...], ...] | None = None
    configs: ConfigValues | None = None


class DocumentConfigs(_Part):
    """The configuration of a broker, a group or client metrics.

    type: as `--entity-type` of kafka-configs has it. name: None for the default of all brokers.
    """

    type: str
    name: str | None
    configs: ConfigValues


class DocumentQuota(_Part):
    """Client quotas. entity: names by type (`user`, `client-id`, `ip`), None for the default."""

    entity: Mapping[str, str | None]
    quotas: Mapping[str, float]


class DocumentCredential(_Part):
    """A SCRAM credential of a user, without its keys."""

    user: str
    mechanism: str
    iterations: Natural


class DocumentAcl(_Part):
    """An ACL, in the words of Kafka's enums (AclOperation, AclPermissionType, PatternType)."""

    principal: str
    permission: str
    operation: str
    resource_type: str
    resource_name: str
    pattern_type: str
    host: str


class ClusterDocument(_Part):
    """A whole document. cluster, brokers and controllers are for information."""

    version: int
    cluster: DocumentCluster | None = None
    brokers: tuple[DocumentBroker, ...] | None = None
    controllers: tuple[DocumentController, ...] | None = None
    features: Mapping[str, Natural] | None = None
    topics: tuple[DocumentTopic, ...] | None = None
    configs: tuple[DocumentConfigs, ...] | None = None
    quotas: tuple[DocumentQuota, ...] | None = None
    scram_credentials: tuple[DocumentCredential, ...] | None = None
    acls: tuple[DocumentAcl, ...] | None = None

    @property
    def cluster_id(self) -> str | None:
        """The id of the cluster; None if the document does not tell it."""
        return None if self.cluster is None else self.cluster.id

    @property
    def has_assignments(self) -> bool:
        """True if a topic has the replicas of its partitions."""
        return any(topic.assignments is not None for topic in self.topics or ())
