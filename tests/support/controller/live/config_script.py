"""The steps of the scripted session that are about configuration."""

from __future__ import annotations

from collections.abc import Iterator

from config_keys.judged import UNKNOWN, VALUES
from kwire.configs import client_metrics_keys, group_keys, node_keys, topic_keys
from kwire.messages.a32_describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.support.controller.live.admin_session import Session, Step

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)
NUMBERS = ("+1", "01", "-0", "\N{ARABIC-INDIC DIGIT THREE}", "00000000000000000001")
"""Ids of brokers to Java; each is a resource of its own."""
EVERY_KEY = "IncrementalAlterConfigs of every key of"
"""Begins the names of steps whose messages are compared, too."""


def alter(name: str, type_: int, resource: str, *changes: tuple[str, int, str | None]) -> Step:
    request = IncrementalAlterConfigsRequest(
        resources=[
            AlterConfigsResource(
                resource_type=type_,
                resource_name=resource,
                configs=[
                    AlterableConfig(name=key, config_operation=operation, value=value)
                    for key, operation, value in changes
                ],
            )
        ]
    )
    return Step(name=f"IncrementalAlterConfigs {name}", request=request)


def describe(name: str, type_: int, resource: str, *keys: str) -> Step:
    wanted = DescribeConfigsResource(
        resource_type=type_, resource_name=resource, configuration_keys=keys or None
    )
    request = DescribeConfigsRequest(
        resources=[wanted], include_synonyms=True, include_documentation=False
    )
    return Step(name=f"DescribeConfigs {name}", request=request)


def configs(session: Session) -> Iterator[Step]:
    """All of them; the topics t and c are there, and the brokers 1 and 2."""
    yield from _topic_configs()
    yield from _node_configs(session)
    yield from _group_configs()
    yield from _subscriptions()
    for kind, type_, keys in (
        ("topics", TOPIC, topic_keys.KEYS),
        ("nodes", BROKER, node_keys.KEYS),
        ("groups", GROUP, group_keys.KEYS),
        ("client metrics", CLIENT_METRICS, client_metrics_keys.KEYS),
    ):
        yield _every_key(kind, type_, [*keys, UNKNOWN])


def _every_key(kind: str, type_: int, names: list[str]) -> Step:
    """Each key with each value, only validated; of nodes, every key with some."""
    values = VALUES if type_ != BROKER else ("", "abc", "-1")
    pairs = [(name, value) for name in names for value in values]
    request = IncrementalAlterConfigsRequest(
        resources=[
            AlterConfigsResource(
                resource_type=type_,
                resource_name=str(100_000 + number),
                configs=[AlterableConfig(name=name, config_operation=SET, value=value)],
            )
            for number, (name, value) in enumerate(pairs)
        ],
        validate_only=True,
    )
    return Step(name=f"{EVERY_KEY} {kind}", request=request)


