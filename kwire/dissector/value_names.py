"""Names of numbers: error codes, APIs and the enumerations that messages carry as int8."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum

from kwire.error_codes import ErrorCode
from kwire.messages.access_control import AclOperation, AclPermission, AclResourceType, PatternType
from kwire.messages.config_resource import ConfigType, ResourceType, source_name
from kwire.messages.control_requests import ControlRequestType
from kwire.messages.index import APIS
from kwire.messages.zk_migration_state import ZkMigrationState

ERRORS = "ERRORS"


def _enumeration(names: type[IntEnum]) -> dict[int, str]:
    return {int(member): member.name for member in names}


TABLES: Mapping[str, Mapping[int, str]] = {
    ERRORS: _enumeration(ErrorCode),
    "APIS": APIS,
    "ACL_RESOURCES": _enumeration(AclResourceType),
    "ACL_PATTERNS": _enumeration(PatternType),
    "ACL_OPERATIONS": _enumeration(AclOperation),
    "ACL_PERMISSIONS": _enumeration(AclPermission),
    "RESOURCES": _enumeration(ResourceType),
    "CONFIG_TYPES": _enumeration(ConfigType),
    "CONFIG_SOURCES": {number: source_name(number) for number in range(9)},
    "CONTROL_REQUESTS": _enumeration(ControlRequestType),
    "ZK_MIGRATIONS": _enumeration(ZkMigrationState),
}
"""The tables by their names in Lua."""

_ACLS = {
    "resource_type": "ACL_RESOURCES",
    "resource_type_filter": "ACL_RESOURCES",
    "pattern_type": "ACL_PATTERNS",
    "resource_pattern_type": "ACL_PATTERNS",
    "pattern_type_filter": "ACL_PATTERNS",
    "operation": "ACL_OPERATIONS",
    "permission_type": "ACL_PERMISSIONS",
}


_MIGRATION = {
    ("LeaderAndIsrRequest", "type"): "CONTROL_REQUESTS",
    ("UpdateMetadataRequest", "type"): "CONTROL_REQUESTS",
    ("ZkMigrationStateRecord", "zk_migration_state"): "ZK_MIGRATIONS",
}
"""Fields of a migration from ZooKeeper (KIP-866)."""


def table_of(message: str, field: str, kind: str) -> str:
    """Return the name of the table for a field of a message, "" if it has none."""
    if field.endswith("error_code"):
        return ERRORS
    if field == "api_key":
        return "APIS"
    if kind != "int8":
        return ""
    if (message, field) in _MIGRATION:
        return _MIGRATION[message, field]
    if "Acl" in message or "AccessControl" in message:
        return _ACLS.get(field, "")
    if field == "resource_type":
        return "RESOURCES"
    if "DescribeConfigs" in message:
        return {"config_source": "CONFIG_SOURCES", "source": "CONFIG_SOURCES"}.get(
            field, "CONFIG_TYPES" if field == "config_type" else ""
        )
    return ""


def table_lines() -> Iterator[str]:
    """Yield the Lua of all tables."""
    for name, names in TABLES.items():
        entries = ", ".join(f"[{number}] = {lua_text(text)}" for number, text in names.items())
        yield f"local {name} = {{ {entries} }}"


def lua_text(text: str) -> str:
    """Return a Lua string of names as they stand in declarations."""
    assert text.isascii(), f"{text!r} is no name"
    assert '"' not in text, f"{text!r} is no name"
    assert "\\" not in text, f"{text!r} is no name"
    return f'"{text}"'
