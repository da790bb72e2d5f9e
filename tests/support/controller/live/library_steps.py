"""Steps of the comparison by the admin clients of kafka-python and librdkafka.

test_client_libraries.py has the libraries' work with records and groups.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from enum import Enum
from functools import partial
from typing import Any
from uuid import UUID

import confluent_kafka
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from kafka import TopicPartition
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    AlterConfigOp,
    ConfigResource,
    ConfigResourceType,
    KafkaAdminClient,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)

from tests.support.controller.live.listed_differences import NEW_KEYS

librdkafka: Any = confluent_kafka
rdadmin: Any = confluent_kafka.admin
"""Not all of their names are exported for type checkers."""

Call = tuple[str, Callable[[], Any]]

PUBLISHED = 0.3
"""Seconds after which brokers have applied what the controller has acknowledged."""
TIMEOUT = 60
OWN = {
    *("cluster_id", "controller_id", "controller", "topic_id", "throttle_time_ms", "port", "host"),
    *("leader_epoch", "finalized_epoch", "partition_epoch", "high_watermark", "log_end_offset"),
    *("last_fetch_timestamp", "last_caught_up_timestamp", "replica_directory_id", "log_dir"),
    *("total_bytes", "usable_bytes", "partition_size", "nodes", "authorized_operations"),
    *("error_message", "rack", "id"),
}
"""Fields that are each run's own, and sentences of errors."""


def outcomes_of_libraries(servers: str) -> dict[str, list[str]]:
    """Return what is compared of each step by its name: a value, or the name of an error."""
    found: dict[str, list[str]] = {}
    for library in (_kafka_python, _librdkafka):
        for number, (name, call) in enumerate(library(servers)):
            time.sleep(PUBLISHED)
            try:
                outcome = repr(plain(call()))
            except Exception as error:  # which of them is what is compared
                outcome = _name(error)
            found[f"{library.__name__[1:]} {number}. {name}"] = [outcome]
    return found


def _name(error: BaseException) -> str:
    if isinstance(error, KafkaException):
        return f"KafkaException {error.args[0].name()}"
    return type(error).__name__


def plain(value: Any) -> Any:
    """Return a value of a library without what is this run's own, and without NEW_KEYS.

    Lists are sorted, but not those of numbers, such as replicas.
    """
    if isinstance(value, Mapping):
        left_out = OWN.union(NEW_KEYS)
        pairs = {str(key): plain(inner) for key, inner in value.items() if str(key) not in left_out}
        return {key: sorted(pairs[key]) if "isr" in key else pairs[key] for key in sorted(pairs)}
    if isinstance(value, BaseException):
        return _name(value)
    if isinstance(value, librdkafka.KafkaError):
        return value.name()
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, UUID):
        return "an id"
    if isinstance(value, (list, tuple, set, frozenset)):
        found = [plain(inner) for inner in value]
        return found if found and isinstance(found[0], int) else sorted(found, key=repr)
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if hasattr(value, "to_object"):
        return plain(value.to_object())
    if value is None or isinstance(value, (str, int, float, bool, bytes)):
        return value
    return str(value)


def _kafka_python(servers: str) -> Iterator[Call]:
    with closing(KafkaAdminClient(bootstrap_servers=servers.split(","))) as admin:
        yield from _kafka_python_topics(admin)
        yield from _kafka_python_entities(admin)
        yield "delete_topics", lambda: admin.delete_topics(["p"])
        yield "delete_topics again", lambda: admin.delete_topics(["p"])
        yield "list_topics", admin.list_topics


def _kafka_python_topics(admin: Any) -> Iterator[Call]:
    made = {"p": {"assignments": {0: [1, 2], 1: [2, 1]}, "configs": {"retention.ms": "1000"}}}
    odd = {"q": {"num_partitions": 1, "configs": {"retention.ms": "soon"}}}
    yield "create_topics", lambda: admin.create_topics(made)
    yield "create_topics again", lambda: admin.create_topics(made)
    yield "create_topics, a bad config", lambda: admin.create_topics(odd)
    yield "create_topics, only validated", lambda: admin.create_topics(["q"], validate_only=True)
    yield (
        "create_topics, errors in the answer",
        lambda: admin.create_topics({"a b": {}, "p": {}}, raise_errors=False),
    )
    yield "list_topics", admin.list_topics
    yield "describe_topics", lambda: admin.describe_topics(["p"])
    yield (
        "create_partitions",
        lambda: admin.create_partitions({"p": {"count": 3, "assignments": [[1, 2]]}}),
    )
    yield "create_partitions to fewer", lambda: admin.create_partitions({"p": 1})
    yield "elect_leaders, needless", lambda: admin.elect_leaders(0, {"p": [0]})
    yield "elect_leaders of nothing", lambda: admin.elect_leaders(0, {"nothing": [0]})
    moves = {TopicPartition("p", 0): [2, 1], TopicPartition("nothing", 0): [1]}
    yield "alter_partition_reassignments", lambda: admin.alter_partition_reassignments(moves)
    cancelled = {TopicPartition("p", 1): None}
    yield "cancelled", lambda: admin.alter_partition_reassignments(cancelled)
    yield "list_partition_reassignments", admin.list_partition_reassignments
    yield "describe_topic_partitions", lambda: admin.describe_topic_partitions(["p"])
    topic = ConfigResource(ConfigResourceType.TOPIC, "p")
    yield "describe_configs", lambda: admin.describe_configs([topic], include_synonyms=True)
    for name, configs, incremental in (
        ("set", {"retention.ms": "2000"}, True),
        ("appended", {"cleanup.policy": (AlterConfigOp.APPEND, "compact")}, True),
        ("deleted", {"retention.ms": (AlterConfigOp.DELETE, None)}, True),
        ("nonsense", {"retention.ms": "soon"}, True),
        ("all replaced", {"segment.ms": "5000"}, False),
    ):
        changed = ConfigResource(ConfigResourceType.TOPIC, "p", configs)
        yield (
            f"alter_configs, {name}",
            partial(admin.alter_configs, [changed], incremental=incremental),
        )
        yield f"describe_configs, {name}", lambda: admin.describe_configs([topic])
    yield "list_config_resources", admin.list_config_resources


