"""The keys of nodes, types and defaults (Java: KafkaConfig).

Generated from Kafka 4.3.1 by `python -m config_keys`; do not edit.
"""

from __future__ import annotations

from collections.abc import Mapping

from kwire.controller.configs.keys import ConfigKey, Dynamic, table
from kwire.messages.config_resource import ConfigType

KEYS: Mapping[str, ConfigKey] = table(
    (
        ConfigKey(
            name="remote.log.storage.system.enable", type=ConfigType.BOOLEAN, default="false"
        ),
        ConfigKey(
            name="remote.log.storage.manager.impl.prefix",
            type=ConfigType.STRING,
            default="rsm.config.",
        ),
        ConfigKey(
            name="remote.log.metadata.manager.impl.prefix",
            type=ConfigType.STRING,
            default="rlmm.config.",
        ),
        ConfigKey(name="remote.log.storage.manager.class.name", type=ConfigType.STRING),
        ConfigKey(name="remote.log.storage.manager.class.path", type=ConfigType.STRING),
        ConfigKey(
            name="remote.log.metadata.manager.class.name",
            type=ConfigType.STRING,
            default="org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager",
        ),
        ConfigKey(name="remote.log.metadata.manager.class.path", type=ConfigType.STRING),
        ConfigKey(name="remote.log.metadata.manager.listener.name", type=ConfigType.STRING),
        ConfigKey(
            name="remote.log.metadata.custom.metadata.max.bytes", type=ConfigType.INT, default="128"
        ),
        ConfigKey(
            name="remote.log.index.file.cache.total.size.bytes",
            type=ConfigType.LONG,
            default="1073741824",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="remote.log.index.file.cache.ttl.ms",
            type=ConfigType.LONG,
            default="900000",
            internal=True,
        ),
        ConfigKey(name="remote.log.manager.thread.pool.size", type=ConfigType.INT, default="2"),
        ConfigKey(
            name="remote.log.manager.copier.thread.pool.size",
            type=ConfigType.INT,
            default="10",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="remote.log.manager.expiration.thread.pool.size",
            type=ConfigType.INT,
            default="10",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="remote.log.manager.follower.thread.pool.size",
            type=ConfigType.INT,
            default="2",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="remote.log.manager.task.interval.ms", type=ConfigType.LONG, default="30000"
        ),
        ConfigKey(
            name="remote.log.manager.task.retry.backoff.ms",
            type=ConfigType.LONG,
            default="500",
            internal=True,
        ),
        ConfigKey(
            name="remote.log.manager.task.retry.backoff.max.ms",
            type=ConfigType.LONG,
            default="30000",
            internal=True,
        ),
        ConfigKey(
            name="remote.log.manager.task.retry.jitter",
            type=ConfigType.DOUBLE,
            default="0.2",
            internal=True,
        ),
        ConfigKey(
            name="remote.log.reader.threads",
            type=ConfigType.INT,
            default="10",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(name="remote.log.reader.max.pending.tasks", type=ConfigType.INT, default="100"),
        ConfigKey(
            name="log.local.retention.ms",
            type=ConfigType.LONG,
            default="-2",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="log.local.retention.bytes",
            type=ConfigType.LONG,
            default="-2",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="remote.log.manager.copy.max.bytes.per.second",
            type=ConfigType.LONG,
            default="9223372036854775807",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="remote.log.manager.copy.quota.window.num", type=ConfigType.INT, default="11"
        ),
        ConfigKey(
            name="remote.log.manager.copy.quota.window.size.seconds",
            type=ConfigType.INT,
            default="1",
        ),
        ConfigKey(
            name="remote.log.manager.fetch.max.bytes.per.second",
            type=ConfigType.LONG,
            default="9223372036854775807",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="remote.log.manager.fetch.quota.window.num", type=ConfigType.INT, default="11"
        ),
        ConfigKey(
            name="remote.log.manager.fetch.quota.window.size.seconds",
            type=ConfigType.INT,
            default="1",
        ),
        ConfigKey(
            name="remote.fetch.max.wait.ms",
            type=ConfigType.INT,
            default="500",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="remote.list.offsets.request.timeout.ms",
            type=ConfigType.LONG,
            default="30000",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(name="broker.id", type=ConfigType.INT, default="-1"),
        ConfigKey(
            name="message.max.bytes",
            type=ConfigType.INT,
            default="1048588",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="num.io.threads", type=ConfigType.INT, default="8", dynamic=Dynamic.CLUSTER_WIDE
        ),
        ConfigKey(name="num.replica.alter.log.dirs.threads", type=ConfigType.INT),
        ConfigKey(
            name="background.threads",
            type=ConfigType.INT,
            default="10",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(name="request.timeout.ms", type=ConfigType.INT, default="30000"),
        ConfigKey(name="socket.connection.setup.timeout.ms", type=ConfigType.LONG, default="10000"),
        ConfigKey(
            name="socket.connection.setup.timeout.max.ms", type=ConfigType.LONG, default="30000"
        ),
        ConfigKey(
            name="config.providers", type=ConfigType.LIST, default="", dynamic=Dynamic.CLUSTER_WIDE
        ),
        ConfigKey(name="authorizer.class.name", type=ConfigType.STRING, default=""),
        ConfigKey(name="early.start.listeners", type=ConfigType.LIST),
        ConfigKey(name="broker.rack", type=ConfigType.STRING),
        ConfigKey(name="controlled.shutdown.enable", type=ConfigType.BOOLEAN, default="true"),
        ConfigKey(name="delete.topic.enable", type=ConfigType.BOOLEAN, default="true"),
        ConfigKey(
            name="compression.type",
            type=ConfigType.STRING,
            default="producer",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="compression.gzip.level",
            type=ConfigType.INT,
            default="-1",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="compression.lz4.level",
            type=ConfigType.INT,
            default="9",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="compression.zstd.level",
            type=ConfigType.INT,
            default="3",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="max.incremental.fetch.session.cache.slots", type=ConfigType.INT, default="1000"
        ),
        ConfigKey(name="fetch.max.bytes", type=ConfigType.INT, default="57671680"),
        ConfigKey(name="max.request.partition.size.limit", type=ConfigType.INT, default="2000"),
        ConfigKey(
            name="unstable.api.versions.enable",
            type=ConfigType.BOOLEAN,
            default="false",
            internal=True,
        ),
        ConfigKey(
            name="unstable.feature.versions.enable",
            type=ConfigType.BOOLEAN,
            default="false",
            internal=True,
        ),
        ConfigKey(name="process.roles", type=ConfigType.LIST),
        ConfigKey(name="node.id", type=ConfigType.INT),
        ConfigKey(
            name="initial.broker.registration.timeout.ms", type=ConfigType.INT, default="60000"
        ),
        ConfigKey(name="broker.heartbeat.interval.ms", type=ConfigType.INT, default="2000"),
        ConfigKey(name="broker.session.timeout.ms", type=ConfigType.INT, default="9000"),
        ConfigKey(name="controller.listener.names", type=ConfigType.LIST),
        ConfigKey(
            name="sasl.mechanism.controller.protocol", type=ConfigType.STRING, default="GSSAPI"
        ),
        ConfigKey(
            name="controller.performance.sample.period.ms",
            type=ConfigType.LONG,
            default="60000",
            internal=True,
        ),
        ConfigKey(
            name="controller.performance.always.log.threshold.ms",
            type=ConfigType.LONG,
            default="2000",
            internal=True,
        ),
        ConfigKey(
            name="server.max.startup.time.ms",
            type=ConfigType.LONG,
            default="9223372036854775807",
            internal=True,
        ),
        ConfigKey(
            name="metadata.log.max.record.bytes.between.snapshots",
            type=ConfigType.LONG,
            default="20971520",
        ),
        ConfigKey(
            name="metadata.log.max.snapshot.interval.ms", type=ConfigType.LONG, default="3600000"
        ),
        ConfigKey(name="metadata.log.dir", type=ConfigType.STRING),
        ConfigKey(name="metadata.log.segment.bytes", type=ConfigType.INT, default="1073741824"),
        ConfigKey(name="metadata.log.segment.ms", type=ConfigType.LONG, default="604800000"),
        ConfigKey(name="metadata.max.retention.bytes", type=ConfigType.LONG, default="104857600"),
        ConfigKey(name="metadata.max.retention.ms", type=ConfigType.LONG, default="604800000"),
        ConfigKey(name="metadata.max.idle.interval.ms", type=ConfigType.INT, default="500"),
        ConfigKey(name="internal.metadata.log.segment.bytes", type=ConfigType.INT, internal=True),
        ConfigKey(
            name="internal.metadata.max.batch.size.in.bytes",
            type=ConfigType.INT,
            default="8388608",
            internal=True,
        ),
        ConfigKey(
            name="internal.metadata.delete.delay.millis",
            type=ConfigType.LONG,
            default="60000",
            internal=True,
        ),
        ConfigKey(
            name="listeners",
            type=ConfigType.LIST,
            default="PLAINTEXT://:9092",
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(name="advertised.listeners", type=ConfigType.LIST),
        ConfigKey(
            name="listener.security.protocol.map",
            type=ConfigType.STRING,
            default="SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(name="socket.send.buffer.bytes", type=ConfigType.INT, default="102400"),
        ConfigKey(name="socket.receive.buffer.bytes", type=ConfigType.INT, default="102400"),
        ConfigKey(name="socket.request.max.bytes", type=ConfigType.INT, default="104857600"),
        ConfigKey(name="socket.listen.backlog.size", type=ConfigType.INT, default="50"),
        ConfigKey(
            name="max.connections.per.ip",
            type=ConfigType.INT,
            default="2147483647",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="max.connections.per.ip.overrides",
            type=ConfigType.STRING,
            default="",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="max.connections",
            type=ConfigType.INT,
            default="2147483647",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="max.connection.creation.rate",
            type=ConfigType.INT,
            default="2147483647",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(name="connections.max.idle.ms", type=ConfigType.LONG, default="600000"),
        ConfigKey(
            name="connection.failed.authentication.delay.ms", type=ConfigType.INT, default="100"
        ),
        ConfigKey(name="queued.max.requests", type=ConfigType.INT, default="500"),
        ConfigKey(name="queued.max.request.bytes", type=ConfigType.LONG, default="-1"),
        ConfigKey(
            name="num.network.threads",
            type=ConfigType.INT,
            default="3",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(name="controller.socket.timeout.ms", type=ConfigType.INT, default="30000"),
        ConfigKey(name="default.replication.factor", type=ConfigType.INT, default="1"),
        ConfigKey(name="replica.lag.time.max.ms", type=ConfigType.LONG, default="30000"),
        ConfigKey(name="replica.socket.timeout.ms", type=ConfigType.INT, default="30000"),
        ConfigKey(name="replica.socket.receive.buffer.bytes", type=ConfigType.INT, default="65536"),
        ConfigKey(name="replica.fetch.max.bytes", type=ConfigType.INT, default="1048576"),
        ConfigKey(name="replica.fetch.wait.max.ms", type=ConfigType.INT, default="500"),
        ConfigKey(name="replica.fetch.backoff.ms", type=ConfigType.INT, default="1000"),
        ConfigKey(name="replica.fetch.min.bytes", type=ConfigType.INT, default="1"),
        ConfigKey(name="replica.fetch.response.max.bytes", type=ConfigType.INT, default="10485760"),
        ConfigKey(
            name="num.replica.fetchers",
            type=ConfigType.INT,
            default="1",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="replica.high.watermark.checkpoint.interval.ms",
            type=ConfigType.LONG,
            default="5000",
        ),
        ConfigKey(
            name="fetch.purgatory.purge.interval.requests", type=ConfigType.INT, default="1000"
        ),
        ConfigKey(
            name="producer.purgatory.purge.interval.requests", type=ConfigType.INT, default="1000"
        ),
        ConfigKey(
            name="delete.records.purgatory.purge.interval.requests",
            type=ConfigType.INT,
            default="1",
        ),
        ConfigKey(name="auto.leader.rebalance.enable", type=ConfigType.BOOLEAN, default="true"),
        ConfigKey(
            name="leader.imbalance.check.interval.seconds", type=ConfigType.LONG, default="300"
        ),
        ConfigKey(
            name="unclean.leader.election.interval.ms",
            type=ConfigType.LONG,
            default="300000",
            internal=True,
        ),
        ConfigKey(
            name="unclean.leader.election.enable",
            type=ConfigType.BOOLEAN,
            default="false",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="security.inter.broker.protocol", type=ConfigType.STRING, default="PLAINTEXT"
        ),
        ConfigKey(name="inter.broker.listener.name", type=ConfigType.STRING),
        ConfigKey(name="replica.selector.class", type=ConfigType.STRING),
        ConfigKey(
            name="follower.fetch.last.tiered.offset.enable",
            type=ConfigType.BOOLEAN,
            default="false",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="group.coordinator.rebalance.protocols",
            type=ConfigType.LIST,
            default="classic,consumer,streams",
        ),
        ConfigKey(name="group.coordinator.threads", type=ConfigType.INT, default="4"),
        ConfigKey(name="group.coordinator.background.threads", type=ConfigType.INT, default="2"),
        ConfigKey(name="group.coordinator.append.linger.ms", type=ConfigType.INT, default="-1"),
        ConfigKey(name="offsets.commit.timeout.ms", type=ConfigType.INT, default="5000"),
        ConfigKey(name="offsets.load.buffer.size", type=ConfigType.INT, default="5242880"),
        ConfigKey(name="offsets.topic.replication.factor", type=ConfigType.SHORT, default="3"),
        ConfigKey(name="offsets.topic.num.partitions", type=ConfigType.INT, default="50"),
        ConfigKey(name="offsets.topic.segment.bytes", type=ConfigType.INT, default="104857600"),
        ConfigKey(name="offsets.topic.compression.codec", type=ConfigType.INT, default="0"),
        ConfigKey(
            name="group.coordinator.cached.buffer.max.bytes",
            type=ConfigType.INT,
            default="1048588",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(name="offset.metadata.max.bytes", type=ConfigType.INT, default="4096"),
        ConfigKey(name="offsets.retention.minutes", type=ConfigType.INT, default="10080"),
        ConfigKey(
            name="offsets.retention.check.interval.ms", type=ConfigType.LONG, default="600000"
        ),
        ConfigKey(name="group.min.session.timeout.ms", type=ConfigType.INT, default="6000"),
        ConfigKey(name="group.max.session.timeout.ms", type=ConfigType.INT, default="1800000"),
        ConfigKey(name="group.initial.rebalance.delay.ms", type=ConfigType.INT, default="3000"),
        ConfigKey(name="group.max.size", type=ConfigType.INT, default="2147483647"),
        ConfigKey(name="group.consumer.session.timeout.ms", type=ConfigType.INT, default="45000"),
        ConfigKey(
            name="group.consumer.min.session.timeout.ms", type=ConfigType.INT, default="45000"
        ),
        ConfigKey(
            name="group.consumer.max.session.timeout.ms", type=ConfigType.INT, default="60000"
        ),
        ConfigKey(name="group.consumer.heartbeat.interval.ms", type=ConfigType.INT, default="5000"),
        ConfigKey(
            name="group.consumer.min.heartbeat.interval.ms", type=ConfigType.INT, default="5000"
        ),
        ConfigKey(
            name="group.consumer.max.heartbeat.interval.ms", type=ConfigType.INT, default="15000"
        ),
        ConfigKey(name="group.consumer.max.size", type=ConfigType.INT, default="2147483647"),
        ConfigKey(name="group.consumer.assignors", type=ConfigType.LIST, default="uniform,range"),
        ConfigKey(
            name="group.consumer.migration.policy", type=ConfigType.STRING, default="bidirectional"
        ),
        ConfigKey(
            name="group.consumer.assignment.interval.ms",
            type=ConfigType.INT,
            default="1000",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="group.consumer.min.assignment.interval.ms", type=ConfigType.INT, default="0"
        ),
        ConfigKey(
            name="group.consumer.max.assignment.interval.ms", type=ConfigType.INT, default="15000"
        ),
        ConfigKey(
            name="group.consumer.regex.refresh.interval.ms",
            type=ConfigType.INT,
            default="600000",
            internal=True,
        ),
        ConfigKey(name="group.share.session.timeout.ms", type=ConfigType.INT, default="45000"),
        ConfigKey(name="group.share.min.session.timeout.ms", type=ConfigType.INT, default="45000"),
        ConfigKey(name="group.share.max.session.timeout.ms", type=ConfigType.INT, default="60000"),
        ConfigKey(name="group.share.heartbeat.interval.ms", type=ConfigType.INT, default="5000"),
        ConfigKey(
            name="group.share.min.heartbeat.interval.ms", type=ConfigType.INT, default="5000"
        ),
        ConfigKey(
            name="group.share.max.heartbeat.interval.ms", type=ConfigType.INT, default="15000"
        ),
        ConfigKey(name="group.share.max.size", type=ConfigType.INT, default="200"),
        ConfigKey(name="group.share.assignors", type=ConfigType.LIST, default="simple"),
        ConfigKey(
            name="group.share.assignment.interval.ms",
            type=ConfigType.INT,
            default="1000",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(name="group.share.min.assignment.interval.ms", type=ConfigType.INT, default="0"),
        ConfigKey(
            name="group.share.max.assignment.interval.ms", type=ConfigType.INT, default="15000"
        ),
        ConfigKey(
            name="group.share.initialize.retry.interval.ms",
            type=ConfigType.INT,
            default="30000",
            internal=True,
        ),
        ConfigKey(name="group.streams.session.timeout.ms", type=ConfigType.INT, default="45000"),
        ConfigKey(
            name="group.streams.min.session.timeout.ms", type=ConfigType.INT, default="45000"
        ),
        ConfigKey(
            name="group.streams.max.session.timeout.ms", type=ConfigType.INT, default="60000"
        ),
        ConfigKey(name="group.streams.heartbeat.interval.ms", type=ConfigType.INT, default="5000"),
        ConfigKey(
            name="group.streams.min.heartbeat.interval.ms", type=ConfigType.INT, default="5000"
        ),
        ConfigKey(
            name="group.streams.max.heartbeat.interval.ms", type=ConfigType.INT, default="15000"
        ),
        ConfigKey(name="group.streams.max.size", type=ConfigType.INT, default="2147483647"),
        ConfigKey(name="group.streams.num.standby.replicas", type=ConfigType.INT, default="0"),
        ConfigKey(name="group.streams.max.standby.replicas", type=ConfigType.INT, default="2"),
        ConfigKey(
            name="group.streams.initial.rebalance.delay.ms", type=ConfigType.INT, default="3000"
        ),
        ConfigKey(
            name="group.streams.assignment.interval.ms",
            type=ConfigType.INT,
            default="1000",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="group.streams.min.assignment.interval.ms", type=ConfigType.INT, default="0"
        ),
        ConfigKey(
            name="group.streams.max.assignment.interval.ms", type=ConfigType.INT, default="15000"
        ),
        ConfigKey(
            name="log.cleaner.threads",
            type=ConfigType.INT,
            default="1",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="log.cleaner.io.max.bytes.per.second",
            type=ConfigType.DOUBLE,
            default="1.7976931348623157E308",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="log.cleaner.dedupe.buffer.size",
            type=ConfigType.LONG,
            default="134217728",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="log.cleaner.io.buffer.size",
            type=ConfigType.INT,
            default="524288",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="log.cleaner.io.buffer.load.factor",
            type=ConfigType.DOUBLE,
            default="0.9",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="log.cleaner.backoff.ms",
            type=ConfigType.LONG,
            default="15000",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="log.cleaner.min.cleanable.ratio",
            type=ConfigType.DOUBLE,
            default="0.5",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(name="log.cleaner.enable", type=ConfigType.BOOLEAN, default="true"),
        ConfigKey(
            name="log.cleaner.delete.retention.ms",
            type=ConfigType.LONG,
            default="86400000",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="log.cleaner.min.compaction.lag.ms",
            type=ConfigType.LONG,
            default="0",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="log.cleaner.max.compaction.lag.ms",
            type=ConfigType.LONG,
            default="9223372036854775807",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(name="num.partitions", type=ConfigType.INT, default="1"),
        ConfigKey(name="log.dir", type=ConfigType.LIST, default="/tmp/kafka-logs"),
        ConfigKey(name="log.dirs", type=ConfigType.LIST),
        ConfigKey(
            name="cordoned.log.dirs", type=ConfigType.LIST, default="", dynamic=Dynamic.PER_BROKER
        ),
        ConfigKey(
            name="log.segment.bytes",
            type=ConfigType.INT,
            default="1073741824",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(name="log.roll.ms", type=ConfigType.LONG, dynamic=Dynamic.CLUSTER_WIDE),
        ConfigKey(name="log.roll.hours", type=ConfigType.INT, default="168"),
        ConfigKey(name="log.roll.jitter.ms", type=ConfigType.LONG, dynamic=Dynamic.CLUSTER_WIDE),
        ConfigKey(name="log.roll.jitter.hours", type=ConfigType.INT, default="0"),
        ConfigKey(name="log.retention.ms", type=ConfigType.LONG, dynamic=Dynamic.CLUSTER_WIDE),
        ConfigKey(name="log.retention.minutes", type=ConfigType.INT),
        ConfigKey(name="log.retention.hours", type=ConfigType.INT, default="168"),
        ConfigKey(
            name="log.retention.bytes",
            type=ConfigType.LONG,
            default="-1",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(name="log.retention.check.interval.ms", type=ConfigType.LONG, default="300000"),
        ConfigKey(
            name="log.cleanup.policy",
            type=ConfigType.LIST,
            default="delete",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="log.index.size.max.bytes",
            type=ConfigType.INT,
            default="10485760",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="log.index.interval.bytes",
            type=ConfigType.INT,
            default="4096",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="log.flush.interval.messages",
            type=ConfigType.LONG,
            default="9223372036854775807",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="log.segment.delete.delay.ms",
            type=ConfigType.LONG,
            default="60000",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="log.flush.scheduler.interval.ms",
            type=ConfigType.LONG,
            default="9223372036854775807",
        ),
        ConfigKey(name="log.flush.interval.ms", type=ConfigType.LONG, dynamic=Dynamic.CLUSTER_WIDE),
        ConfigKey(
            name="log.flush.offset.checkpoint.interval.ms", type=ConfigType.INT, default="60000"
        ),
        ConfigKey(
            name="log.flush.start.offset.checkpoint.interval.ms",
            type=ConfigType.INT,
            default="60000",
        ),
        ConfigKey(
            name="log.preallocate",
            type=ConfigType.BOOLEAN,
            default="false",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="num.recovery.threads.per.data.dir",
            type=ConfigType.INT,
            default="2",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(name="auto.create.topics.enable", type=ConfigType.BOOLEAN, default="true"),
        ConfigKey(
            name="min.insync.replicas",
            type=ConfigType.INT,
            default="1",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="log.message.timestamp.type",
            type=ConfigType.STRING,
            default="CreateTime",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="log.message.timestamp.before.max.ms",
            type=ConfigType.LONG,
            default="9223372036854775807",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="log.message.timestamp.after.max.ms",
            type=ConfigType.LONG,
            default="3600000",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(name="create.topic.policy.class.name", type=ConfigType.CLASS),
        ConfigKey(name="alter.config.policy.class.name", type=ConfigType.CLASS),
        ConfigKey(name="log.dir.failure.timeout.ms", type=ConfigType.LONG, default="30000"),
        ConfigKey(
            name="log.initial.task.delay.ms", type=ConfigType.LONG, default="30000", internal=True
        ),
        ConfigKey(name="group.share.delivery.count.limit", type=ConfigType.INT, default="5"),
        ConfigKey(name="group.share.max.delivery.count.limit", type=ConfigType.INT, default="10"),
        ConfigKey(name="group.share.min.delivery.count.limit", type=ConfigType.INT, default="2"),
        ConfigKey(name="group.share.record.lock.duration.ms", type=ConfigType.INT, default="30000"),
        ConfigKey(
            name="group.share.min.record.lock.duration.ms", type=ConfigType.INT, default="15000"
        ),
        ConfigKey(
            name="group.share.max.record.lock.duration.ms", type=ConfigType.INT, default="60000"
        ),
        ConfigKey(
            name="group.share.partition.max.record.locks", type=ConfigType.INT, default="2000"
        ),
        ConfigKey(
            name="group.share.max.partition.max.record.locks", type=ConfigType.INT, default="4000"
        ),
        ConfigKey(
            name="group.share.min.partition.max.record.locks", type=ConfigType.INT, default="100"
        ),
        ConfigKey(
            name="share.fetch.purgatory.purge.interval.requests",
            type=ConfigType.INT,
            default="1000",
        ),
        ConfigKey(name="group.share.max.share.sessions", type=ConfigType.INT, default="2000"),
        ConfigKey(
            name="group.share.persister.class.name",
            type=ConfigType.STRING,
            default="org.apache.kafka.server.share.persister.DefaultStatePersister",
            internal=True,
        ),
        ConfigKey(
            name="share.coordinator.state.topic.num.partitions", type=ConfigType.INT, default="50"
        ),
        ConfigKey(
            name="share.coordinator.state.topic.replication.factor",
            type=ConfigType.SHORT,
            default="3",
        ),
        ConfigKey(name="share.coordinator.state.topic.min.isr", type=ConfigType.SHORT, default="2"),
        ConfigKey(
            name="share.coordinator.state.topic.segment.bytes",
            type=ConfigType.INT,
            default="104857600",
        ),
        ConfigKey(name="share.coordinator.threads", type=ConfigType.INT, default="1"),
        ConfigKey(
            name="share.coordinator.snapshot.update.records.per.snapshot",
            type=ConfigType.INT,
            default="500",
        ),
        ConfigKey(
            name="share.coordinator.load.buffer.size", type=ConfigType.INT, default="5242880"
        ),
        ConfigKey(
            name="share.coordinator.state.topic.compression.codec", type=ConfigType.INT, default="0"
        ),
        ConfigKey(name="share.coordinator.append.linger.ms", type=ConfigType.INT, default="-1"),
        ConfigKey(name="share.coordinator.write.timeout.ms", type=ConfigType.INT, default="5000"),
        ConfigKey(
            name="share.coordinator.state.topic.prune.interval.ms",
            type=ConfigType.INT,
            default="300000",
            internal=True,
        ),
        ConfigKey(
            name="share.coordinator.cold.partition.snapshot.interval.ms",
            type=ConfigType.INT,
            default="300000",
            internal=True,
        ),
        ConfigKey(
            name="share.coordinator.cached.buffer.max.bytes",
            type=ConfigType.INT,
            default="1048588",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(name="transaction.state.log.min.isr", type=ConfigType.INT, default="2"),
        ConfigKey(
            name="transaction.state.log.load.buffer.size", type=ConfigType.INT, default="5242880"
        ),
        ConfigKey(
            name="transaction.state.log.replication.factor", type=ConfigType.SHORT, default="3"
        ),
        ConfigKey(name="transaction.state.log.num.partitions", type=ConfigType.INT, default="50"),
        ConfigKey(
            name="transaction.state.log.segment.bytes", type=ConfigType.INT, default="104857600"
        ),
        ConfigKey(
            name="transaction.partition.verification.enable",
            type=ConfigType.BOOLEAN,
            default="true",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="producer.id.expiration.ms",
            type=ConfigType.INT,
            default="86400000",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(
            name="producer.id.expiration.check.interval.ms",
            type=ConfigType.INT,
            default="600000",
            internal=True,
        ),
        ConfigKey(name="transactional.id.expiration.ms", type=ConfigType.INT, default="604800000"),
        ConfigKey(name="transaction.max.timeout.ms", type=ConfigType.INT, default="900000"),
        ConfigKey(
            name="transaction.abort.timed.out.transaction.cleanup.interval.ms",
            type=ConfigType.INT,
            default="10000",
        ),
        ConfigKey(
            name="transaction.remove.expired.transaction.cleanup.interval.ms",
            type=ConfigType.INT,
            default="3600000",
        ),
        ConfigKey(
            name="transaction.two.phase.commit.enable", type=ConfigType.BOOLEAN, default="false"
        ),
        ConfigKey(name="controller.quorum.voters", type=ConfigType.LIST, default=""),
        ConfigKey(name="controller.quorum.bootstrap.servers", type=ConfigType.LIST, default=""),
        ConfigKey(
            name="controller.quorum.election.timeout.ms", type=ConfigType.INT, default="1000"
        ),
        ConfigKey(name="controller.quorum.fetch.timeout.ms", type=ConfigType.INT, default="2000"),
        ConfigKey(
            name="controller.quorum.election.backoff.max.ms", type=ConfigType.INT, default="1000"
        ),
        ConfigKey(name="controller.quorum.append.linger.ms", type=ConfigType.INT, default="25"),
        ConfigKey(name="controller.quorum.request.timeout.ms", type=ConfigType.INT, default="2000"),
        ConfigKey(name="controller.quorum.retry.backoff.ms", type=ConfigType.INT, default="20"),
        ConfigKey(
            name="controller.quorum.auto.join.enable", type=ConfigType.BOOLEAN, default="false"
        ),
        ConfigKey(
            name="controller.quorum.fetch.snapshot.max.bytes",
            type=ConfigType.INT,
            default="1048576",
        ),
        ConfigKey(name="controller.quorum.fetch.max.bytes", type=ConfigType.INT, default="1048576"),
        ConfigKey(name="metrics.num.samples", type=ConfigType.INT, default="2"),
        ConfigKey(name="metrics.sample.window.ms", type=ConfigType.LONG, default="30000"),
        ConfigKey(
            name="metric.reporters",
            type=ConfigType.LIST,
            default="org.apache.kafka.common.metrics.JmxReporter",
            dynamic=Dynamic.CLUSTER_WIDE,
        ),
        ConfigKey(name="metrics.recording.level", type=ConfigType.STRING, default="INFO"),
        ConfigKey(name="kafka.metrics.reporters", type=ConfigType.LIST, default=""),
        ConfigKey(name="kafka.metrics.polling.interval.secs", type=ConfigType.INT, default="10"),
        ConfigKey(name="telemetry.max.bytes", type=ConfigType.INT, default="1048576"),
        ConfigKey(name="quota.window.num", type=ConfigType.INT, default="11"),
        ConfigKey(name="replication.quota.window.num", type=ConfigType.INT, default="11"),
        ConfigKey(
            name="alter.log.dirs.replication.quota.window.num", type=ConfigType.INT, default="11"
        ),
        ConfigKey(name="controller.quota.window.num", type=ConfigType.INT, default="11"),
        ConfigKey(name="quota.window.size.seconds", type=ConfigType.INT, default="1"),
        ConfigKey(name="replication.quota.window.size.seconds", type=ConfigType.INT, default="1"),
        ConfigKey(
            name="alter.log.dirs.replication.quota.window.size.seconds",
            type=ConfigType.INT,
            default="1",
        ),
        ConfigKey(name="controller.quota.window.size.seconds", type=ConfigType.INT, default="1"),
        ConfigKey(name="client.quota.callback.class", type=ConfigType.CLASS),
        ConfigKey(name="connections.max.reauth.ms", type=ConfigType.LONG, default="0"),
        ConfigKey(name="sasl.server.max.receive.size", type=ConfigType.INT, default="524288"),
        ConfigKey(name="security.providers", type=ConfigType.STRING),
        ConfigKey(
            name="principal.builder.class",
            type=ConfigType.CLASS,
            default="org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(
            name="ssl.client.auth",
            type=ConfigType.STRING,
            default="none",
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(name="ssl.principal.mapping.rules", type=ConfigType.STRING, default="DEFAULT"),
        ConfigKey(name="ssl.allow.dn.changes", type=ConfigType.BOOLEAN, default="false"),
        ConfigKey(name="ssl.allow.san.changes", type=ConfigType.BOOLEAN, default="false"),
        ConfigKey(
            name="ssl.protocol",
            type=ConfigType.STRING,
            default="TLSv1.3",
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(name="ssl.provider", type=ConfigType.STRING, dynamic=Dynamic.PER_BROKER),
        ConfigKey(
            name="ssl.enabled.protocols",
            type=ConfigType.LIST,
            default="TLSv1.2,TLSv1.3",
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(
            name="ssl.keystore.type",
            type=ConfigType.STRING,
            default="JKS",
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(name="ssl.keystore.location", type=ConfigType.STRING, dynamic=Dynamic.PER_BROKER),
        ConfigKey(
            name="ssl.keystore.password", type=ConfigType.PASSWORD, dynamic=Dynamic.PER_BROKER
        ),
        ConfigKey(name="ssl.key.password", type=ConfigType.PASSWORD, dynamic=Dynamic.PER_BROKER),
        ConfigKey(name="ssl.keystore.key", type=ConfigType.PASSWORD, dynamic=Dynamic.PER_BROKER),
        ConfigKey(
            name="ssl.keystore.certificate.chain",
            type=ConfigType.PASSWORD,
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(
            name="ssl.truststore.type",
            type=ConfigType.STRING,
            default="JKS",
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(
            name="ssl.truststore.location", type=ConfigType.STRING, dynamic=Dynamic.PER_BROKER
        ),
        ConfigKey(
            name="ssl.truststore.password", type=ConfigType.PASSWORD, dynamic=Dynamic.PER_BROKER
        ),
        ConfigKey(
            name="ssl.truststore.certificates", type=ConfigType.PASSWORD, dynamic=Dynamic.PER_BROKER
        ),
        ConfigKey(
            name="ssl.keymanager.algorithm",
            type=ConfigType.STRING,
            default="SunX509",
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(
            name="ssl.trustmanager.algorithm",
            type=ConfigType.STRING,
            default="PKIX",
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(
            name="ssl.endpoint.identification.algorithm",
            type=ConfigType.STRING,
            default="https",
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(
            name="ssl.secure.random.implementation",
            type=ConfigType.STRING,
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(
            name="ssl.cipher.suites", type=ConfigType.LIST, default="", dynamic=Dynamic.PER_BROKER
        ),
        ConfigKey(
            name="ssl.engine.factory.class", type=ConfigType.CLASS, dynamic=Dynamic.PER_BROKER
        ),
        ConfigKey(
            name="sasl.mechanism.inter.broker.protocol",
            type=ConfigType.STRING,
            default="GSSAPI",
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(
            name="sasl.enabled.mechanisms",
            type=ConfigType.LIST,
            default="GSSAPI",
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(name="sasl.server.callback.handler.class", type=ConfigType.CLASS),
        ConfigKey(
            name="sasl.kerberos.principal.to.local.rules",
            type=ConfigType.LIST,
            default="DEFAULT",
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(name="sasl.jaas.config", type=ConfigType.PASSWORD, dynamic=Dynamic.PER_BROKER),
        ConfigKey(name="sasl.client.callback.handler.class", type=ConfigType.CLASS),
        ConfigKey(name="sasl.login.class", type=ConfigType.CLASS),
        ConfigKey(name="sasl.login.callback.handler.class", type=ConfigType.CLASS),
        ConfigKey(
            name="sasl.kerberos.service.name", type=ConfigType.STRING, dynamic=Dynamic.PER_BROKER
        ),
        ConfigKey(
            name="sasl.kerberos.kinit.cmd",
            type=ConfigType.STRING,
            default="/usr/bin/kinit",
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(
            name="sasl.kerberos.ticket.renew.window.factor",
            type=ConfigType.DOUBLE,
            default="0.8",
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(
            name="sasl.kerberos.ticket.renew.jitter",
            type=ConfigType.DOUBLE,
            default="0.05",
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(
            name="sasl.kerberos.min.time.before.relogin",
            type=ConfigType.LONG,
            default="60000",
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(
            name="sasl.login.refresh.window.factor",
            type=ConfigType.DOUBLE,
            default="0.8",
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(
            name="sasl.login.refresh.window.jitter",
            type=ConfigType.DOUBLE,
            default="0.05",
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(
            name="sasl.login.refresh.min.period.seconds",
            type=ConfigType.SHORT,
            default="60",
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(
            name="sasl.login.refresh.buffer.seconds",
            type=ConfigType.SHORT,
            default="300",
            dynamic=Dynamic.PER_BROKER,
        ),
        ConfigKey(name="sasl.login.connect.timeout.ms", type=ConfigType.INT),
        ConfigKey(name="sasl.login.read.timeout.ms", type=ConfigType.INT),
        ConfigKey(name="sasl.login.retry.backoff.max.ms", type=ConfigType.LONG, default="10000"),
        ConfigKey(name="sasl.login.retry.backoff.ms", type=ConfigType.LONG, default="100"),
        ConfigKey(
            name="sasl.oauthbearer.jwt.retriever.class",
            type=ConfigType.CLASS,
            default="org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever",
        ),
        ConfigKey(
            name="sasl.oauthbearer.jwt.validator.class",
            type=ConfigType.CLASS,
            default="org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator",
        ),
        ConfigKey(name="sasl.oauthbearer.scope", type=ConfigType.STRING),
        ConfigKey(name="sasl.oauthbearer.client.credentials.client.id", type=ConfigType.STRING),
        ConfigKey(
            name="sasl.oauthbearer.client.credentials.client.secret", type=ConfigType.PASSWORD
        ),
        ConfigKey(
            name="sasl.oauthbearer.assertion.algorithm", type=ConfigType.STRING, default="RS256"
        ),
        ConfigKey(name="sasl.oauthbearer.assertion.claim.aud", type=ConfigType.STRING),
        ConfigKey(
            name="sasl.oauthbearer.assertion.claim.exp.seconds", type=ConfigType.INT, default="300"
        ),
        ConfigKey(name="sasl.oauthbearer.assertion.claim.iss", type=ConfigType.STRING),
        ConfigKey(
            name="sasl.oauthbearer.assertion.claim.jti.include",
            type=ConfigType.BOOLEAN,
            default="false",
        ),
        ConfigKey(
            name="sasl.oauthbearer.assertion.claim.nbf.seconds", type=ConfigType.INT, default="60"
        ),
        ConfigKey(name="sasl.oauthbearer.assertion.claim.sub", type=ConfigType.STRING),
        ConfigKey(name="sasl.oauthbearer.assertion.file", type=ConfigType.STRING),
        ConfigKey(name="sasl.oauthbearer.assertion.private.key.file", type=ConfigType.STRING),
        ConfigKey(
            name="sasl.oauthbearer.assertion.private.key.passphrase", type=ConfigType.PASSWORD
        ),
        ConfigKey(name="sasl.oauthbearer.assertion.template.file", type=ConfigType.STRING),
        ConfigKey(
            name="sasl.oauthbearer.scope.claim.name", type=ConfigType.STRING, default="scope"
        ),
        ConfigKey(name="sasl.oauthbearer.sub.claim.name", type=ConfigType.STRING, default="sub"),
        ConfigKey(name="sasl.oauthbearer.token.endpoint.url", type=ConfigType.STRING),
        ConfigKey(name="sasl.oauthbearer.jwks.endpoint.url", type=ConfigType.STRING),
        ConfigKey(
            name="sasl.oauthbearer.jwks.endpoint.refresh.ms",
            type=ConfigType.LONG,
            default="3600000",
        ),
        ConfigKey(
            name="sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
            type=ConfigType.LONG,
            default="100",
        ),
        ConfigKey(
            name="sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
            type=ConfigType.LONG,
            default="10000",
        ),
        ConfigKey(name="sasl.oauthbearer.clock.skew.seconds", type=ConfigType.INT, default="30"),
        ConfigKey(name="sasl.oauthbearer.expected.audience", type=ConfigType.LIST, default=""),
        ConfigKey(name="sasl.oauthbearer.expected.issuer", type=ConfigType.STRING),
        ConfigKey(name="delegation.token.secret.key", type=ConfigType.PASSWORD),
        ConfigKey(
            name="delegation.token.max.lifetime.ms", type=ConfigType.LONG, default="604800000"
        ),
        ConfigKey(name="delegation.token.expiry.time.ms", type=ConfigType.LONG, default="86400000"),
        ConfigKey(
            name="delegation.token.expiry.check.interval.ms",
            type=ConfigType.LONG,
            default="3600000",
        ),
        ConfigKey(
            name="add.partitions.to.txn.retry.backoff.max.ms", type=ConfigType.INT, default="100"
        ),
        ConfigKey(name="add.partitions.to.txn.retry.backoff.ms", type=ConfigType.INT, default="20"),
    )
)
