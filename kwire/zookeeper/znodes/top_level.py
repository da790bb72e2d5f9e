"""Paths that Kafka 3.9 makes at its start, and those of znodes without content (ZkData.scala)."""

from __future__ import annotations

from kwire.zookeeper.paths import parent_of
from kwire.zookeeper.znodes.config import ConfigEntityType

DELETE_TOPICS = "/admin/delete_topics"

PERSISTENT_PATHS = (
    "/consumers",
    "/brokers/ids",
    "/brokers/topics",
    "/config/changes",
    DELETE_TOPICS,
    "/brokers/seqid",
    "/isr_change_notification",
    "/latest_producer_id_block",
    "/log_dir_event_notification",
    *(type.path for type in ConfigEntityType),
)
"""Made by brokers and by KRaft controllers that migrate (KafkaZkClient.createTopLevelPaths)."""

SENSITIVE_PATHS = ("/config/users", "/config/brokers", "/delegation_token/tokens")
"""Everything below is readable only by those who wrote it, if zookeeper.set.acl is true."""


def pending_deletion_path(topic: str) -> str:
    """Return the path of the znode that asks a controller to delete a topic; it is empty."""
    return f"{DELETE_TOPICS}/{topic}"


def is_sensitive(path: str) -> bool:
    """True if a path may hold secrets (ZkData.sensitivePath)."""
    return path.startswith(SENSITIVE_PATHS)


def is_open(path: str) -> bool:
    """True for the path below which consumers of old write, which is never restricted."""
    return path == "/consumers"


def with_parents(path: str) -> list[str]:
    """Return a path after all paths above it, without the root: to create one after the other."""
    paths: list[str] = []
    while path != "/":
        paths.append(path)
        path = parent_of(path)
    return paths[::-1]