def _topic_configs() -> Iterator[Step]:
    yield alter("set", TOPIC, "t", ("retention.ms", SET, "60000"))
    yield alter("append", TOPIC, "t", ("cleanup.policy", APPEND, "compact"))
    yield alter("append again", TOPIC, "t", ("cleanup.policy", APPEND, "compact"))
    yield alter("subtract", TOPIC, "t", ("cleanup.policy", SUBTRACT, "delete"))
    yield alter("append to a number", TOPIC, "t", ("retention.ms", APPEND, "1"))
    yield alter("delete", TOPIC, "t", ("retention.ms", DELETE, None))
    yield alter("set null", TOPIC, "t", ("retention.ms", SET, None))
    yield alter("set null what is set", TOPIC, "t", ("cleanup.policy", SET, None))
    yield alter("set nonsense", TOPIC, "t", ("retention.ms", SET, "soon"))
    yield alter("of the unknown", TOPIC, "t", ("no.such", SET, "1"))
    yield alter("of no topic", TOPIC, "nothing", ("retention.ms", SET, "1"))
    yield alter(
        "of one key twice", TOPIC, "t", ("retention.ms", SET, "1"), ("retention.ms", SET, "2")
    )
    of_list = ("retention.ms", APPEND, "1")
    yield alter("of one key twice, wrong at first", TOPIC, "t", of_list, ("retention.ms", SET, "3"))
    yield alter("of one key twice, wrong at last", TOPIC, "t", ("retention.ms", SET, "4"), of_list)
    yield describe("of one key that came twice", TOPIC, "t", "retention.ms")
    for value in ("abc", "*", "0:1,1:2", "0:1,x", ""):
        for side in ("leader", "follower"):
            key = f"{side}.replication.throttled.replicas"
            yield alter(f"of {key} to {value!r}", TOPIC, "t", (key, SET, value))
    enable, delete = ("remote.storage.enable", SET, "true"), ("cleanup.policy", DELETE, None)
    yield alter("of remote storage without tiered storage", TOPIC, "t", enable, delete)
    yield alter("off remote storage", TOPIC, "t", ("remote.storage.enable", SET, "false"))
    shortest, longest = "min.compaction.lag.ms", "max.compaction.lag.ms"
    yield alter("of lags that conflict", TOPIC, "t", (shortest, SET, "9"), (longest, SET, "5"))
    yield alter("of the shortest lag", TOPIC, "t", (shortest, SET, "9"))
    yield alter("of a longest lag below it", TOPIC, "t", (longest, SET, "5"))
    yield alter("of one good and one bad key", TOPIC, "t", (longest, SET, "50"), ("x", SET, "1"))
    yield alter("of text where a number is spaced", TOPIC, "t", ("segment.ms", SET, " 7 "))
    yield alter("of a list with duplicates", TOPIC, "t", ("cleanup.policy", SET, "delete,delete"))
    yield alter("of a list with a gap", TOPIC, "t", ("cleanup.policy", SET, "delete,"))
    yield alter("of an empty list", TOPIC, "t", ("cleanup.policy", SET, ""))
    yield alter("of an internal key", TOPIC, "t", ("internal.segment.bytes", SET, "100000"))
    yield alter("of a value too long", TOPIC, "t", ("retention.ms", SET, "1" * 32_768))
    yield alter("of a topic without a name", TOPIC, "", ("retention.ms", SET, "1"))
    yield alter("of a topic with a bad name", TOPIC, "a/b", ("retention.ms", SET, "1"))
    yield alter("of nothing", TOPIC, "t")
    keys = ("retention.ms", "cleanup.policy", "min.insync.replicas", "no.such")
    yield describe("of some keys", TOPIC, "t", *keys)
    yield describe("of a topic", TOPIC, "t")
    yield describe("of no topic", TOPIC, "nothing")
    yield describe("of a topic without a name", TOPIC, "")
    yield describe("of resource type 99", 99, "x")


def _node_configs(session: Session) -> Iterator[Step]:
    own, other = str(session.leader_id), "77"
    yield alter("of a broker", BROKER, "1", ("log.retention.ms", SET, "5"))
    yield alter("of all brokers", BROKER, "", ("log.retention.ms", SET, "6"))
    yield alter("of all brokers to nonsense", BROKER, "", ("log.retention.ms", SET, "abc"))
    yield alter("of all brokers to 6", BROKER, "", ("log.retention.ms", SET, "6"))
    yield alter("of all brokers, unknown", BROKER, "", ("no.such", SET, "1"))
    yield alter("of all brokers, read-only", BROKER, "", ("broker.id", SET, "1"))
    yield alter("of all brokers, a password", BROKER, "", ("ssl.key.password", SET, "hush"))
    yield alter("of a broker, a list", BROKER, "1", ("log.cleanup.policy", APPEND, "compact"))
    yield alter("of a broker, no list", BROKER, "1", ("log.retention.ms", APPEND, "7"))
    yield alter("of a broker, too long", BROKER, "1", ("no.such", SET, "1" * 32_768))
    yield alter("of cordoned directories", BROKER, "1", ("cordoned.log.dirs", SET, "/a"))
    yield alter("of no cordoned directories", BROKER, "1", ("cordoned.log.dirs", SET, ""))
    yield alter("of broker 77", BROKER, other, ("log.retention.ms", SET, "5"))
    for name in ("x", "-1", "2147483648", " 1", "1_0", "+", *NUMBERS):
        yield alter(f"of broker {name!r}", BROKER, name, ("log.retention.ms", SET, "5"))
        yield describe(f"of broker {name!r}", BROKER, name)
        yield describe(f"of loggers {name!r}", BROKER_LOGGER, name)
    # eligible leader replicas are counted by one value for all brokers (KIP-966)
    yield alter("of a broker's min ISR", BROKER, "1", ("min.insync.replicas", SET, "1"))
    yield alter("off all brokers' min ISR", BROKER, "", ("min.insync.replicas", DELETE, None))
    yield alter("of all brokers' min ISR", BROKER, "", ("min.insync.replicas", SET, "2"))
    yield alter("of a topic's min ISR", TOPIC, "t", ("min.insync.replicas", SET, "1"))
    yield alter("of resource type 99", 99, "x", ("a", SET, "5"))
    for name in ("9", "x", ""):
        yield alter(f"of logger {name!r}", BROKER_LOGGER, name, ("root", SET, "INFO"))
    yield describe("of all brokers", BROKER, "")
    yield describe("of this node", BROKER, own, *(node_keys.KEYS.keys() - OWN_KEYS))
    for name in (other, "1", "x"):
        yield describe(f"of broker {name}", BROKER, name)
        yield describe(f"of logger {name}", BROKER_LOGGER, name)
    yield describe("of no logger", BROKER_LOGGER, "")


