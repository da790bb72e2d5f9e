"""The shapes of protocol facts: what a release of Kafka has, row by row.

Every row names the releases for which it holds. Where releases differ, a message has several rows,
one a layout; so have errors, features and configurations. docs/reference/protocol.schema.json is
made of these classes.
"""

from __future__ import annotations

import msgspec

from kwire.codec.versions import Versions


class FieldFact(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A field of a message, in the order of the wire.

    Versions are written as Kafka's schemas do: `0-4`, `2+`, `3`, `none`. The type is a schema's:
    `int32`, `string`, `[]Topic`; a struct has its fields inside. flexibleVersions is `none` for a
    string or bytes whose length stays classic in flexible versions. Without a default it is 0,
    false, empty or a struct of defaults. description: a sentence of kwire's on what it is for.
    """

    name: str
    type: str
    versions: str
    nullable_versions: str = "none"
    tag: int | None = None
    tagged_versions: str = "none"
    default: str | None = None
    ignorable: bool = False
    map_key: bool = False
    entity_type: str | None = None
    flexible_versions: str | None = None
    description: str | None = None
    fields: tuple[FieldFact, ...] = ()


class MessageFact(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A message as some releases have it.

    kind: request, response, header, metadata (a record of the cluster metadata log),
    remote-log-metadata, coordinator-key, coordinator-value or data. key: the API key of a request
    and its response, the type of a record. unstable: the last version may still change. Clients
    ask a node for the versions that it serves; listeners say which kinds of nodes can.
    """

    name: str
    kind: str
    key: int | None = None
    releases: tuple[str, ...]
    versions: str
    flexible_versions: str = "none"
    listeners: tuple[str, ...] = ()
    unstable: bool = False
    description: str | None = None
    fields: tuple[FieldFact, ...] = ()

    @property
    def api(self) -> str | None:
        """The name of the API for a request or a response: `Fetch`."""
        return self.name.removesuffix(self.kind.title()) if self.is_rpc else None

    @property
    def is_rpc(self) -> bool:
        """True for a request or a response."""
        return self.kind in ("request", "response")

    @property
    def version_set(self) -> Versions:
        """The versions as a set."""
        return Versions(self.versions)


class ErrorFact(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """An error code. retriable: the same request may succeed later, says Kafka's Errors enum."""

    code: int
    name: str
    releases: tuple[str, ...]
    retriable: bool = False


class FeatureFact(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A level of a feature (KIP-584).

    name: of the level of metadata.version: `4.0-IV3`. since: the metadata.version with which a new
    cluster gets this level. dependencies: levels that other features must have. production: False
    for a level that is only offered with unstable.feature.versions.enable.
    """

    feature: str
    level: int
    releases: tuple[str, ...]
    name: str | None = None
    since: str | None = None
    dependencies: dict[str, int] = {}
    production: bool = True


class ConfigFact(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A configuration.

    owner: broker (controllers too), topic, group, client-metrics, producer, consumer or admin.
    default: as a properties file would have it; without one it is null. required: it has none and
    must be set. internal: Kafka does not document it.
    """

    owner: str
    name: str
    releases: tuple[str, ...]
    type: str
    importance: str
    default: str | None = None
    required: bool = False
    internal: bool = False


class ProtocolFacts(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Everything, by kind; `releases` are those of Apache Kafka that are known, oldest first."""

    releases: tuple[str, ...]
    messages: tuple[MessageFact, ...]
    errors: tuple[ErrorFact, ...]
    features: tuple[FeatureFact, ...]
    configs: tuple[ConfigFact, ...]
