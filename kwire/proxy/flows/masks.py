"""Finds secrets, never shown: SASL tokens, delegation token HMACs, SCRAM, sensitive configs."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from kwire.codec.declaration import Group
from kwire.codec.fields import ArrayOf, Nullable, StructClass, StructOf
from kwire.errors import EncodeError
from kwire.proxy.flows.walk import scalars

SECRET_FIELDS = frozenset(
    {"auth_bytes", "hmac", "salt", "salted_password", "stored_key", "server_key"}
)
"""Fields that hold a secret in every message they occur in (KIP-48, KIP-84, KIP-152, KIP-554)."""

_TELLING = SECRET_FIELDS | {"is_sensitive"}

SENSITIVE_CONFIG = re.compile(
    r"password|passphrase|secret|credential|jaas|token|assertion|private\.?key"
    r"|keystore\.(key|certificate)|truststore\.certificates|signature",
    re.IGNORECASE,
)
"""Names of configs of Kafka's type PASSWORD, and of what plugins are likely to keep secret."""


def is_secret(group: Group, field: str) -> bool:
    """Return True if a field of this struct must not be shown."""
    if field in SECRET_FIELDS:
        return True
    return field in ("value", "synonyms") and _is_sensitive_config(group)


@cache
def may_hold_secrets(kind: StructClass) -> bool:
    """Return True if a struct of this class can have a secret field, at whatever depth."""
    if "Config" in kind.__name__ or not _TELLING.isdisjoint(kind.fields):
        return True
    nodes = [field.type for field in kind.fields.values()]
    while nodes:
        node = nodes.pop()
        if isinstance(node, Nullable):
            nodes.append(node.inner)
        elif isinstance(node, ArrayOf):
            nodes.append(node.element)
        elif isinstance(node, StructOf) and may_hold_secrets(node.cls):
            return True
    return False


def holds_secrets(message: Group) -> bool:
    """Return True if a message has a secret field, so that its unknown tags may be secrets too."""
    return any(name in SECRET_FIELDS for _, name, _ in scalars(message))


def without_secret(error: Exception) -> str:
    """Return the error's text; if the value of a secret does not fit, without that value."""
    path = error.path if isinstance(error, EncodeError) else ""
    if path.rpartition(".")[2] in SECRET_FIELDS | {"value"}:
        return f"what stands at {path} does not fit"
    return str(error)


def _is_sensitive_config(group: Group) -> bool:
    if getattr(group, "is_sensitive", False):
        return True
    name: Any = getattr(group, "name", None)
    of_config = "Config" in type(group).__name__
    return of_config and isinstance(name, str) and bool(SENSITIVE_CONFIG.search(name))
