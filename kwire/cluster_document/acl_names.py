"""Names of the numbers in ACLs (Java: ResourceType, PatternType, AclOperation, AclPermissionType).

A number that Kafka has no name for stays a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

RESOURCE_TYPES: Mapping[int, str] = MappingProxyType(
    {
        1: "ANY",
        2: "TOPIC",
        3: "GROUP",
        4: "CLUSTER",
        5: "TRANSACTIONAL_ID",
        6: "DELEGATION_TOKEN",
        7: "USER",
    }
)
PATTERN_TYPES: Mapping[int, str] = MappingProxyType(
    {1: "ANY", 2: "MATCH", 3: "LITERAL", 4: "PREFIXED"}
)
OPERATIONS: Mapping[int, str] = MappingProxyType(
    {
        1: "ANY",
        2: "ALL",
        3: "READ",
        4: "WRITE",
        5: "CREATE",
        6: "DELETE",
        7: "ALTER",
        8: "DESCRIBE",
        9: "CLUSTER_ACTION",
        10: "DESCRIBE_CONFIGS",
        11: "ALTER_CONFIGS",
        12: "IDEMPOTENT_WRITE",
        13: "CREATE_TOKENS",
        14: "DESCRIBE_TOKENS",
        15: "TWO_PHASE_COMMIT",
    }
)
PERMISSION_TYPES: Mapping[int, str] = MappingProxyType({1: "ANY", 2: "DENY", 3: "ALLOW"})


def acl_name(names: Mapping[int, str], number: int) -> str:
    """Return the name of a number, or the number as text."""
    return names.get(number, str(number))
