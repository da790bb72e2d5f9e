"""/kafka-acl/TYPE/NAME and /kafka-acl-extended (kafka.zk.ResourceZNode, security.AclEntry)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, Self

from kwire.image.acls import StandardAcl
from kwire.messages.access_control import (
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
)
from kwire.zookeeper.errors import InvalidZnode
from kwire.zookeeper.paths import parent_of
from kwire.zookeeper.znodes.json_object import JsonObject
from kwire.zookeeper.znodes.json_text import json_bytes


def pascal_case(name: str) -> str:
    """Return a name as SecurityUtils writes it: DescribeConfigs for DESCRIBE_CONFIGS."""
    return "".join(word.capitalize() for word in name.split("_"))


def _by_name(names: type[IntEnum]) -> dict[str, int]:
    return {pascal_case(member.name): int(member) for member in names if member.name != "ANY"}


RESOURCE_TYPES = _by_name(AclResourceType)
_OPERATIONS = _by_name(AclOperation)
_PERMISSIONS = _by_name(AclPermission)


@dataclass(frozen=True, slots=True)
class AclResource:
    """A resource as ACLs name it; the numbers are those of AclResourceType and PatternType."""

    resource_type: int
    name: str
    pattern_type: int = PatternType.LITERAL

    @property
    def type_name(self) -> str:
        """The type as a part of a path."""
        return pascal_case(AclResourceType(self.resource_type).name)


@dataclass(frozen=True, slots=True, kw_only=True)
class AclZnodeEntry:
    """One rule for a resource; the numbers are those of AclOperation and AclPermission."""

    principal: str
    host: str
    operation: int
    permission_type: int

    @classmethod
    def of(cls, acl: StandardAcl) -> Self:
        """Return a rule without its resource."""
        return cls(
            principal=acl.principal,
            host=acl.host,
            operation=acl.operation,
            permission_type=acl.permission_type,
        )

    def rule(self, resource: AclResource) -> StandardAcl:
        """Return the rule with its resource, as the metadata log has it."""
        return StandardAcl(
            resource_type=resource.resource_type,
            resource_name=resource.name,
            pattern_type=resource.pattern_type,
            principal=self.principal,
            host=self.host,
            operation=self.operation,
            permission_type=self.permission_type,
        )


@dataclass(frozen=True, slots=True)
class AclZnode:
    """The rules for one resource. Kafka writes them in no order."""

    literal_root: ClassVar[str] = "/kafka-acl"
    prefixed_root: ClassVar[str] = "/kafka-acl-extended/prefixed"

    entries: tuple[AclZnodeEntry, ...] = ()

    @classmethod
    def root(cls, pattern_type: int) -> str:
        """Return the path above the resource types."""
        return cls.literal_root if pattern_type == PatternType.LITERAL else cls.prefixed_root

    @classmethod
    def path(cls, resource: AclResource) -> str:
        """Return the path of a resource's rules. Its name is not sanitized."""
        return f"{cls.root(resource.pattern_type)}/{resource.type_name}/{resource.name}"

    @classmethod
    def parse(cls, data: bytes, path: str) -> AclZnode:
        """Raises InvalidZnode. An empty znode has no rules."""
        if not data:
            return cls()
        fields = JsonObject.parse(data, path)
        version = fields.integer("version")
        if version != 1:
            fields.fail("version", f"{version} is unknown: Kafka 3.9 writes and reads version 1")
        return cls(tuple(_entry(entry) for entry in fields.objects("acls")))

    def encode(self) -> bytes:
        """Return version 1."""
        entries = [
            {
                "principal": entry.principal,
                "permissionType": pascal_case(AclPermission(entry.permission_type).name),
                "host": entry.host,
                "operation": pascal_case(AclOperation(entry.operation).name),
            }
            for entry in self.entries
        ]
        return json_bytes({"acls": entries, "version": 1})


def _entry(fields: JsonObject) -> AclZnodeEntry:
    principal = fields.text("principal")
    if ":" not in principal:
        fields.fail("principal", "expected type:name")
    return AclZnodeEntry(
        principal=principal,
        host=fields.text("host"),
        operation=_OPERATIONS.get(fields.text("operation"), AclOperation.UNKNOWN),
        permission_type=_PERMISSIONS.get(fields.text("permissionType"), AclPermission.UNKNOWN),
    )


def unknown_resource_type(path: str) -> InvalidZnode:
    """Return the error for ACLs of a type that is not in RESOURCE_TYPES."""
    name = parent_of(path).rpartition("/")[2]
    return InvalidZnode(path, f"{name!r} is no resource type that Kafka 3.9 has")
