"""Random znodes of each kind, and their values as plain JSON for the Java judge."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from random import Random
from uuid import UUID

from kwire.text.ids import uuid_text
from kwire.zookeeper.znodes import (
    AclChangeZnode,
    AclResource,
    AclZnode,
    AclZnodeEntry,
    AssignedReplicas,
    BrokerEndpoint,
    BrokerZnode,
    ClusterIdZnode,
    ConfigChangeZnode,
    ConfigZnode,
    ControllerEpochZnode,
    ControllerZnode,
    DelegationTokenZnode,
    FeatureZnode,
    MigrationZnode,
    PartitionStateZnode,
    ProducerIdsZnode,
    ScramText,
    TopicZnode,
)

CHARACTERS = "abzAZ09._-~!@#$%^&*()+= \t\n\r\b\f\x00\x01\x1f\x7f\"'\\/<>?:;,|`[]{}äß€漢𝄞\u2028"

CONFIGS = [
    "retention.ms",
    "retention.bytes",
    "cleanup.policy",
    "segment.bytes",
    "min.insync.replicas",
    "segment.ms",
    "compression.type",
    "delete.retention.ms",
    "file.delete.delay.ms",
    "flush.messages",
    "flush.ms",
    "index.interval.bytes",
    "max.message.bytes",
    "message.format.version",
    "preallocate",
    "message.timestamp.type",
    "min.cleanable.dirty.ratio",
    "min.compaction.lag.ms",
    "segment.jitter.ms",
    "unclean.leader.election.enable",
    "follower.replication.throttled.replicas",
    "remote.storage.enable",
    "leader.replication.throttled.replicas",
    "message.downconversion.enable",
    "local.retention.ms",
]


def text(random: Random, longest: int = 12) -> str:
    """Return any text, with odd characters."""
    return "".join(random.choices(CHARACTERS, k=random.randint(0, longest)))


def principal(random: Random) -> str:
    """Return a principal with an odd name."""
    return f"{random.choice(['User', 'Group', 'Regex'])}:{text(random)}"


def ids(random: Random, most: int = 5) -> tuple[int, ...]:
    """Return broker ids."""
    return tuple(random.sample([*range(12), 2147483647], random.randint(0, most)))


def int32(random: Random) -> int:
    """Return a number of 32 bits, mostly a small one."""
    return random.choice([0, 1, -1, 2, 1000, 2147483647, -2147483648, random.randint(0, 99999)])


def int64(random: Random) -> int:
    """Return a number of 64 bits."""
    return random.choice([0, -1, 1, random.randint(0, 1 << 62), (1 << 63) - 1, -(1 << 63)])


def controller(random: Random) -> ControllerZnode:
    """Return a controller."""
    return ControllerZnode(
        broker_id=int32(random), timestamp_ms=int64(random), kraft_epoch=int32(random)
    )


def migration(random: Random) -> MigrationZnode:
    """Return a state of migration."""
    return MigrationZnode(
        kraft_controller_id=int32(random),
        kraft_controller_epoch=int32(random),
        kraft_metadata_offset=int64(random),
        kraft_metadata_epoch=int32(random),
    )


def broker(random: Random) -> BrokerZnode:
    """Return a broker with up to seven listeners."""
    version = random.choice([2, 3, 4, 5, 5, 5])
    protocols = ["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
    names = ["CLIENT", "REPLICATION", "INTERNAL", "EXTERNAL", "CONTROL-PLANE", "L.6", "A_7"]
    listeners = random.sample(protocols if version < 4 else names, random.randint(1, 4))
    if version >= 4 and random.random() < 0.5:
        listeners = random.sample(names, random.randint(1, 7))
    endpoints = tuple(
        BrokerEndpoint(
            listener=name,
            host=random.choice(["localhost", "10.0.0.1", "::1", "fe80::1%eth0", "b-1.kafka", ""]),
            port=random.randint(0, 65535),
            security_protocol=name if version < 4 else random.choice(protocols),
        )
        for name in listeners
    )
    supported = {
        name: (random.randint(0, 3), random.randint(3, 20))
        for name in random.sample(["metadata.version", "kraft.version", "x", "Group"], k=3)
    }
    return BrokerZnode(
        version=version,
        endpoints=endpoints,
        rack=random.choice([None, "dc1", text(random)]) if version >= 3 else None,
        features=supported if version >= 5 and random.random() < 0.5 else {},
        jmx_port=random.choice([-1, 9999]),
    )


def topic(random: Random) -> TopicZnode:
    """Return a topic of up to 60 partitions, at times not all of them."""
    numbers = list(range(random.choice([1, 3, 10, 11, 12, 23, 24, 25, 60])))
    if random.random() < 0.5:
        random.shuffle(numbers)
        numbers = numbers[: random.randint(0, len(numbers))]
    reassigned = random.random() < 0.4

    def assigned() -> AssignedReplicas:
        if reassigned and random.random() < 0.5:
            return AssignedReplicas(ids(random), ids(random, 2), ids(random, 2))
        return AssignedReplicas(ids(random))

    topic_id = UUID(int=random.getrandbits(128)) if random.random() < 0.9 else None
    return TopicZnode(topic_id=topic_id, partitions={number: assigned() for number in numbers})


def partition_state(random: Random) -> PartitionStateZnode:
    """Return a partition's state."""
    return PartitionStateZnode(
        leader=int32(random),
        leader_epoch=int32(random),
        isr=ids(random),
        controller_epoch=int32(random),
        leader_recovery_state=random.choice([0, 0, 1]),
    )


