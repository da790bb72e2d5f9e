"""The words of `kwire acls`: resources, principals and operations, as kafka-acls has them."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import product
from typing import Any

from kwire.admin.acls import AclBinding, AclFilter
from kwire.cli.admin.acl_options import AclGrantees, AclGrants, AclResources
from kwire.cli.errors import WrongUsage
from kwire.messages.access_control import (
    CLUSTER_NAME,
    AclOperation,
    AclPermission,
    AclResourceType,
    PatternType,
    number_name,
)

ANY_HOST = "*"

_PRODUCER = {
    AclResourceType.TOPIC: (AclOperation.WRITE, AclOperation.DESCRIBE, AclOperation.CREATE),
    AclResourceType.TRANSACTIONAL_ID: (AclOperation.WRITE, AclOperation.DESCRIBE),
}
_CONSUMER = {
    AclResourceType.TOPIC: (AclOperation.READ, AclOperation.DESCRIBE),
    AclResourceType.GROUP: (AclOperation.READ,),
}
_IDEMPOTENT = {AclResourceType.CLUSTER: (AclOperation.IDEMPOTENT_WRITE,)}

_OPERATIONS = {
    AclResourceType.TOPIC: (
        AclOperation.READ,
        AclOperation.WRITE,
        AclOperation.CREATE,
        AclOperation.DESCRIBE,
        AclOperation.DELETE,
        AclOperation.ALTER,
        AclOperation.DESCRIBE_CONFIGS,
        AclOperation.ALTER_CONFIGS,
    ),
    AclResourceType.GROUP: (
        AclOperation.READ,
        AclOperation.DESCRIBE,
        AclOperation.DELETE,
        AclOperation.DESCRIBE_CONFIGS,
        AclOperation.ALTER_CONFIGS,
    ),
    AclResourceType.CLUSTER: (
        AclOperation.CREATE,
        AclOperation.CLUSTER_ACTION,
        AclOperation.DESCRIBE_CONFIGS,
        AclOperation.ALTER_CONFIGS,
        AclOperation.IDEMPOTENT_WRITE,
        AclOperation.ALTER,
        AclOperation.DESCRIBE,
    ),
    AclResourceType.TRANSACTIONAL_ID: (
        AclOperation.DESCRIBE,
        AclOperation.WRITE,
        AclOperation.TWO_PHASE_COMMIT,
    ),
    AclResourceType.DELEGATION_TOKEN: (AclOperation.DESCRIBE,),
    AclResourceType.USER: (AclOperation.CREATE_TOKENS, AclOperation.DESCRIBE_TOKENS),
}
"""The operations of each kind of resource (org.apache.kafka.security.authorizer.AclEntry). Nodes
also take others, which then have no effect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AclWords:
    """The options that say which ACLs are meant, as the user wrote them.

    principals: of ACLs that allow or deny, in filters only.
    """

    resources: AclResources = field(default_factory=AclResources)
    pattern_type: str = "literal"
    principals: Sequence[str] = ()
    grantees: AclGrantees = field(default_factory=AclGrantees)
    grants: AclGrants = field(default_factory=AclGrants)

    def bindings(self) -> list[AclBinding]:
        """Return the ACLs to add. Raises WrongUsage for words that do not go together."""
        self._check_words()
        principals = [*self._principals(any_host=ANY_HOST)]
        if not principals:
            raise WrongUsage("give --allow-principal or --deny-principal, as User:alice.")
        pattern = self._pattern(PatternType.LITERAL, PatternType.PREFIXED)
        granted = [*self._granted()]
        if not granted:
            raise WrongUsage("give a resource: --topic, --group, --cluster, …")
        return [
            AclBinding(
                resource_type=type,
                resource_name=name,
                pattern_type=PatternType.LITERAL if type is AclResourceType.CLUSTER else pattern,
                principal=principal,
                host=host,
                operation=operation,
                permission=permission,
            )
            for (type, name, operation), (principal, host, permission) in product(
                dict.fromkeys(granted), principals
            )
        ]

    def filters(self) -> list[AclFilter]:
        """Return the filters for the ACLs that the words name; what is not named is any."""
        operations: list[int] = [*self._operations()] or [AclOperation.ANY]
        self._check_words()
        principals: list[tuple[str | None, str | None, int]] = [
            *self._principals(any_host=None)
        ] or [(None, None, AclPermission.ANY)]
        pattern = self._pattern(*PatternType)
        if self.grants.of_clients:
            targets: list[tuple[int, str | None, int]] = [*self._conveniences()]
        else:
            resources: list[tuple[int, str | None]] = [*self._resources()] or [
                (AclResourceType.ANY, None)
            ]
            targets = [
                (*resource, operation) for resource, operation in product(resources, operations)
            ]
        return [
            AclFilter(
                resource_type=type,
                resource_name=name,
                pattern_type=PatternType.LITERAL if type == AclResourceType.CLUSTER else pattern,
                principal=principal,
                host=host,
                operation=operation,
                permission=permission,
            )
            for (type, name, operation), (principal, host, permission) in product(
                dict.fromkeys(targets), principals
            )
        ]

    def _check_words(self) -> None:
        """Refuse words that would be left out, so that more is meant. Raises WrongUsage."""
        for kind, principals, hosts in (
            ("allow", self.grantees.allow, self.grantees.allow_hosts),
            ("deny", self.grantees.deny, self.grantees.deny_hosts),
        ):
            if hosts and not principals:
                raise WrongUsage(f"--{kind}-host needs --{kind}-principal.")
        if self.grants.operations and self.grants.of_clients:
            raise WrongUsage("--producer, --consumer and --idempotent choose the operations.")

    @property
    def names_something(self) -> bool:
        """True if a resource or a principal is named: without one every ACL is meant."""
        return bool(
            [*self._resources(), *self._principals(any_host=None)] or self.grants.idempotent
        )

    def strange_hosts(self) -> list[str]:
        """Return the hosts that are no address: Kafka compares addresses, never names."""
        return [
            host
            for host in (*self.grantees.allow_hosts, *self.grantees.deny_hosts)
            if not _is_address(host)
        ]

    def _granted(self) -> Iterator[tuple[AclResourceType, str, AclOperation]]:
        if self.grants.of_clients:
            if self.grantees.deny:
                raise WrongUsage("--producer, --consumer and --idempotent allow, and never deny.")
            yield from self._conveniences()
            return
        operations = [*self._operations()] or [AclOperation.ALL]
        for (type, name), operation in product(self._resources(), operations):
            possible = _OPERATIONS[type]
            if operation is not AclOperation.ALL and operation not in possible:
                noun = type.name.lower().replace("_", " ")
                raise WrongUsage(
                    f"a {noun} has no operation {_words([operation])}: take {_words(possible)}."
                )
            yield type, name, operation

    def _conveniences(self) -> Iterator[tuple[AclResourceType, str, AclOperation]]:
        if (self.grants.producer or self.grants.consumer) and not self.resources.topics:
            raise WrongUsage("--producer and --consumer need --topic.")
        if self.grants.consumer and not self.resources.groups:
            raise WrongUsage("--consumer needs --group.")
        for chosen, grants in (
            (self.grants.producer, _PRODUCER),
            (self.grants.consumer, _CONSUMER),
        ):
            for type, name in self._resources() if chosen else ():
                for operation in grants.get(type, ()):
                    yield type, name, operation
        if self.grants.idempotent:
            for type, operations in _IDEMPOTENT.items():
                yield from ((type, CLUSTER_NAME, operation) for operation in operations)

    def _resources(self) -> Iterator[tuple[AclResourceType, str]]:
        named = {
            AclResourceType.TOPIC: self.resources.topics,
            AclResourceType.GROUP: self.resources.groups,
            AclResourceType.CLUSTER: [CLUSTER_NAME] if self.resources.cluster else [],
            AclResourceType.TRANSACTIONAL_ID: self.resources.transactional_ids,
            AclResourceType.DELEGATION_TOKEN: self.resources.tokens,
            AclResourceType.USER: self.resources.users,
        }
        for type, names in named.items():
            yield from ((type, name) for name in names)

    def _principals(self, any_host: str | None) -> Iterator[tuple[str, Any, AclPermission]]:
        any_of_both: list[str] = []
        for permission, principals, hosts in (
            (AclPermission.ANY, self.principals, any_of_both),
            (AclPermission.ALLOW, self.grantees.allow, self.grantees.allow_hosts),
            (AclPermission.DENY, self.grantees.deny, self.grantees.deny_hosts),
        ):
            chosen: Sequence[str | None] = hosts or [any_host]
            for principal, host in product(principals, chosen):
                if not all(principal.partition(":")):
                    example = "User:alice" if ":" in principal else f"User:{principal}"
                    raise WrongUsage(f"{principal!r} is no principal: write {example}.")
                yield principal, host, permission

    def _operations(self) -> Iterator[AclOperation]:
        for word in self.grants.operations:
            yield AclOperation(_number(AclOperation, word, "operation"))

    def _pattern(self, *allowed: PatternType) -> PatternType:
        pattern = PatternType(_number(PatternType, self.pattern_type, "pattern type"))
        if pattern not in allowed:
            raise WrongUsage(f"an ACL has the pattern type {_words(allowed)}.")
        return pattern


def acl_values(acl: AclBinding) -> dict[str, Any]:
    """Return the values of an ACL in a row."""
    return {
        "resourceType": number_name(AclResourceType, acl.resource_type),
        "resourceName": acl.resource_name,
        "patternType": number_name(PatternType, acl.pattern_type),
        "principal": acl.principal,
        "host": acl.host,
        "operation": number_name(AclOperation, acl.operation),
        "permissionType": number_name(AclPermission, acl.permission),
    }


def _number(names: type[IntEnum], word: str, noun: str) -> int:
    """Return the number of `Describe`, `describe-configs` or `DescribeConfigs`."""
    spelled = word.replace("-", "").replace("_", "").upper()
    for number in names:
        if number and number.name.replace("_", "") == spelled:
            return number
    raise WrongUsage(f"{word!r} is no {noun}: take {_words([*names][1:])}.")


def _words(numbers: Sequence[IntEnum]) -> str:
    return ", ".join(number.name.lower().replace("_", "-") for number in numbers)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host == ANY_HOST
    return True