def _kafka_python_entities(admin: Any) -> Iterator[Call]:
    for id in ("1", "77"):
        broker = ConfigResource(ConfigResourceType.BROKER, id, {"log.cleaner.threads": "2"})
        yield f"alter_configs of broker {id}", partial(admin.alter_configs, [broker])
        yield f"reset_configs of {id}", partial(admin.reset_configs, [broker])
    yield "describe_cluster", admin.describe_cluster
    yield "describe_metadata_quorum", admin.describe_metadata_quorum
    yield "describe_features", admin.describe_features
    for level in (0, 1, 99):
        yield (
            f"update_features to {level}",
            partial(admin.update_features, {"group.version": level}, validate_only=True),
        )
    pattern = ResourcePattern(ResourceType.TOPIC, "p")
    parts = (ACLOperation.READ, ACLPermissionType.ALLOW)
    acl = ACL("User:dora", "*", *parts, pattern)
    odd = ACL("dora", "*", *parts, pattern)
    anything = ResourcePatternFilter(ResourceType.ANY, None, ACLResourcePatternType.ANY)
    hers = ACLFilter("User:dora", None, ACLOperation.ANY, ACLPermissionType.ANY, anything)
    yield "create_acls", lambda: admin.create_acls([acl, odd])
    yield "describe_acls", lambda: admin.describe_acls(hers)
    yield "delete_acls", lambda: [found for _, *found in admin.delete_acls([hers])]
    yield "describe_acls again", lambda: admin.describe_acls(hers)
    mechanism = ScramMechanism.SCRAM_SHA_256
    upsertion = UserScramCredentialUpsertion("dora", mechanism, "secret", salt=b"salt")
    weak = UserScramCredentialUpsertion("erin", mechanism, "secret", iterations=1)
    removal = UserScramCredentialDeletion("dora", mechanism)
    for name, change in (("upsertion", upsertion), ("weak", weak), ("removal", removal)):
        yield f"alter_user_scram_credentials, {name}", partial(_changed_password, admin, change)
        yield (
            f"describe_user_scram_credentials, {name}",
            lambda: {
                user: found["credential_infos"]
                for user, found in admin.describe_user_scram_credentials(["dora", "erin"]).items()
            },
        )
    yield "list_groups", admin.list_groups
    yield "delete_groups", lambda: admin.delete_groups(["nobody"])
    yield "list_transactions", admin.list_transactions


def _changed_password(admin: Any, change: Any) -> dict[str, bool]:
    """Return True for each user whose password has changed."""
    errors = admin.alter_user_scram_credentials([change])
    return {user: error is None for user, error in errors.items()}


def _librdkafka(servers: str) -> Iterator[Call]:
    admin = AdminClient({"bootstrap.servers": servers})
    # A request to a bootstrap address is given up once the brokers are known.
    admin.list_topics(timeout=TIMEOUT)
    yield from _librdkafka_topics(admin)
    yield from _librdkafka_entities(admin)
    yield "delete_topics", lambda: _results(admin.delete_topics(["r", "nothing"]))


def _results(futures: Mapping[Any, Any]) -> dict[str, Any]:
    """Wait for every future; return what each has, or how it failed."""
    found: dict[str, Any] = {}
    for key, future in futures.items():
        try:
            found[str(key)] = _compared(future.result(timeout=TIMEOUT))
        except KafkaException as error:
            found[str(key)] = _name(error)
    return found


def _awaited(call: Callable[[list[Any]], Any], changes: list[Any]) -> dict[str, Any]:
    return _results(call(changes))


