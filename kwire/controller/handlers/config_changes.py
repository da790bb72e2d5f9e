"""Changes of a resource's keys, and the checks of each (KIP-339; Java:
ConfigurationControlManager)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.engine import STRING_LIMIT
from kwire.configs import node_keys, topic_keys
from kwire.configs.keys import ConfigKey
from kwire.configs.topic_configs import MIN_INSYNC_REPLICAS
from kwire.configs.values import java_split, java_trim
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.image.features import FeaturesImage
from kwire.messages.a44_incremental_alter_configs import AlterableConfig
from kwire.messages.config_resource import ConfigResource, ConfigType, ResourceType
from kwire.messages.metadata_versions import MetadataVersion
from kwire.messages.records.clear_elr import ClearElrRecord
from kwire.messages.records.config import ConfigRecord

SET, DELETE, APPEND, SUBTRACT = range(4)

CORDONED = "cordoned.log.dirs"


def changed_value(
    config: AlterableConfig, resource: ConfigResource, current: str | None
) -> str | None:
    """Return the value that a key gets; None if it is deleted, as by SET to null.

    Words are appended to lists of topics and nodes only, as in Kafka. Raises ApiError with
    INVALID_REQUEST or INVALID_CONFIG.
    """
    operation = config.config_operation
    if operation == DELETE:
        return None
    if operation not in (SET, APPEND, SUBTRACT):
        raise ApiError(ErrorCode.INVALID_REQUEST, f"{operation} is not an operation on a key.")
    if operation == SET:
        return config.value
    key = _key(resource, config.name)
    if key is None or key.type is not ConfigType.LIST:
        word = "APPEND" if operation == APPEND else "SUBTRACT"
        text = f"Can't {word} to key {config.name} because its type is not LIST."
        raise ApiError(ErrorCode.INVALID_CONFIG, text)
    if config.value is None:
        raise ApiError(ErrorCode.INVALID_REQUEST, f"{config.name} needs a value that is not null.")
    return _words(key.default if current is None else current, config.value, operation)


def _key(resource: ConfigResource, name: str) -> ConfigKey | None:
    if resource.type == ResourceType.TOPIC:
        return topic_keys.KEYS.get(name)
    return node_keys.KEYS.get(name) if resource.type == ResourceType.BROKER else None


def _words(current: str | None, change: str, operation: int) -> str:
    words = [word for word in (current or "").split(",") if word]
    for word in java_split(change, ","):
        if operation == APPEND and word not in words:
            words.append(word)
        elif operation == SUBTRACT and word in words:
            words.remove(word)
    return ",".join(words)


def check_change(
    resource: ConfigResource,
    name: str,
    value: str | None,
    current: str | None,
    version: MetadataVersion,
    *,
    forwarded: bool,
    elr_enabled: bool = False,
) -> None:
    """Check one key that changes (ConfigurationControlManager.validateAlterConfig).

    1. min.insync.replicas while there are eligible leader replicas: of one broker, or removed from
       all of them: INVALID_CONFIG. ELRs are counted by one value for all brokers (KIP-966).
    2. cordoned.log.dirs of nodes before 4.3-IV0: INVALID_CONFIG.
    3. More of them than there are, unless the broker itself forwards it: INVALID_CONFIG.
    4. A value of more than 32767 bytes, which no record holds: INVALID_CONFIG. Java counts
       characters, and fails when it writes the record.
    """
    # 1.
    if name == MIN_INSYNC_REPLICAS and resource.type == ResourceType.BROKER and elr_enabled:
        _check_min_insync_replicas(resource, value)
    # 2., 3.
    if name == CORDONED and resource.type == ResourceType.BROKER:
        _check_cordoned(value, current, version, forwarded=forwarded)
    # 4.
    if value is not None and len(value.encode()) > STRING_LIMIT:
        text = (
            "The configuration value cannot be added because it exceeds the maximum value size of"
            f" {STRING_LIMIT} bytes."
        )
        raise ApiError(ErrorCode.INVALID_CONFIG, text)


def _check_min_insync_replicas(resource: ConfigResource, value: str | None) -> None:
    if resource.name:
        text = f"Broker-level {MIN_INSYNC_REPLICAS} cannot be altered while ELR is enabled."
        raise ApiError(ErrorCode.INVALID_CONFIG, text)
    if value is None:
        text = f"Cluster-level {MIN_INSYNC_REPLICAS} cannot be removed while ELR is enabled."
        raise ApiError(ErrorCode.INVALID_CONFIG, text)


def cleared_elrs(changes: Iterable[ConfigRecord], features: FeaturesImage) -> list[VersionedRecord]:
    """Return the records that follow changes of configurations (createClearElrRecordsAsNeeded).

    Another min.insync.replicas makes ELRs wrong that were counted by the one before: those of the
    topic are cleared, or those of all topics if it is a setting of brokers.
    """
    if not features.elr_enabled:
        return []
    return [
        VersionedRecord(
            record=ClearElrRecord(
                topic_name=change.resource_name if change.resource_type == TOPIC else ""
            ),
            version=0,
        )
        for change in changes
        if change.name == MIN_INSYNC_REPLICAS
    ]


TOPIC = ResourceType.TOPIC


def _check_cordoned(
    value: str | None, current: str | None, version: MetadataVersion, *, forwarded: bool
) -> None:
    # 2.
    if not version.supports_cordoned_log_dirs:
        text = (
            f"The {CORDONED} configuration value cannot be set because it requires"
            " metadata.version >= 4.3-IV0"
        )
        raise ApiError(ErrorCode.INVALID_CONFIG, text)
    # 3.
    if forwarded or not java_trim(value or ""):
        return
    present = set() if current is None else set(_elements(current))
    if not present.issuperset(_elements(value or "")):
        text = (
            f"When updating {CORDONED} via controllers,  the new value must be a subset of the"
            " current configuration value."
        )
        raise ApiError(ErrorCode.INVALID_CONFIG, text)


def _elements(text: str) -> list[str]:
    return re.split(r"[ \t\n\v\f\r]*,[ \t\n\v\f\r]*", java_trim(text))
