"""/config/TYPE/NAME and /config/changes (kafka.zk.ConfigEntityZNode)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar

from kwire.image.scram import MECHANISMS
from kwire.zookeeper.errors import InvalidZnode
from kwire.zookeeper.znodes.json_object import JsonObject
from kwire.zookeeper.znodes.json_text import json_bytes
from kwire.zookeeper.znodes.sanitized_names import DEFAULT_ENTITY, desanitize, sanitize
from kwire.zookeeper.znodes.scram import ScramText

_DOUBLE = re.compile(r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?|NaN|Infinity)")
"""Texts that java.lang.Double.valueOf reads, without its hexadecimal ones."""


class ConfigEntityType(Enum):
    """The folders of /config (org.apache.kafka.server.config.ConfigType)."""

    TOPICS = "topics"
    CLIENTS = "clients"
    USERS = "users"
    BROKERS = "brokers"
    IPS = "ips"

    @property
    def path(self) -> str:
        """The path of the folder."""
        return f"/config/{self.value}"


def entity_path(type: ConfigEntityType, name: str | None) -> str:
    """Return the path of an entity's config; of the default one for None.

    Names of users, clients and IPs are sanitized; this leaves brokers' and topics' as they are.
    """
    return f"{type.path}/{entity_name(name)}"


def user_client_path(user: str | None, client: str | None) -> str:
    """Return the path of the quotas of a user's client; None stands for the default one."""
    return f"/config/users/{entity_name(user)}/clients/{entity_name(client)}"


def entity_name(name: str | None) -> str:
    """Return an entity's name in a path: sanitized, <default> for None."""
    return DEFAULT_ENTITY if name is None else sanitize(name)


def parse_entity_name(name: str, path: str) -> str | None:
    """Return the entity of a name in a path; None for <default>. Raises InvalidZnode."""
    return None if name == DEFAULT_ENTITY else desanitize(name, path)


@dataclass(frozen=True, slots=True)
class ConfigZnode:
    """The dynamic configs of an entity; for users and clients quotas and SCRAM credentials.

    Values may be secrets and are not printed.
    """

    config: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def parse(cls, data: bytes, path: str) -> ConfigZnode:
        """Raises InvalidZnode. An empty znode has no configs: one above others may be empty."""
        if not data:
            return cls()
        fields = JsonObject.parse(data, path).object_or_empty("config")
        return cls({name: fields.text(name) for name in fields})

    def encode(self) -> bytes:
        """Return version 1."""
        return json_bytes({"version": 1, "config": self.config})

    def quotas(self, path: str) -> dict[str, float]:
        """Return the values that are no SCRAM credentials. Raises InvalidZnode with the path."""
        return {
            name: _number(name, value, path)
            for name, value in self.config.items()
            if name not in MECHANISMS.values()
        }

    def scram_credentials(self, path: str) -> Iterator[tuple[int, ScramText]]:
        """Yield mechanism (1 for SHA-256, 2 for SHA-512) and credential. Raises InvalidZnode."""
        for mechanism, name in MECHANISMS.items():
            if name in self.config:
                yield mechanism, ScramText.parse(self.config[name], path)


def _number(name: str, value: str, path: str) -> float:
    if not _DOUBLE.fullmatch(value.strip()):
        raise InvalidZnode(path, f"quota {name} is no number")
    return float(value.strip().rstrip("fFdD"))


@dataclass(frozen=True, slots=True)
class ConfigChangeZnode:
    """A notice that a config changed; brokers in ZooKeeper mode act on these only.

    entity_path: below /config, as `users/al%20ice`.
    """

    path_prefix: ClassVar[str] = "/config/changes/config_change_"

    entity_path: str

    @classmethod
    def parse(cls, data: bytes, path: str) -> ConfigChangeZnode:
        """Read version 2, or version 1, which has type and name apart. Raises InvalidZnode."""
        fields = JsonObject.parse(data, path)
        version = fields.integer("version")
        if version == 1:
            return cls(f"{fields.text('entity_type')}/{fields.text('entity_name')}")
        if version != 2:
            fields.fail("version", f"{version} is unknown")
        return cls(fields.text("entity_path"))

    def encode(self) -> bytes:
        """Return version 2."""
        return json_bytes({"version": 2, "entity_path": self.entity_path})
