"""The keys of topics (Java: LogConfig).

Generated from Kafka 4.3.1 by `python -m config_keys`; do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping

from kwire.configs.keys import ConfigKey, Synonym, table
from kwire.configs.validators import GzipLevel, Range, ThrottledReplicas, ValidList, ValidString
from kwire.messages.config_resource import ConfigType

KEYS: Mapping[str, ConfigKey] = table(
    (
        ConfigKey(
            name="segment.bytes",
            type=ConfigType.INT,
            default="1073741824",
            validator=Range(1048576),
            synonyms=(Synonym("log.segment.bytes"),),
        ),
        ConfigKey(
            name="segment.ms",
            type=ConfigType.LONG,
            default="604800000",
            validator=Range(1),
            synonyms=(
                Synonym("log.roll.ms"),
                Synonym("log.roll.hours", 3600000),
            ),
        ),
        ConfigKey(
            name="segment.jitter.ms",
            type=ConfigType.LONG,
            default="0",
            validator=Range(0),
            synonyms=(
                Synonym("log.roll.jitter.ms"),
                Synonym("log.roll.jitter.hours", 3600000),
            ),
        ),
        ConfigKey(
            name="segment.index.bytes",
            type=ConfigType.INT,
            default="10485760",
            validator=Range(4),
            synonyms=(Synonym("log.index.size.max.bytes"),),
        ),
        ConfigKey(
            name="flush.messages",
            type=ConfigType.LONG,
            default="9223372036854775807",
            validator=Range(1),
            synonyms=(Synonym("log.flush.interval.messages"),),
        ),
        ConfigKey(
            name="flush.ms",
            type=ConfigType.LONG,
            default="9223372036854775807",
            validator=Range(0),
            synonyms=(
                Synonym("log.flush.interval.ms"),
                Synonym("log.flush.scheduler.interval.ms"),
            ),
        ),
        ConfigKey(
            name="retention.bytes",
            type=ConfigType.LONG,
            default="-1",
            synonyms=(Synonym("log.retention.bytes"),),
        ),
        ConfigKey(
            name="retention.ms",
            type=ConfigType.LONG,
            default="604800000",
            validator=Range(-1),
            synonyms=(
                Synonym("log.retention.ms"),
                Synonym("log.retention.minutes", 60000),
                Synonym("log.retention.hours", 3600000),
            ),
        ),
        ConfigKey(
            name="max.message.bytes",
            type=ConfigType.INT,
            default="1048588",
            validator=Range(0),
            synonyms=(Synonym("message.max.bytes"),),
        ),
        ConfigKey(
            name="index.interval.bytes",
            type=ConfigType.INT,
            default="4096",
            validator=Range(0),
            synonyms=(Synonym("log.index.interval.bytes"),),
        ),
        ConfigKey(
            name="delete.retention.ms",
            type=ConfigType.LONG,
            default="86400000",
            validator=Range(0),
            synonyms=(Synonym("log.cleaner.delete.retention.ms"),),
        ),
        ConfigKey(
            name="min.compaction.lag.ms",
            type=ConfigType.LONG,
            default="0",
            validator=Range(0),
            synonyms=(Synonym("log.cleaner.min.compaction.lag.ms"),),
        ),
        ConfigKey(
            name="max.compaction.lag.ms",
            type=ConfigType.LONG,
            default="9223372036854775807",
            validator=Range(1),
            synonyms=(Synonym("log.cleaner.max.compaction.lag.ms"),),
        ),
        ConfigKey(
            name="file.delete.delay.ms",
            type=ConfigType.LONG,
            default="60000",
            validator=Range(0),
            synonyms=(Synonym("log.segment.delete.delay.ms"),),
        ),
        ConfigKey(
            name="min.cleanable.dirty.ratio",
            type=ConfigType.DOUBLE,
            default="0.5",
            validator=Range(0, 1),
            synonyms=(Synonym("log.cleaner.min.cleanable.ratio"),),
        ),
        ConfigKey(
            name="cleanup.policy",
            type=ConfigType.LIST,
            default="delete",
            validator=ValidList(("compact", "delete"), empty_allowed=True, null_allowed=False),
            synonyms=(Synonym("log.cleanup.policy"),),
        ),
        ConfigKey(
            name="unclean.leader.election.enable",
            type=ConfigType.BOOLEAN,
            default="false",
            synonyms=(Synonym("unclean.leader.election.enable"),),
        ),
        ConfigKey(
            name="min.insync.replicas",
            type=ConfigType.INT,
            default="1",
            validator=Range(1),
            synonyms=(Synonym("min.insync.replicas"),),
        ),
        ConfigKey(
            name="compression.type",
            type=ConfigType.STRING,
            default="producer",
            validator=ValidString(("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")),
            synonyms=(Synonym("compression.type"),),
        ),
        ConfigKey(
            name="compression.gzip.level",
            type=ConfigType.INT,
            default="-1",
            validator=GzipLevel(),
            synonyms=(Synonym("compression.gzip.level"),),
        ),
        ConfigKey(
            name="compression.lz4.level",
            type=ConfigType.INT,
            default="9",
            validator=Range(1, 17),
            synonyms=(Synonym("compression.lz4.level"),),
        ),
        ConfigKey(
            name="compression.zstd.level",
            type=ConfigType.INT,
            default="3",
            validator=Range(-131072, 22),
            synonyms=(Synonym("compression.zstd.level"),),
        ),
        ConfigKey(
            name="preallocate",
            type=ConfigType.BOOLEAN,
            default="false",
            synonyms=(Synonym("log.preallocate"),),
        ),
        ConfigKey(
            name="message.timestamp.type",
            type=ConfigType.STRING,
            default="CreateTime",
            validator=ValidString(("CreateTime", "LogAppendTime")),
            synonyms=(Synonym("log.message.timestamp.type"),),
        ),
        ConfigKey(
            name="message.timestamp.before.max.ms",
            type=ConfigType.LONG,
            default="9223372036854775807",
            validator=Range(0),
            synonyms=(Synonym("log.message.timestamp.before.max.ms"),),
        ),
        ConfigKey(
            name="message.timestamp.after.max.ms",
            type=ConfigType.LONG,
            default="3600000",
            validator=Range(0),
            synonyms=(Synonym("log.message.timestamp.after.max.ms"),),
        ),
        ConfigKey(
            name="leader.replication.throttled.replicas",
            type=ConfigType.LIST,
            default="",
            validator=ThrottledReplicas(),
        ),
        ConfigKey(
            name="follower.replication.throttled.replicas",
            type=ConfigType.LIST,
            default="",
            validator=ThrottledReplicas(),
        ),
        ConfigKey(name="remote.storage.enable", type=ConfigType.BOOLEAN, default="false"),
        ConfigKey(
            name="local.retention.ms",
            type=ConfigType.LONG,
            default="-2",
            validator=Range(-2),
            synonyms=(Synonym("log.local.retention.ms"),),
        ),
        ConfigKey(
            name="local.retention.bytes",
            type=ConfigType.LONG,
            default="-2",
            validator=Range(-2),
            synonyms=(Synonym("log.local.retention.bytes"),),
        ),
        ConfigKey(name="remote.log.copy.disable", type=ConfigType.BOOLEAN, default="false"),
        ConfigKey(name="remote.log.delete.on.disable", type=ConfigType.BOOLEAN, default="false"),
        ConfigKey(name="internal.segment.bytes", type=ConfigType.INT, internal=True),
    )
)
