"""/kafka-acl-changes and /kafka-acl-extended-changes (kafka.zk.ZkAclChangeStore)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kwire.messages.access_control import AclResourceType, PatternType
from kwire.zookeeper.errors import InvalidZnode
from kwire.zookeeper.znodes.acl import AclResource
from kwire.zookeeper.znodes.json_object import JsonObject
from kwire.zookeeper.znodes.json_text import json_bytes


@dataclass(frozen=True, slots=True)
class AclChangeZnode:
    """A notice that the rules of a resource changed, for brokers in ZooKeeper mode."""

    literal_prefix: ClassVar[str] = "/kafka-acl-changes/acl_changes_"
    extended_prefix: ClassVar[str] = "/kafka-acl-extended-changes/acl_changes_"

    resource: AclResource

    @property
    def path_prefix(self) -> str:
        """The path of the sequential znode, without its number."""
        literal = self.resource.pattern_type == PatternType.LITERAL
        return self.literal_prefix if literal else self.extended_prefix

    @classmethod
    def parse(cls, data: bytes, path: str) -> AclChangeZnode:
        """Raises InvalidZnode."""
        if path.startswith("/kafka-acl-extended-changes/"):
            return cls(_extended(JsonObject.parse(data, path)))
        text = data.decode("utf-8", "replace")
        type_name, colon, name = text.partition(":")
        if not colon:
            raise InvalidZnode(path, "expected type:name")
        return cls(AclResource(_number(AclResourceType, type_name), name))

    def encode(self) -> bytes:
        """Return TYPE:name for a literal resource, else version 1."""
        type_name = AclResourceType(self.resource.resource_type).name
        if self.resource.pattern_type == PatternType.LITERAL:
            return f"{type_name}:{self.resource.name}".encode()
        return json_bytes(
            {
                "version": 1,
                "resourceType": type_name,
                "name": self.resource.name,
                "patternType": PatternType(self.resource.pattern_type).name,
            }
        )


def _extended(fields: JsonObject) -> AclResource:
    version = fields.integer("version")
    if version > 1:
        fields.fail("version", f"{version} is unknown: Kafka 3.9 reads version 1")
    return AclResource(
        _number(AclResourceType, fields.text("resourceType")),
        fields.text("name"),
        _number(PatternType, fields.text("patternType")),
    )


def _number(names: type[AclResourceType] | type[PatternType], name: str) -> int:
    """Return the number of a name in any case, UNKNOWN for others (ResourceType.fromString)."""
    return names.__members__.get(name.upper(), names.UNKNOWN)