def config(random: Random) -> ConfigZnode:
    """Return up to 25 configs."""
    names = random.sample(CONFIGS, random.choice([0, 1, 2, 5, 11, 12, 13, 23, 24, 25]))
    values = {name: text(random, 30) for name in names}
    if random.random() < 0.3:
        values |= {text(random): text(random) for _ in range(random.randint(0, 30))}
    return ConfigZnode(values)


def acl(random: Random) -> AclZnode:
    """Return one rule: Kafka writes several in no order."""
    return AclZnode(
        (
            AclZnodeEntry(
                principal=principal(random),
                host=random.choice(["*", "10.1.2.3", text(random)]),
                operation=random.randint(2, 14),
                permission_type=random.choice([2, 3]),
            ),
        )
    )


def acl_change(random: Random) -> AclChangeZnode:
    """Return a notice about a resource."""
    return AclChangeZnode(AclResource(random.randint(2, 7), text(random), random.choice([3, 4])))


def producer_ids(random: Random) -> ProducerIdsZnode:
    """Return a block."""
    first = random.choice([0, 1000, random.randint(0, 1 << 62)])
    return ProducerIdsZnode(broker_id=int32(random), first=first, last=first + 999)


def delegation_token(random: Random) -> DelegationTokenZnode:
    """Return a token."""
    return DelegationTokenZnode(
        token_id=text(random),
        owner=principal(random),
        requester=principal(random),
        renewers=tuple(principal(random) for _ in range(random.randint(0, 3))),
        issue_timestamp=int64(random),
        max_timestamp=int64(random),
        expiry_timestamp=int64(random),
    )


def feature(random: Random) -> FeatureZnode:
    """Return finalized features."""
    names = ["metadata.version", "kraft.version", "transaction.version", "x", "Group", "yy"]
    chosen = random.sample(names, random.randint(0, 6))
    return FeatureZnode(
        version=random.choice([1, 2]),
        status=random.choice([0, 1]),
        features={name: random.randint(1, 32767) for name in chosen},
    )


def scram(random: Random) -> ScramText:
    """Return a credential."""
    salt, stored_key, server_key = (random.randbytes(random.randint(1, 64)) for _ in range(3))
    return ScramText(
        salt=salt, stored_key=stored_key, server_key=server_key, iterations=random.randint(1, 99999)
    )


SAMPLES: Mapping[str, Callable[[Random], object]] = {
    "controller": controller,
    "controller_epoch": lambda random: ControllerEpochZnode(int32(random)),
    "migration": migration,
    "cluster_id": lambda random: ClusterIdZnode(text(random)),
    "broker": broker,
    "topic": topic,
    "partition_state": partition_state,
    "config": config,
    "config_change": lambda random: ConfigChangeZnode(text(random)),
    "acl": acl,
    "acl_change": acl_change,
    "producer_ids": producer_ids,
    "delegation_token": delegation_token,
    "feature": feature,
    "scram": scram,
}
"""A random value of each kind that the judge knows."""


def plain(value: object) -> object:
    """Return a value as JSON, with the names of its fields."""
    if isinstance(value, AclChangeZnode):
        return plain(value.resource)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, UUID):
        return uuid_text(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value
