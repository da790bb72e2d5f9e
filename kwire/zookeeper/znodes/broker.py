"""/brokers/ids/N (kafka.zk.BrokerIdZNode): a broker that runs in ZooKeeper mode, ephemeral."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from kwire.net.security import PROTOCOLS
from kwire.zookeeper.errors import InvalidZnode
from kwire.zookeeper.znodes.json_object import JsonObject
from kwire.zookeeper.znodes.json_text import JsonValue, json_bytes

_ENDPOINT = re.compile(r"([^:/]+)://(\[[0-9a-zA-Z%:.]*\]|[^:]*):(-?[0-9]{1,10})")

_PROTOCOLS = {name: name for name in PROTOCOLS}
"""The security protocols of listeners before version 4, which are named after them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerEndpoint:
    """A listener of a broker."""

    listener: str
    host: str
    port: int
    security_protocol: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerZnode:
    """A broker's registration. features: name to lowest and highest supported version."""

    parent: ClassVar[str] = "/brokers/ids"

    version: int = 5
    endpoints: tuple[BrokerEndpoint, ...]
    rack: str | None = None
    features: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    jmx_port: int = -1
    timestamp_ms: int = 0

    @staticmethod
    def path(broker_id: int) -> str:
        """Return the path of a broker."""
        return f"/brokers/ids/{broker_id}"

    @classmethod
    def parse(cls, data: bytes, path: str) -> BrokerZnode:
        """Read version 1 to 5, and later ones as 5. Raises InvalidZnode."""
        fields = JsonObject.parse(data, path)
        version = fields.integer("version")
        if version < 1:
            fields.fail("version", f"{version} is unknown")
        return cls(
            version=version,
            endpoints=_endpoint_of_version_1(fields) if version == 1 else _endpoints(fields),
            rack=fields.optional_text("rack"),
            features=_features(fields),
            jmx_port=fields.integer("jmx_port"),
            timestamp_ms=_timestamp(fields),
        )

    def encode(self) -> bytes:
        """Return the version that this is of."""
        first = next((end for end in self.endpoints if end.security_protocol == "PLAINTEXT"), None)
        fields: dict[str, JsonValue] = {
            "version": self.version,
            "host": first.host if first else None,
            "port": first.port if first else -1,
            "endpoints": [f"{end.listener}://{_bracketed(end)}" for end in self.endpoints],
            "jmx_port": self.jmx_port,
            "timestamp": str(self.timestamp_ms),
        }
        if self.rack is not None and self.version >= 3:
            fields["rack"] = self.rack
        if self.version >= 4:
            protocols = {end.listener: end.security_protocol for end in self.endpoints}
            fields["listener_security_protocol_map"] = protocols
        if self.version >= 5:
            fields["features"] = {
                name: {"min_version": lowest, "max_version": highest}
                for name, (lowest, highest) in self.features.items()
            }
        return json_bytes(fields)


def _bracketed(endpoint: BrokerEndpoint) -> str:
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    return f"{host}:{endpoint.port}"


def _endpoint_of_version_1(fields: JsonObject) -> tuple[BrokerEndpoint, ...]:
    return (
        BrokerEndpoint(
            listener="PLAINTEXT",
            host=fields.text("host"),
            port=fields.integer("port"),
            security_protocol="PLAINTEXT",
        ),
    )


def _endpoints(fields: JsonObject) -> tuple[BrokerEndpoint, ...]:
    name = "listener_security_protocol_map"
    protocols = _PROTOCOLS
    if name in fields:
        texts = fields.object(name)
        protocols = {listener: _protocol(texts, listener) for listener in texts}
    # Kafka joins them by commas and parses the list, in which an empty entry is none.
    return tuple(_endpoint(fields, text, protocols) for text in fields.texts("endpoints") if text)


def _protocol(fields: JsonObject, listener: str) -> str:
    protocol = fields.text(listener).upper()
    if protocol not in _PROTOCOLS:
        fields.fail(listener, f"{protocol!r} is no security protocol")
    return protocol


def _endpoint(fields: JsonObject, text: str, protocols: Mapping[str, str]) -> BrokerEndpoint:
    parts = _ENDPOINT.fullmatch(text)
    if not parts:
        fields.fail("endpoints", "expected LISTENER://host:port")
    listener = parts[1].upper()
    if listener not in protocols:
        fields.fail("endpoints", f"listener {listener} has no security protocol")
    return BrokerEndpoint(
        listener=listener,
        host=parts[2].strip("[]"),
        port=int(parts[3]),
        security_protocol=protocols[listener],
    )


def _features(fields: JsonObject) -> dict[str, tuple[int, int]]:
    found = fields.object_or_empty("features", null_is_empty=True)
    return {name: _range(found.object(name)) for name in found}


def _range(fields: JsonObject) -> tuple[int, int]:
    # Version 5 of Kafka 2.6 had first_active_version too; like other fields it is not read.
    lowest, highest = fields.integer("min_version"), fields.integer("max_version")
    if not 0 <= lowest <= highest < 1 << 15:
        fields.fail("max_version", "expected two versions from 0 on, the lower one first")
    return lowest, highest


def _timestamp(fields: JsonObject) -> int:
    # Kafka does not read it, so nothing about it is an error.
    try:
        return fields.number_as_text("timestamp")
    except InvalidZnode:
        return 0
