"""Metadata as entries with names and fields, the same for both sides of a migration (KIP-866).

A kind of entries has the scope that Kafka's dual write has for it: what one znode holds together is
looked up together again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

FieldValues = Mapping[str, object]
"""The values of an entry by field."""

EntriesByKind = Mapping["EntryKind", Mapping[str, FieldValues]]
"""Entries by name, by kind."""


class EntryKind(StrEnum):
    """The kinds of entries, in the order of reports."""

    TOPIC = "topic"
    PARTITION = "partition"
    CONFIG = "config"
    QUOTA = "quota"
    SCRAM = "scram"
    ACL = "acl"
    PRODUCER_IDS = "producer-ids"
    TOKEN = "token"
    PENDING_DELETION = "pending-deletion"


EntryKey = tuple[EntryKind, str]
"""The kind and the name of an entry."""


@dataclass(frozen=True, slots=True)
class HiddenValue:
    """A secret that can be compared and not printed.

    digest: of the value. encrypted: the digest of its encrypted form, if it was decoded.
    """

    digest: bytes
    encrypted: bytes = field(default=b"", compare=False)

    @classmethod
    def of(cls, *parts: bytes | str) -> HiddenValue:
        """Return the hidden form of a secret."""
        return cls(_digest(*parts))

    @classmethod
    def decoded(cls, value: str, encrypted: str) -> HiddenValue:
        """Return the hidden form of a secret that was decoded."""
        return cls(_digest(value), _digest(encrypted))

    def __repr__(self) -> str:
        return "(hidden)"


@dataclass(frozen=True, slots=True)
class EncryptedValue:
    """A secret in its encrypted form, which cannot be compared with the plain one."""

    digest: bytes

    @classmethod
    def of(cls, value: str) -> EncryptedValue:
        """Return the encrypted form, hidden."""
        return cls(_digest(value))

    def __repr__(self) -> str:
        return "(encrypted)"


def _digest(*parts: bytes | str) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.digest()


def partition_name(topic: str, number: int) -> str:
    """Return Kafka's name of a partition: `orders-3`."""
    return f"{topic}-{number}"


def topic_of(partition: str) -> str:
    """Return the topic of a partition's name."""
    return partition.rpartition("-")[0]


def entity_name(parts: Iterable[tuple[str, str | None]]) -> str:
    """Return the name of a quota's entity: `user alice, client-id <default>`.

    A user or client who is called like the default stands in quotation marks.
    """
    order = {"user": 0, "client-id": 1, "ip": 2}
    ordered = sorted(parts, key=lambda part: order.get(part[0], 3))
    shown = {None: "<default>", "<default>": '"<default>"'}
    return ", ".join(f"{kind} {shown.get(name, name)}" for kind, name in ordered)


def config_name(kind: str, name: str) -> str:
    """Return the name of a resource with configuration: `topic orders`, `broker <default>`."""
    return f"{kind} {name or '<default>'}"