def _compared(value: Any) -> Any:
    """Return the fields of a librdkafka object that are compared."""
    if isinstance(value, dict):
        return {str(key): _compared(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_compared(inner) for inner in value]
    if isinstance(value, rdadmin.ConfigEntry):
        return [value.value, int(value.source), value.is_read_only, value.is_sensitive]
    if isinstance(value, rdadmin.UserScramCredentialsDescription):
        infos = value.scram_credential_infos
        return [[info.mechanism.name, info.iterations] for info in infos]
    if isinstance(value, rdadmin.TopicDescription):
        return [
            [part.id, [node.id for node in part.replicas], [node.id for node in part.isr]]
            for part in value.partitions
        ]
    return value


def _librdkafka_topics(admin: Any) -> Iterator[Call]:
    New = librdkafka.cimpl.NewTopic
    made = New("r", 2, replica_assignment=[[1, 2], [2, 1]], config={"retention.ms": "1000"})
    wrong = [New("a b", 1, 1), New("s", 1, 9), New("u", 1, 1, config={"retention.ms": "soon"})]
    yield "create_topics", lambda: _results(admin.create_topics([made]))
    yield "create_topics, wrong", lambda: _results(admin.create_topics([made, *wrong]))
    yield (
        "create_topics, only validated",
        lambda: _results(admin.create_topics([New("s", 1, 1)], validate_only=True)),
    )
    names = librdkafka.TopicCollection(["r", "nothing"])
    yield "describe_topics", lambda: _results(admin.describe_topics(names))
    more = librdkafka.cimpl.NewPartitions
    yield (
        "create_partitions",
        lambda: _results(admin.create_partitions([more("r", 3, [[1, 2]])])),
    )
    yield (
        "create_partitions, wrong",
        lambda: _results(admin.create_partitions([more("r", 2), more("nothing", 2)])),
    )
    parts = [librdkafka.TopicPartition("r", 0), librdkafka.TopicPartition("nothing", 0)]
    for election in librdkafka.ElectionType:
        yield (
            f"elect_leaders {election.name}",
            partial(_elected, admin, election, parts),
        )
    latest = {librdkafka.TopicPartition("r", 0): rdadmin.OffsetSpec.latest()}
    yield (
        "list_offsets",
        lambda: [future.result(TIMEOUT).offset for future in admin.list_offsets(latest).values()],
    )


def _elected(admin: Any, election: Any, parts: list[Any]) -> dict[str, Any]:
    """Return the error for each partition."""
    found = admin.elect_leaders(election, parts).result(TIMEOUT)
    return {f"{part.topic}-{part.partition}": error for part, error in found.items()}


def _librdkafka_entities(admin: Any) -> Iterator[Call]:
    Resource, Entry, Operation = (
        rdadmin.ConfigResource,
        rdadmin.ConfigEntry,
        rdadmin.AlterConfigOpType,
    )
    topic = Resource(rdadmin.ResourceType.TOPIC, "r")
    yield "describe_configs", lambda: _results(admin.describe_configs([topic]))
    for name, operation, value in (
        ("retention.ms", Operation.SET, "2000"),
        ("cleanup.policy", Operation.APPEND, "compact"),
        ("cleanup.policy", Operation.SUBTRACT, "delete"),
        ("retention.ms", Operation.DELETE, None),
        ("retention.ms", Operation.SET, "soon"),
        ("no.such", Operation.SET, "1"),
    ):
        entry = Entry(name, value, incremental_operation=operation)
        change = Resource(rdadmin.ResourceType.TOPIC, "r", incremental_configs=[entry])
        yield (
            f"incremental_alter_configs {name} {operation.name} {value}",
            partial(_awaited, admin.incremental_alter_configs, [change]),
        )
    replaced = Resource(rdadmin.ResourceType.TOPIC, "r", set_config={"segment.ms": "5000"})
    yield "alter_configs", lambda: _results(admin.alter_configs([replaced]))
    yield "describe_configs again", lambda: _results(admin.describe_configs([topic]))
    kinds = (rdadmin.ResourceType.TOPIC, "r", rdadmin.ResourcePatternType.PREFIXED)
    rights = ("User:dora", "*", rdadmin.AclOperation.WRITE, rdadmin.AclPermissionType.DENY)
    acl, hers = rdadmin.AclBinding(*kinds, *rights), rdadmin.AclBindingFilter(*kinds, *rights)
    yield "create_acls", lambda: _results(admin.create_acls([acl]))
    yield "describe_acls", lambda: admin.describe_acls(hers).result(TIMEOUT)
    yield "delete_acls", lambda: _results(admin.delete_acls([hers]))
    info = rdadmin.ScramCredentialInfo(rdadmin.ScramMechanism.SCRAM_SHA_512, 8192)
    upsertion = rdadmin.UserScramCredentialUpsertion("dora", info, b"secret", b"salt")
    removal = rdadmin.UserScramCredentialDeletion("dora", rdadmin.ScramMechanism.SCRAM_SHA_512)
    for change in (upsertion, removal, removal):
        yield (
            "alter_user_scram_credentials",
            partial(_awaited, admin.alter_user_scram_credentials, [change]),
        )
        yield (
            "describe_user_scram_credentials",
            lambda: _results(admin.describe_user_scram_credentials(["dora"])),
        )
    yield "delete_consumer_groups", lambda: _results(admin.delete_consumer_groups(["nobody"]))
