"""A cluster's metadata as a document that people read, keep and compare: the model of the file.

A section that is None is absent, and is not compared. Keys are spelled in camel case, as in Kafka's
JSON. An export has no secrets: of a credential the iterations only, of a password that it is set.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Any, Self

from pydantic import AfterValidator, ConfigDict, Field, PlainSerializer, model_validator
from pydantic.alias_generators import to_camel

from kwire.cluster_document.document_words import (
    RESOURCE_TYPES,
    ScramBytes,
    key_fingerprint,
    salted_length,
    scram_bytes,
    word_of,
)
from kwire.messages.access_control import (
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kwire.net.scram_keys import HASHES
from kwire.text.json_numbers import json_number
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

Natural = Annotated[int, Field(ge=0, le=2**31 - 1)]
Small = Annotated[int, Field(ge=0, le=2**15 - 1)]
"""Numbers as Kafka's requests have them: one that does not fit would fail a whole batch."""

QuotaValue = Annotated[float, PlainSerializer(json_number, when_used="json")]


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
    replication_factor: Small | None = None
    assignments: tuple[tuple[Natural, ...], ...] | None = None
    configs: ConfigValues | None = None

    @property
    def title(self) -> str:
        """The name under which it is compared."""
        return self.name

    @model_validator(mode="after")
    def _has_all_assignments(self) -> Self:
        if self.assignments is not None and len(self.assignments) != self.partitions:
            raise ValueError(
                f"{self.name} has {self.partitions} partitions and assignments of"
                f" {len(self.assignments)}: make them as many"
            )
        return self


class DocumentConfigs(_Part):
    """The configuration of a broker, a group or client metrics.

    type: as `--entity-type` of kafka-configs has it. name: None for the default of all brokers.
    """

    type: Annotated[str, AfterValidator(word_of(RESOURCE_TYPES.values()))]
    name: str | None
    configs: ConfigValues

    @property
    def title(self) -> str:
        """The name under which it is compared."""
        return f"{self.type} {_or_default(self.name)}"


class DocumentQuota(_Part):
    """Client quotas. entity: names by type (`user`, `client-id`, `ip`), None for the default."""

    entity: Mapping[str, str | None]
    quotas: Mapping[str, QuotaValue]

    @property
    def title(self) -> str:
        """The name under which it is compared."""
        parts = sorted(self.entity.items())
        return ", ".join(f"{type} {_or_default(name)}" for type, name in parts)


class DocumentCredential(_Part):
    """A SCRAM credential of a user.

    salt, saltedPassword: base64. Only a person writes them, so that `kwire apply` can set the
    credential: a cluster keeps keys, from which they cannot be had.
    """

    user: str
    mechanism: Annotated[str, AfterValidator(word_of(HASHES))]
    iterations: Natural
    salt: ScramBytes | None = Field(default=None, repr=False)
    salted_password: ScramBytes | None = Field(default=None, repr=False)

    @property
    def title(self) -> str:
        """The name under which it is compared."""
        return f"{self.user} {self.mechanism}"

    @property
    def fingerprint(self) -> str | None:
        """A short hash of the key that the password makes; None if the document has neither."""
        if self.salted_password is None:
            return None
        return key_fingerprint(self.mechanism, scram_bytes(self.salted_password))

    @model_validator(mode="after")
    def _has_both_or_none(self) -> Self:
        if (self.salt is None) != (self.salted_password is None):
            raise ValueError("salt and saltedPassword go together: give both, or none")
        if self.salted_password is not None and self.mechanism in HASHES:
            needed = salted_length(self.mechanism)
            if len(scram_bytes(self.salted_password)) != needed:
                raise ValueError(f"saltedPassword of {self.mechanism} is {needed} bytes in base64")
        return self


class DocumentAcl(_Part):
    """An ACL, in the words of Kafka's enums (AclOperation, AclPermissionType, PatternType)."""

    principal: str
    permission: Annotated[str, AfterValidator(word_of(AclPermission))]
    operation: Annotated[str, AfterValidator(word_of(AclOperation))]
    resource_type: Annotated[str, AfterValidator(word_of(AclResourceType))]
    resource_name: str
    pattern_type: Annotated[str, AfterValidator(word_of(PatternType))]
    host: str

    @property
    def title(self) -> str:
        """The name under which it is compared."""
        return (
            f"{self.principal} {self.permission} {self.operation} on {self.pattern_type}"
            f" {self.resource_type} {self.resource_name} from {self.host}"
        )


_ATTRIBUTES: Mapping[DocumentSection, str] = MappingProxyType(
    {DocumentSection.SCRAM: "scram_credentials"}
)


class ClusterDocument(_Part):
    """A whole document. cluster, brokers and controllers are for information."""

    version: int
    cluster: DocumentCluster | None = None
    brokers: tuple[DocumentBroker, ...] | None = None
    controllers: tuple[DocumentController, ...] | None = None
    features: Mapping[str, Small] | None = None
    topics: tuple[DocumentTopic, ...] | None = None
    configs: tuple[DocumentConfigs, ...] | None = None
    quotas: tuple[DocumentQuota, ...] | None = None
    scram_credentials: tuple[DocumentCredential, ...] | None = None
    acls: tuple[DocumentAcl, ...] | None = None

    @property
    def cluster_id(self) -> str | None:
        """The id of the cluster; None if the document does not tell it."""
        return None if self.cluster is None else self.cluster.id

    def section(self, section: DocumentSection) -> Any:
        """Return the entries of a section; None if the document does not have it."""
        return getattr(self, _ATTRIBUTES.get(section, section))

    @property
    def has_assignments(self) -> bool:
        """True if a topic has the replicas of its partitions."""
        return any(topic.assignments is not None for topic in self.topics or ())


def _or_default(name: str | None) -> str:
    return "<default>" if name is None else name
