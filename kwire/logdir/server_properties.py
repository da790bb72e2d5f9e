"""Reads the storage settings of a node from server.properties and ignores all others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kwire.errors import InvalidValue
from kwire.text.untrusted import whole_number

DEFAULT_LOG_DIR = "/tmp/kafka-logs"


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageProperties:
    """The values of one node that formatting and opening its directories need.

    static_voters: whether controller.quorum.voters names the voters, as before KIP-853.
    controller_endpoint: host and port of the first controller listener, as others reach it.
    release: inter.broker.protocol.version of a node that migrates from ZooKeeper (KIP-866), else
    empty: Kafka 3.9 formats for it, Kafka 4 knows it no more.
    """

    node_id: int
    roles: frozenset[str]
    log_dirs: tuple[Path, ...]
    metadata_log_dir: Path
    static_voters: bool
    controller_listener: str
    controller_endpoint: tuple[str, int] | None
    unstable_features: bool = False
    release: str = ""

    @property
    def is_controller(self) -> bool:
        """True if `controller` is one of process.roles."""
        return "controller" in self.roles

    @property
    def directories(self) -> tuple[Path, ...]:
        """All directories, the metadata's included, sorted."""
        return tuple(sorted({*self.log_dirs, self.metadata_log_dir}))


def storage_properties(pairs: Mapping[str, str]) -> StorageProperties:
    """Take the values; raise InvalidValue if one is missing or makes no sense."""
    roles = frozenset(_listed(pairs.get("process.roles", "")))
    if not roles or roles - {"broker", "controller"}:
        raise InvalidValue("process.roles must be broker, controller or both")
    log_dirs = _log_dirs(pairs)
    listeners = _listed(pairs.get("controller.listener.names", ""))
    if not listeners:
        raise InvalidValue("controller.listener.names must name a listener")
    return StorageProperties(
        node_id=_node_id(pairs),
        roles=roles,
        log_dirs=tuple(map(Path, log_dirs)),
        metadata_log_dir=Path(pairs.get("metadata.log.dir") or log_dirs[0]),
        static_voters=bool(_listed(pairs.get("controller.quorum.voters", ""))),
        controller_listener=listeners[0],
        controller_endpoint=_endpoint(pairs, listeners[0]),
        release=pairs.get("inter.broker.protocol.version", "").strip() if _migrates(pairs) else "",
        unstable_features=pairs.get("unstable.feature.versions.enable", "").lower() == "true",
    )


@dataclass(frozen=True, slots=True)
class NodeDirectories:
    """The directories of a node in either mode, sorted.

    requires_version_0: True for a broker in ZooKeeper mode that is not in a migration.
    """

    paths: tuple[Path, ...]
    requires_version_0: bool


def node_directories(pairs: Mapping[str, str]) -> NodeDirectories:
    """Return the directories that a server.properties names, also that of a ZooKeeper-mode broker.

    Raises InvalidValue if a value is missing or makes no sense.
    """
    if pairs.get("process.roles") or "zookeeper.connect" not in pairs:
        return NodeDirectories(storage_properties(pairs).directories, False)
    migrates = _migrates(pairs)
    folders = set(_log_dirs(pairs))
    if migrates and (metadata := pairs.get("metadata.log.dir")):
        folders.add(metadata)
    return NodeDirectories(tuple(sorted(map(Path, folders))), not migrates)


def _migrates(pairs: Mapping[str, str]) -> bool:
    return pairs.get("zookeeper.metadata.migration.enable", "").strip().lower() == "true"


def _log_dirs(pairs: Mapping[str, str]) -> list[str]:
    log_dirs = _listed(pairs.get("log.dirs") or pairs.get("log.dir", DEFAULT_LOG_DIR))
    if not log_dirs:
        raise InvalidValue("log.dirs names no directory")
    return log_dirs


def _listed(text: str) -> list[str]:
    return [stripped for part in text.split(",") if (stripped := part.strip())]


def _node_id(pairs: Mapping[str, str]) -> int:
    text = pairs.get("node.id", pairs.get("broker.id", ""))
    node_id = whole_number(text, bits=31)
    if node_id is None:
        raise InvalidValue(f"node.id is {text!r}: it must be a number from 0 on")
    return node_id


def _endpoint(pairs: Mapping[str, str], listener: str) -> tuple[str, int] | None:
    for name in ("advertised.listeners", "listeners"):
        for entry in _listed(pairs.get(name, "")):
            kind, _, address = entry.partition("://")
            host, _, digits = address.rpartition(":")
            if kind.upper() == listener.upper():
                port = whole_number(digits, bits=16)
                if port is None:
                    raise InvalidValue(f"{name}: {entry} has no port")
                return host.strip("[]") or "localhost", port
    return None
