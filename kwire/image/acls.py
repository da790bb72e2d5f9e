"""The ACLs of the image (org.apache.kafka.image.AclsImage, KIP-801)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias
from uuid import UUID

from msgspec import Struct
from rpds import HashTrieMap

from kwire.batches.metadata_records import VersionedRecord
from kwire.image.errors import ReplayError
from kwire.messages.access_control import PatternType
from kwire.messages.records.access_control_entry import AccessControlEntryRecord
from kwire.messages.records.remove_access_control_entry import RemoveAccessControlEntryRecord
from kwire.text.ids import uuid_text

WILDCARD = "*"
"""Stands for every resource, as a literal name, for every principal and for every host."""

_PREFIXED = int(PatternType.PREFIXED)


class StandardAcl(Struct, frozen=True, kw_only=True):
    """One rule; the numbers are those of AclOperation, AclPermissionType, PatternType."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int

    @classmethod
    def of(cls, record: AccessControlEntryRecord) -> StandardAcl:
        """Return the rule of a record."""
        return cls(
            resource_type=record.resource_type,
            resource_name=record.resource_name,
            pattern_type=record.pattern_type,
            principal=record.principal,
            host=record.host,
            operation=record.operation,
            permission_type=record.permission_type,
        )

    def record(self, id: UUID) -> VersionedRecord:
        """Return the AccessControlEntryRecord of it."""
        record = AccessControlEntryRecord(
            id=id,
            resource_type=self.resource_type,
            resource_name=self.resource_name,
            pattern_type=self.pattern_type,
            principal=self.principal,
            host=self.host,
            operation=self.operation,
            permission_type=self.permission_type,
        )
        return VersionedRecord(record=record, version=0)


Resource = tuple[int, int, str]
"""Resource type, pattern type, name."""

AclRules: TypeAlias = "HashTrieMap[UUID, StandardAcl]"
"""ACLs by id."""


class AclsImage(Struct, frozen=True, kw_only=True):
    """Every rule, by its id and by what it protects.

    by_resource: the rules of each resource pattern, by principal and id; a check looks up the few
    patterns that a name falls under, and a change costs the same however many rules there are.
    prefix_lengths: for each resource type, how many prefixes of each length there are.
    """

    by_id: HashTrieMap[UUID, StandardAcl] = HashTrieMap()
    by_resource: HashTrieMap[Resource, HashTrieMap[str, AclRules]] = HashTrieMap()
    prefix_lengths: HashTrieMap[int, HashTrieMap[int, int]] = HashTrieMap()

    def put(self, record: AccessControlEntryRecord) -> AclsImage:
        """Add a rule; it replaces one with the same id."""
        image = self._without(record.id) if record.id in self.by_id else self
        acl = StandardAcl.of(record)
        resource = acl.resource_type, acl.pattern_type, acl.resource_name
        by_principal = image.by_resource.get(resource)
        prefix_lengths = image.prefix_lengths
        if by_principal is None:
            by_principal = HashTrieMap()
            prefix_lengths = image._counted(resource, 1)
        rules = by_principal.get(acl.principal, HashTrieMap()).insert(record.id, acl)
        by_principal = by_principal.insert(acl.principal, rules)
        return AclsImage(
            by_id=image.by_id.insert(record.id, acl),
            by_resource=image.by_resource.insert(resource, by_principal),
            prefix_lengths=prefix_lengths,
        )

    def remove(self, record: RemoveAccessControlEntryRecord) -> AclsImage:
        """Remove a rule."""
        if record.id not in self.by_id:
            raise ReplayError(f"ACL {uuid_text(record.id)} is not known")
        return self._without(record.id)

    def _without(self, id: UUID) -> AclsImage:
        acl = self.by_id[id]
        resource = acl.resource_type, acl.pattern_type, acl.resource_name
        by_principal = self.by_resource[resource]
        rules = by_principal[acl.principal].remove(id)
        by_principal = (
            by_principal.insert(acl.principal, rules)
            if len(rules)
            else by_principal.remove(acl.principal)
        )
        is_last = not len(by_principal)
        return AclsImage(
            by_id=self.by_id.remove(id),
            by_resource=self.by_resource.remove(resource)
            if is_last
            else self.by_resource.insert(resource, by_principal),
            prefix_lengths=self._counted(resource, -1) if is_last else self.prefix_lengths,
        )

    def _counted(self, resource: Resource, change: int) -> HashTrieMap[int, HashTrieMap[int, int]]:
        """Return the prefix lengths after a resource pattern comes or goes."""
        type, pattern_type, name = resource
        if pattern_type != _PREFIXED:
            return self.prefix_lengths
        lengths = self.prefix_lengths.get(type, HashTrieMap())
        count = lengths.get(len(name), 0) + change
        lengths = lengths.insert(len(name), count) if count else lengths.remove(len(name))
        if not len(lengths):
            return self.prefix_lengths.remove(type)
        return self.prefix_lengths.insert(type, lengths)

    def __contains__(self, acl: StandardAcl) -> bool:
        """Return True if there is such a rule."""
        resource = acl.resource_type, acl.pattern_type, acl.resource_name
        by_principal = self.by_resource.get(resource, HashTrieMap())
        return acl in by_principal.get(acl.principal, HashTrieMap()).values()

    def covering(self, resource_type: int, name: str) -> Iterator[HashTrieMap[str, AclRules]]:
        """Yield the rules by principal of each pattern that a name falls under.

        These are the literal name, every prefix of it, and `*`; but `*` does not stand for names
        that begin with it, which Kafka's authorizer takes it for a mere prefix of.
        """
        literal = int(PatternType.LITERAL)
        for resource_name in (name,) if name.startswith(WILDCARD) else (name, WILDCARD):
            rules = self.by_resource.get((resource_type, literal, resource_name))
            if rules is not None:
                yield rules
        for length in self.prefix_lengths.get(resource_type, HashTrieMap()):
            if length <= len(name):
                rules = self.by_resource.get((resource_type, _PREFIXED, name[:length]))
                if rules is not None:
                    yield rules

    def records(self) -> Iterator[VersionedRecord]:
        """Yield the records that write them down."""
        for id in sorted(self.by_id):
            yield self.by_id[id].record(id)