OWN_KEYS = {
    *("advertised.listeners", "broker.id", "controller.quorum.bootstrap.servers", "listeners"),
    *("listener.security.protocol.map", "log.dirs", "node.id"),
    *("group.initial.rebalance.delay.ms", "initial.broker.registration.timeout.ms"),
    *("offsets.topic.num.partitions", "offsets.topic.replication.factor"),
    *("share.coordinator.state.topic.min.isr", "share.coordinator.state.topic.replication.factor"),
    *("transaction.state.log.min.isr", "transaction.state.log.num.partitions"),
    "transaction.state.log.replication.factor",
}
"""Keys that the server.properties of the two kinds of quorum here do not set alike."""


def _group_configs() -> Iterator[Step]:
    session, heartbeat = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"
    yield alter("of a group", GROUP, "g", (session, SET, "50000"))
    for value in ("1", "44999", "45000", "60000", "60001", "abc", "0"):
        yield alter(f"of a session of {value}", GROUP, "g", (session, SET, value))
    yield alter("of a group, unknown", GROUP, "g", ("no.such", SET, "1"))
    yield alter("of a group, both", GROUP, "g", (session, SET, "45000"), (heartbeat, SET, "15001"))
    yield alter("of a group, appended", GROUP, "g", ("share.isolation.level", APPEND, "x"))
    yield alter("of a group, deleted", GROUP, "g", (session, DELETE, None))
    yield alter("of a group without a name", GROUP, "", (session, SET, "45000"))
    for value in ("latest", "by_duration:PT1H", "by_duration:-PT1H", "by_duration", "none"):
        yield alter(
            f"of offsets reset {value}", GROUP, "s", ("share.auto.offset.reset", SET, value)
        )
    yield describe("of a group", GROUP, "g")
    yield describe("of a share group", GROUP, "s")
    yield describe("of an unknown group", GROUP, "nobody")
    yield describe("of a group without a name", GROUP, "")


def _subscriptions() -> Iterator[Step]:
    for value in ("abc", "99", "100", "3600000", "3600001", ""):
        yield alter(f"of interval.ms {value!r}", CLIENT_METRICS, "m", ("interval.ms", SET, value))
    for value in ("nosuch=1", "client_id", "client_id=a.*", "client_id=(", "client_id=a=b", ""):
        yield alter(f"of match {value!r}", CLIENT_METRICS, "m", ("match", SET, value))
    yield alter("of metrics", CLIENT_METRICS, "m", ("metrics", SET, "a.,b.,a."))
    yield alter("of metrics with a gap", CLIENT_METRICS, "m", ("metrics", SET, "a.,,b."))
    yield alter("of metrics, appended", CLIENT_METRICS, "m", ("metrics", APPEND, "c."))
    yield alter("of a subscription, unknown", CLIENT_METRICS, "m", ("foo", SET, "1"))
    yield alter("of no subscription", CLIENT_METRICS, "", ("interval.ms", SET, "1000"))
    yield describe("of a subscription", CLIENT_METRICS, "m")
    yield describe("of an unknown subscription", CLIENT_METRICS, "nobody")
    yield describe("of no subscription", CLIENT_METRICS, "")
