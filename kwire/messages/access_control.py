"""The numbers in ACLs (Java: ResourceType, PatternType, AclOperation, AclPermissionType).

A node takes UNKNOWN for a broken request and closes the connection.
"""

from __future__ import annotations

from enum import IntEnum

CLUSTER_NAME = "kafka-cluster"
"""The name of the one resource of type CLUSTER (org.apache.kafka.common.resource.Resource)."""


class AclResourceType(IntEnum):
    """The kinds of things that ACLs protect; ANY only in filters."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(IntEnum):
    """The ways in which a resource name is meant (KIP-290); ANY and MATCH only in filters.

    MATCH finds every pattern that a name falls under: itself, its prefixes and `*`.
    """

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class AclOperation(IntEnum):
    """The operations that ACLs allow or deny; ANY only in filters."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class AclPermission(IntEnum):
    """The verdicts of ACLs; ANY only in filters."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


def number_name(names: type[IntEnum], number: int) -> str:
    """Return the name of a number, or the number as text if Kafka has no name for it."""
    try:
        return names(number).name
    except ValueError:
        return str(number)
