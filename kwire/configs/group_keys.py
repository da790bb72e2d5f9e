"""The keys of groups (Java: GroupConfig).

Generated from Kafka 4.3.1 by `python -m config_keys`; do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping

from kwire.configs.keys import ConfigKey, Synonym, table
from kwire.configs.validators import Range, ShareOffsetReset, ValidString
from kwire.messages.config_resource import ConfigType

KEYS: Mapping[str, ConfigKey] = table(
    (
        ConfigKey(
            name="consumer.session.timeout.ms",
            type=ConfigType.INT,
            default="45000",
            validator=Range(1),
            synonyms=(Synonym("group.consumer.session.timeout.ms"),),
        ),
        ConfigKey(
            name="consumer.heartbeat.interval.ms",
            type=ConfigType.INT,
            default="5000",
            validator=Range(1),
            synonyms=(Synonym("group.consumer.heartbeat.interval.ms"),),
        ),
        ConfigKey(
            name="consumer.assignment.interval.ms",
            type=ConfigType.INT,
            default="1000",
            validator=Range(0),
            synonyms=(Synonym("group.consumer.assignment.interval.ms"),),
        ),
        ConfigKey(
            name="share.session.timeout.ms",
            type=ConfigType.INT,
            default="45000",
            validator=Range(1),
            synonyms=(Synonym("group.share.session.timeout.ms"),),
        ),
        ConfigKey(
            name="share.heartbeat.interval.ms",
            type=ConfigType.INT,
            default="5000",
            validator=Range(1),
            synonyms=(Synonym("group.share.heartbeat.interval.ms"),),
        ),
        ConfigKey(
            name="share.record.lock.duration.ms",
            type=ConfigType.INT,
            default="30000",
            validator=Range(1000),
            synonyms=(Synonym("group.share.record.lock.duration.ms"),),
        ),
        ConfigKey(
            name="share.delivery.count.limit",
            type=ConfigType.INT,
            default="5",
            validator=Range(2),
            synonyms=(Synonym("group.share.delivery.count.limit"),),
        ),
        ConfigKey(
            name="share.partition.max.record.locks",
            type=ConfigType.INT,
            default="2000",
            validator=Range(100),
            synonyms=(Synonym("group.share.partition.max.record.locks"),),
        ),
        ConfigKey(
            name="share.auto.offset.reset",
            type=ConfigType.STRING,
            default="latest",
            validator=ShareOffsetReset(),
        ),
        ConfigKey(
            name="share.isolation.level",
            type=ConfigType.STRING,
            default="read_uncommitted",
            validator=ValidString(("read_committed", "read_uncommitted")),
        ),
        ConfigKey(name="share.renew.acknowledge.enable", type=ConfigType.BOOLEAN, default="true"),
        ConfigKey(
            name="share.assignment.interval.ms",
            type=ConfigType.INT,
            default="1000",
            validator=Range(0),
            synonyms=(Synonym("group.share.assignment.interval.ms"),),
        ),
        ConfigKey(
            name="streams.session.timeout.ms",
            type=ConfigType.INT,
            default="45000",
            validator=Range(1),
            synonyms=(Synonym("group.streams.session.timeout.ms"),),
        ),
        ConfigKey(
            name="streams.heartbeat.interval.ms",
            type=ConfigType.INT,
            default="5000",
            validator=Range(1),
            synonyms=(Synonym("group.streams.heartbeat.interval.ms"),),
        ),
        ConfigKey(
            name="streams.num.standby.replicas",
            type=ConfigType.INT,
            default="0",
            validator=Range(0),
            synonyms=(Synonym("group.streams.num.standby.replicas"),),
        ),
        ConfigKey(
            name="streams.initial.rebalance.delay.ms",
            type=ConfigType.INT,
            default="3000",
            validator=Range(0),
            synonyms=(Synonym("group.streams.initial.rebalance.delay.ms"),),
        ),
        ConfigKey(
            name="streams.assignment.interval.ms",
            type=ConfigType.INT,
            default="1000",
            validator=Range(0),
            synonyms=(Synonym("group.streams.assignment.interval.ms"),),
        ),
    )
)
