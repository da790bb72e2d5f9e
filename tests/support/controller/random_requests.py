"""Random requests of every API, valid and hostile ones, whose values mean something in an image.

A value is drawn by the path of its field from the values that fit, or is hostile: null, empty,
negative, too large, or of something that is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any
from uuid import UUID

from kwire.codec.declaration import Group, Request
from kwire.codec.fields import ArrayOf, FieldType, Nullable, StructClass, StructOf
from kwire.controller.authentication.token_index import token_hmac
from kwire.controller.handlers.registry import HANDLERS
from kwire.image import MetadataImage
from kwire.image.partition import PartitionRegistration
from kwire.messages.a19_create_topics import CreatableTopic, CreateTopicsRequest
from kwire.messages.a20_delete_topics import DeleteTopicsRequest
from kwire.messages.a52_vote import VoteRequest
from kwire.messages.a53_begin_quorum_epoch import BeginQuorumEpochRequest
from kwire.messages.a54_end_quorum_epoch import EndQuorumEpochRequest
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest
from kwire.messages.a56_alter_partition import AlterPartitionRequest, BrokerState, PartitionData
from kwire.messages.a57_update_features import UpdateFeaturesRequest
from kwire.messages.a59_fetch_snapshot import FetchSnapshotRequest
from kwire.messages.a62_broker_registration import BrokerRegistrationRequest, Feature
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest
from kwire.messages.a82_update_raft_voter import UpdateRaftVoterRequest
from kwire.messages.access_control import CLUSTER_NAME
from kwire.messages.config_resource import ResourceType
from kwire.messages.metadata_topic import METADATA_TOPIC
from kwire.messages.metadata_versions import DEFAULT, FEATURES, METADATA_VERSION, MINIMUM

BROKERS, CONTROLLERS = range(1, 6), (3000, 3001)
WITH_EPOCHS = 3
"""The version of AlterPartition since which the ISR has broker epochs."""
SECRET = "a secret of the cluster"
OF_4_3 = {"share.version": 1}
"""The features of which Kafka 4.3 has not the latest level."""

TEXTS = ("", " ", "\0", ".", "..", "*", "a/b", "<default>", "-1", "é\u20ac\U0001f600", "x" * 249)
LONG_TEXTS = ("x" * 250, "y" * 32767)
INTEGERS = {"int8": 7, "int16": 15, "int32": 31, "int64": 63}
HOSTILE: Mapping[str, Sequence[Any]] = {
    "string": (*TEXTS, *LONG_TEXTS),
    "boolean": (False, True),
    "uuid": tuple(UUID(int=number) for number in (0, 1, 2, 99, (1 << 128) - 1)),
    "bytes": (b"", b"\xff" * 70),
    "uint16": (0, 65535),
    "float64": (float("nan"), float("inf"), -1.0, 0.0, 0.5, 1e300, 5e-324),
    **{k: (-(1 << n), -2, -1, 0, 1, 2, 9, (1 << n) - 1) for k, n in INTEGERS.items()},
}

CONFIGS: Mapping[int, Sequence[tuple[str, str]]] = {
    ResourceType.TOPIC: (
        *(("retention.ms", "60000"), ("cleanup.policy", "compact"), ("compression.type", "zstd")),
        *(("min.insync.replicas", "2"), ("unclean.leader.election.enable", "true")),
        *(("leader.replication.throttled.replicas", "*"), ("cleanup.policy", "delete,compact")),
    ),
    ResourceType.BROKER: (
        *(("log.retention.ms", "60000"), ("min.insync.replicas", "2"), ("max.connections", "99")),
        *(("leader.replication.throttled.rate", "1000"), ("log.cleaner.threads", "2")),
    ),
    ResourceType.BROKER_LOGGER: (("root", "INFO"),),
    ResourceType.CLIENT_METRICS: (("interval.ms", "60000"), ("metrics", "*")),
    ResourceType.GROUP: (("consumer.session.timeout.ms", "50000"),),
}
"""Valid configurations."""

USUAL: Mapping[str, Sequence[Any]] = {
    "string": ("foo", "a", "b", ""),
    "boolean": (False, False, True),
    "uuid": tuple(UUID(int=number) for number in (1001, 1002)),
    "bytes": (b"0123456789abcdef", b"\x01" * 32),
    "uint16": (9092, 9093),
    "float64": (1.0, 1000.0, 2048.0),
    **dict.fromkeys(INTEGERS, (0, 1, 2)),
}
"""Values of fields that have none of their own below."""

World = MetadataImage


def _topics(image: World) -> list[str]:
    return ["foo", "bar", "a.b", "a_b", *sorted(image.topics.ids) * 2]


def _topic_ids(image: World) -> list[UUID]:
    return sorted(image.topics.by_id) or [UUID(int=5)]


def _brokers(image: World) -> list[int]:
    return sorted(image.cluster.brokers) or [1]


def _directories(image: World) -> list[UUID]:
    brokers = image.cluster.brokers.values()
    return [directory for broker in brokers for directory in broker.directories] or [UUID(int=500)]


FIXED: Mapping[str, Sequence[Any]] = {
    "timeout_ms": (10_000,),
    "topics.num_partitions": (-1, 1, 3),
    "topics.replication_factor": (-1, 1, 2),
    "topics.count": (2, 3, 4, 5),
    "topics.configs.name": ("retention.ms", "cleanup.policy", "min.insync.replicas", "foo"),
    "topics.configs.value": ("1", "2", "compact", "delete,compact", ""),
    "resources.resource_type": (2, 2, 4, 4, 8, 16, 32),
    "resources.configs.name": (
        *("retention.ms", "cleanup.policy", "min.insync.replicas", "compression.type"),
        *("unclean.leader.election.enable", "log.retention.ms", "max.connections"),
        *("interval.ms", "metrics", "match", "consumer.session.timeout.ms", "root", "foo", ""),
    ),
    "resources.configs.value": ("1", "2", "60000", "compact", "true", "zstd", "", "*", "a,b"),
    "resources.configs.config_operation": (0, 0, 0, 1, 2, 3),
    "creations.resource_type": (2, 3, 4, 5, 6, 7),
    "creations.resource_name": ("foo", "a", "*", CLUSTER_NAME, "User:alice", ""),
    "creations.resource_pattern_type": (3, 4),
    "creations.principal": ("User:alice", "User:*", "Group:a:b", "User:", ":a", ":", "User:a*b"),
    "creations.host": ("*", "10.0.0.1", "::1", "h", "10.0.0.0/8", ""),
    "creations.operation": tuple(range(2, 16)),
    "creations.permission_type": (2, 3),
    "filters.resource_type_filter": (1, 1, 2, 3, 4),
    "filters.resource_name_filter": ("foo", "a", "*", CLUSTER_NAME),
    "filters.principal_filter": ("User:alice", "User:*"),
    "filters.host_filter": ("*", "::1"),
    "filters.pattern_type_filter": (1, 1, 2, 3, 4),
    "filters.operation": (1, 1, 3),
    "filters.permission_type": (1, 1, 2, 3),
    "owner_principal_type": ("User",),
    "renewers.principal_type": ("User", "User", "Group", ""),
    "max_lifetime_ms": (-1, 1000, 1 << 40),
    "renew_period_ms": (-1, 1000, 1 << 40),
    "expiry_time_period_ms": (-1, 1000, 1 << 40),
    "election_type": (0, 1),
    "endpoint_type": (1, 2),
    "entries.entity.entity_type": ("user", "client-id", "ip"),
    "entries.entity.entity_name": ("alice", "10.0.0.1", "c", ""),
    "entries.ops.key": (
        *("producer_byte_rate", "consumer_byte_rate", "request_percentage"),
        *("controller_mutation_rate", "connection_creation_rate", "", "foo"),
    ),
    "deletions.mechanism": (1, 2),
    "upsertions.mechanism": (1, 2),
    "upsertions.iterations": (4096, 8192, 16384),
    "deletions.name": ("alice", "bob", ""),
    "upsertions.name": ("alice", "bob", ""),
    "upsertions.salted_password": (b"\x02" * 32, b"\x03" * 64),
    "feature_updates.feature": (METADATA_VERSION, *sorted(FEATURES)),
    "feature_updates.max_version_level": (0, 1, 2, 15, 21, 23, 25, 29, 30),
    "feature_updates.upgrade_type": (1, 2, 3),
    "controller_id": CONTROLLERS,
    "voter_id": (CONTROLLERS[0], 7),
    "topics.topic_name": (METADATA_TOPIC,),
    "topics.partitions.leader_id": (CONTROLLERS[0], 7),
    "topics.partitions.replica_id": (CONTROLLERS[0], 7),
    "leader_endpoints.name": ("CONTROLLER", "OTHER", ""),
    "leader_endpoints.host": ("127.0.0.1", "localhost", ""),
    "k_raft_version_feature.min_supported_version": (0, 1),
    "k_raft_version_feature.max_supported_version": (1, 2),
    "listeners.name": ("PLAINTEXT", "CONTROLLER", "INTERNAL", "EXTERNAL", "plaintext", ""),
    "listeners.host": ("localhost", "::1", "127.0.0.1", ""),
    "listeners.security_protocol": (0, 1, 2, 3),
    "features.name": (METADATA_VERSION, *sorted(FEATURES), "kraft.version", "foo", ""),
    "features.min_supported_version": (0, 1, 7, -1, -32768),
    "features.max_supported_version": (1, 30, 33, 0, -2, 32767),
    "rack": ("a", "b", "", " "),
    "is_migrating_zk_broker": (False,),
    "current_metadata_offset": (1 << 40, 1),
    "previous_broker_epoch": (-1, 3),
    "want_fence": (False, False, False, True),
    "want_shut_down": (False, False, False, False, True),
}


def _always(values: Sequence[Any]) -> Callable[[World], Sequence[Any]]:
    return lambda image: values


FITTING: Mapping[str, Callable[[World], Sequence[Any]]] = {
    **{path: _always(values) for path, values in FIXED.items()},
    **dict.fromkeys(("topics.name", "topic_names", "topic_partitions.topic"), _topics),
    **dict.fromkeys(("topics.topic_id", "directories.topics.topic_id"), _topic_ids),
    "resources.resource_name": lambda image: [*_topics(image), "", *map(str, _brokers(image))],
    "topics.assignments.broker_ids": _brokers,
    "topics.partitions.replicas": _brokers,
    "topics.partitions.new_isr": _brokers,
    "directories.id": _directories,
    "offline_log_dirs": _directories,
    "cordoned_log_dirs": _directories,
}
"""The values that mean something at a path."""


_HANDLERS = tuple(HANDLERS.values())
RAFT = (
    *(AddRaftVoterRequest, RemoveRaftVoterRequest, UpdateRaftVoterRequest, DescribeQuorumRequest),
    *(VoteRequest, BeginQuorumEpochRequest, EndQuorumEpochRequest, FetchSnapshotRequest),
)
"""The requests of raft, but for Fetch, which random epochs make a fetch of nobody."""
_OFTEN = {CreateTopicsRequest: 5, BrokerHeartbeatRequest: 5, BrokerRegistrationRequest: 3}
_SELDOM = {UnregisterBrokerRequest: 0.3, DeleteTopicsRequest: 0.3}
_WEIGHTS = [(_OFTEN | _SELDOM).get(handler.request, 1.0) for handler in _HANDLERS]


class RandomRequests:
    """Requests that a seed draws, of a cluster with this id.

    level: the latest metadata.version of its nodes. directory_id: of its voter.
    """

    def __init__(self, random: Random, cluster_id: str, level: int = DEFAULT) -> None:
        self.random = random
        self._cluster_id = cluster_id
        self._level = level
        self._hostility = 0.0
        self._image = MetadataImage()
        self._incarnations = 1000
        self.directory_id = UUID(int=1000)

    def next(self, image: MetadataImage) -> tuple[Request, int]:
        """Return a request of any API that is a handler's, and its version."""
        (handler,) = self.random.choices(_HANDLERS, _WEIGHTS)
        version = self.random.choice(list(handler.versions))
        hostility = self.random.choice((0.0, 0.0, 0.05, 0.3))
        return self.draw(handler.request, version, image, hostility), version

    def next_of_raft(self, image: MetadataImage, epoch: int) -> tuple[Request, int]:
        """Return a request between replicas, or of an administrator about them.

        epoch: of the leader. One of the largest epochs would end the quorum for good.
        """
        kind = self.random.choice(RAFT)
        version = self.random.choice(list(kind.versions))
        request = self.draw(kind, version, image, self.random.choice((0.0, 0.1)))
        if "current_leader_epoch" in kind.fields:
            request.current_leader_epoch = epoch  # type: ignore[attr-defined]
        for topic in getattr(request, "topics", ()):
            for partition in topic.partitions:
                for name in {"leader_epoch", "replica_epoch"} & set(type(partition).fields):
                    setattr(partition, name, epoch + self.random.choice((-1, 0, 1)))
        return request, version

    def draw(
        self, kind: type[Request], version: int, image: MetadataImage, hostility: float
    ) -> Request:
        """Return a request that can be encoded at a version; fitting to the image, or less so.

        hostility: the share of values that are hostile.
        """
        self._hostility, self._image = hostility, image
        request: Request = self._group(kind, version, "")
        if self.random.random() >= hostility:
            self._fit(request, version)
        return request

    def _group(self, kind: StructClass, version: int, path: str) -> Any:
        values = {
            name: self._value(field.type, version, f"{path}.{name}".lstrip("."))
            for name, field in kind.fields.items()
            if version in field.versions
        }
        return kind(**values)

    def _value(self, type: FieldType, version: int, path: str) -> Any:
        random = self.random
        if isinstance(type, Nullable):
            share = 0.6 if path.endswith("_filter") else 0.2
            if version in type.versions and random.random() < share:
                return None
            type = type.inner
        if isinstance(type, ArrayOf):
            count = random.choice((0, 1, 1, 1, 2, 3))
            items = [self._value(type.element, version, path) for _ in range(count)]
            return items if isinstance(type.element, StructOf) else tuple(items)
        if isinstance(type, StructOf):
            return self._group(type.cls, version, path)
        kind: str = type.kind  # type: ignore[attr-defined]
        if random.random() < self._hostility:
            return random.choice(HOSTILE[kind])
        find = FITTING.get(path)
        return random.choice(USUAL[kind] if find is None else find(self._image))

    def _fit(self, request: Any, version: int) -> None:
        """Make values fit to each other that a request has in several fields."""
        fields = type(request).fields
        if isinstance(request, BrokerRegistrationRequest):
            self._fit_registration(request)
        elif "cluster_id" in fields:
            request.cluster_id = self._cluster_id
            if isinstance(request, UpdateRaftVoterRequest | AddRaftVoterRequest):
                self._fit_voter(request)
        elif "broker_id" in fields:
            request.broker_id = self.random.choice(_brokers(self._image))
            broker = self._image.cluster.brokers.get(request.broker_id)
            if broker is not None and "broker_epoch" in fields:
                request.broker_epoch = broker.epoch
        if isinstance(request, AlterPartitionRequest):
            self._fit_partitions(request, version)
        for resource in getattr(request, "resources", None) or ():
            self._fit_configs(resource, resource.resource_type)
        if isinstance(request, UpdateFeaturesRequest):
            self._fit_features(request)
        if isinstance(request, CreateTopicsRequest):
            for topic in request.topics:
                self._fit_configs(topic, ResourceType.TOPIC)
                self._fit_assignments(topic)
        if "hmac" in fields and len(self._image.delegation_tokens.by_id):
            id = self.random.choice(sorted(self._image.delegation_tokens.by_id))
            request.hmac = token_hmac(SECRET, id)

    def _fit_features(self, request: UpdateFeaturesRequest) -> None:
        for update in request.feature_updates:
            levels = (0, 1, 2)
            if update.feature == METADATA_VERSION:
                levels = (self._level - 1, self._level, self._level - 2)
            if self.random.random() < 0.8:
                update.max_version_level = self.random.choice(levels)

    def _fit_configs(self, resource: Any, type: int) -> None:
        for config in getattr(resource, "configs", ()):
            if type in CONFIGS and self.random.random() < 0.8:
                config.name, config.value = self.random.choice(CONFIGS[type])

    def _fit_assignments(self, topic: CreatableTopic) -> None:
        if topic.assignments:
            topic.num_partitions = topic.replication_factor = -1
        for index, assignment in enumerate(topic.assignments):
            assignment.partition_index = index
            assignment.broker_ids = tuple(self.random.sample(BROKERS[:3], 2))

    def _fit_voter(self, request: UpdateRaftVoterRequest | AddRaftVoterRequest) -> None:
        for listener in request.listeners[:1]:
            listener.name = "CONTROLLER"
        if request.voter_id == CONTROLLERS[0]:
            request.voter_directory_id = self.directory_id

    def _fit_registration(self, request: BrokerRegistrationRequest) -> None:
        request.cluster_id = self._cluster_id
        request.broker_id = id = self.random.choice(BROKERS)
        self._incarnations += 1
        request.incarnation_id = UUID(int=self._incarnations)
        request.log_dirs = tuple(
            UUID(int=1000 * id + number) for number in range(self.random.choice((1, 1, 2)))
        )
        request.features = features_at(self._level)

    def _fit_partitions(self, request: AlterPartitionRequest, version: int) -> None:
        for topic in request.topics:
            known = self._image.topics.by_id.get(topic.topic_id)
            for asked in topic.partitions:
                partition = known.partitions.get(asked.partition_index) if known else None
                if partition is not None:
                    self._fit_partition(request, asked, partition, version)

    def _fit_partition(
        self,
        request: AlterPartitionRequest,
        asked: PartitionData,
        partition: PartitionRegistration,
        version: int,
    ) -> None:
        brokers = self._image.cluster.brokers
        leader = brokers.get(partition.leader)
        if leader is not None:
            request.broker_id, request.broker_epoch = leader.id, leader.epoch
        asked.leader_epoch = partition.leader_epoch
        asked.partition_epoch = partition.partition_epoch
        isr = sorted({partition.leader, *self.random.choices(partition.replicas, k=2)})
        if version < WITH_EPOCHS:
            asked.new_isr = tuple(isr)
            return
        asked.new_isr_with_epochs = [
            BrokerState(broker_id=id, broker_epoch=brokers[id].epoch if id in brokers else -1)
            for id in isr
        ]


def features_at(level: int) -> list[Feature]:
    """Return the features of a broker whose latest metadata.version this is."""
    levels = {name: feature.latest for name, feature in FEATURES.items()}
    levels |= {METADATA_VERSION: level} | ({} if level > DEFAULT else OF_4_3)
    return [
        Feature(
            name=name,
            min_supported_version=MINIMUM if name == METADATA_VERSION else 0,
            max_supported_version=latest,
        )
        for name, latest in levels.items()
    ]


def texts(group: Any, version: int) -> list[tuple[Any, str, bool]]:
    """Return the strings in a message: owner, field, True if it may be null at the version."""
    found: list[tuple[Any, str, bool]] = []
    for name, field in type(group).fields.items():
        if version not in field.versions:
            continue
        kind, value = field.type, getattr(group, name)
        is_nullable = isinstance(kind, Nullable) and version in kind.versions
        inner = kind.inner if isinstance(kind, Nullable) else kind
        if getattr(inner, "kind", None) == "string":
            found.append((group, name, is_nullable))
        for item in value if isinstance(value, list) else (value,):
            if isinstance(item, Group):
                found += texts(item, version)
    return found
