"""Configuration: what is changed, what is refused, what is answered."""

from typing import Any

import pytest

from kwire.error_codes import ErrorCode
from kwire.image.configs import ResourceType
from kwire.messages.a19_create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kwire.messages.a32_describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kwire.messages.records.config import ConfigRecord

SET, DELETE, APPEND, SUBTRACT = range(4)
INVALID_CONFIG = ErrorCode.INVALID_CONFIG


@pytest.fixture
def three(lab: Any) -> Any:
    """Brokers 1, 2 and 3 are active."""
    lab.start(1, 2, 3)
    return lab


def alter(
    lab: Any,
    type: int,
    name: str,
    *configs: tuple[str, int, str | None],
    forwarded: bool = False,
    **more: Any,
) -> int:
    keys = [
        AlterableConfig(name=key, config_operation=operation, value=value)
        for key, operation, value in configs
    ]
    resource = AlterConfigsResource(resource_type=type, resource_name=name, configs=keys)
    request = IncrementalAlterConfigsRequest(resources=[resource]).replace(**more)
    (result,) = lab.ask(request, forwarded=forwarded).responses
    code: int = result.error_code
    return code


def test_keys_are_set_deleted_and_lists_grow_and_shrink(three: Any) -> None:
    three.create("foo", (1,))

    assert (
        alter(three, 2, "foo", ("cleanup.policy", APPEND, "compact"), ("retention.ms", SET, "5"))
        == 0
    )
    found = dict(three.image.configs.of(ResourceType.TOPIC, "foo"))
    assert found == {"cleanup.policy": "delete,compact", "retention.ms": "5"}
    assert (
        alter(
            three, 2, "foo", ("cleanup.policy", SUBTRACT, "delete"), ("retention.ms", DELETE, None)
        )
        == 0
    )
    found = dict(three.image.configs.of(ResourceType.TOPIC, "foo"))
    assert found == {"cleanup.policy": "compact"}


def test_the_same_value_is_written_again_for_brokers_only(three: Any) -> None:
    """KAFKA-14136: it has brokers load their files again."""
    three.create("foo", (1,))
    alter(three, 2, "foo", ("retention.ms", SET, "5"))
    alter(three, 4, "1", ("log.cleaner.threads", SET, "2"))
    before = three.end_offset

    assert alter(three, 2, "foo", ("retention.ms", SET, "5")) == 0
    assert three.end_offset == before
    assert alter(three, 4, "1", ("log.cleaner.threads", SET, "2")) == 0
    assert three.end_offset == before + 1


@pytest.mark.parametrize(
    ("type", "name", "config", "code"),
    [
        (2, "foo", ("nonsense", SET, "1"), ErrorCode.INVALID_CONFIG),
        (2, "foo", ("retention.ms", SET, "soon"), ErrorCode.INVALID_CONFIG),
        (2, "foo", ("retention.ms", APPEND, "1"), ErrorCode.INVALID_CONFIG),
        (2, "foo", ("retention.ms", 9, "1"), ErrorCode.INVALID_REQUEST),
        (2, "foo", ("retention.ms", SET, None), ErrorCode.INVALID_REQUEST),
        (2, "bar", ("retention.ms", SET, "1"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (2, "", ("retention.ms", SET, "1"), ErrorCode.INVALID_REQUEST),
        (2, "a b", ("retention.ms", SET, "1"), ErrorCode.INVALID_TOPIC_EXCEPTION),
        (4, "x", ("a", SET, "1"), ErrorCode.INVALID_REQUEST),
        (4, "-1", ("a", SET, "1"), ErrorCode.INVALID_REQUEST),
        (4, str(1 << 31), ("a", SET, "1"), ErrorCode.INVALID_REQUEST),
        (4, "9" * 5000, ("a", SET, "1"), ErrorCode.INVALID_REQUEST),
        (4, "99", ("a", SET, "1"), ErrorCode.BROKER_ID_NOT_REGISTERED),
        (2, "foo", ("leader.replication.throttled.replicas", SET, "abc"), INVALID_CONFIG),
        (2, "foo", ("remote.storage.enable", SET, "true"), INVALID_CONFIG),
        (2, "foo", ("retention.ms", SET, "1" * 32_768), INVALID_CONFIG),
        (4, "1", ("log.cleaner.threads", APPEND, "1"), INVALID_CONFIG),
        (4, "1", ("cordoned.log.dirs", SET, "/a"), INVALID_CONFIG),
        (32, "", ("a", SET, "1"), ErrorCode.INVALID_REQUEST),
        (32, "g", ("no.such", SET, "1"), INVALID_CONFIG),
        (32, "g", ("consumer.session.timeout.ms", SET, "1"), INVALID_CONFIG),
        (16, "", ("interval.ms", SET, "1000"), ErrorCode.INVALID_REQUEST),
        (16, "m", ("interval.ms", SET, "abc"), INVALID_CONFIG),
        (16, "m", ("interval.ms", SET, "99"), ErrorCode.INVALID_REQUEST),
        (16, "m", ("match", SET, "nosuch=1"), INVALID_CONFIG),
        (16, "m", ("match", SET, "client_id=("), INVALID_CONFIG),
        (16, "m", ("metrics", APPEND, "a"), INVALID_CONFIG),
        (16, "m", ("foo", SET, "1"), ErrorCode.INVALID_REQUEST),
        (8, "3000", ("root", SET, "INFO"), INVALID_CONFIG),
        (8, "3000", ("root", APPEND, "INFO"), ErrorCode.INVALID_REQUEST),
        (8, "1", ("a", SET, "1"), ErrorCode.INVALID_REQUEST),
        (77, "x", ("a", SET, "1"), ErrorCode.UNSUPPORTED_VERSION),
    ],
)
def test_what_is_wrong_with_a_change_is_refused(
    three: Any, type: int, name: str, config: tuple[str, int, str | None], code: ErrorCode
) -> None:
    three.create("foo", (1,))
    before = three.end_offset

    assert alter(three, type, name, config) == code
    assert three.end_offset == before


def test_a_change_is_only_validated_where_that_is_wanted(three: Any) -> None:
    before = three.end_offset

    assert alter(three, 4, "", ("a", SET, "1"), validate_only=True) == ErrorCode.NONE
    assert three.end_offset == before


def describe(lab: Any, type: int, name: str, *keys: str, **more: Any) -> Any:
    resource = DescribeConfigsResource(
        resource_type=type, resource_name=name, configuration_keys=keys or None
    )
    (result,) = lab.ask(DescribeConfigsRequest(resources=[resource]).replace(**more)).results
    return result


def test_a_topic_is_described_with_every_key_and_its_sources(three: Any) -> None:
    three.create("foo", (1,))
    alter(three, 2, "foo", ("retention.ms", SET, "5"))

    everything = describe(three, 2, "foo")
    (one,) = describe(three, 2, "foo", "retention.ms", include_synonyms=True).configs

    assert len(everything.configs) == 33
    assert (one.value, one.config_source, [s.source for s in one.synonyms]) == ("5", 1, [1])


def test_the_nameless_broker_is_described_by_what_is_set_for_all(three: Any) -> None:
    alter(three, 4, "", ("log.cleaner.threads", SET, "2"), ("ssl.key.password", SET, "a"))
    alter(three, 4, "", ("no.such", SET, "hush"), ("broker.id", SET, "7"))

    found = describe(three, 4, "", include_synonyms=True).configs

    assert {
        one.name: (one.value, one.is_sensitive, one.read_only, one.config_type) for one in found
    } == {
        "log.cleaner.threads": ("2", False, False, 3),
        "no.such": (None, True, True, 0),
    }
    assert {source.source for one in found for source in one.synonyms} == {3}
    assert "hush" not in repr(found)


def test_this_node_is_described_with_every_key_and_secrets_stay_secret(make_lab: Any) -> None:
    static = {"log.retention.hours": "2", "num.partitions": "3", "own.word": "hush"}
    lab = make_lab(static={**static, "ssl.keystore.password": "hush"})
    alter(lab, 4, "", ("log.retention.ms", SET, "5"))

    found = {one.name: one for one in describe(lab, 4, "3000", include_synonyms=True).configs}

    assert len(found) > 300
    assert (found["num.partitions"].value, found["num.partitions"].config_source) == ("3", 4)
    assert [one.value for one in found["log.retention.ms"].synonyms] == ["5", "2", "168"]
    assert found["message.max.bytes"].value == "1048588"
    assert [found[name].value for name in ("own.word", "ssl.keystore.password")] == [None, None]
    assert "hush" not in repr(found)


def test_another_node_is_not_described_here(three: Any) -> None:
    """As Kafka's controllers answer: only that node knows its server.properties."""
    for name, word in (("1", "expected 3000"), ("x", "must be an integer")):
        for type in (4, 8):
            result = describe(three, type, name)
            assert result.error_code == ErrorCode.INVALID_REQUEST
            assert word in result.error_message


def test_a_group_is_described_with_every_key_and_its_sources(make_lab: Any) -> None:
    lab = make_lab(static={"group.consumer.session.timeout.ms": "46000"})
    alter(lab, 32, "g", ("consumer.heartbeat.interval.ms", SET, " 7000 "))

    found = {one.name: one for one in describe(lab, 32, "g", include_synonyms=True).configs}

    assert len(found) == 17
    heartbeat = found["consumer.heartbeat.interval.ms"]
    assert (heartbeat.value, heartbeat.config_source) == ("7000", 8)
    assert [one.value for one in heartbeat.synonyms] == ["7000", "5000"]
    session = found["consumer.session.timeout.ms"]
    assert (session.value, session.config_source) == ("46000", 4)
    assert found["share.isolation.level"].config_source == 5


def test_a_subscription_is_described_with_every_key(three: Any) -> None:
    alter(three, 16, "m", ("interval.ms", SET, "1000"), ("metrics", SET, "a.,a.,b."))

    found = {one.name: one for one in describe(three, 16, "m", include_synonyms=True).configs}

    assert {name: (one.value, one.config_source) for name, one in found.items()} == {
        "interval.ms": ("1000", 7),
        "metrics": ("a.,b.", 7),
        "match": ("", 5),
    }


def test_no_names_are_all_names(three: Any) -> None:
    three.create("foo", (1,))

    resource = DescribeConfigsResource(resource_type=2, resource_name="foo", configuration_keys=())
    (result,) = three.ask(DescribeConfigsRequest(resources=[resource])).results

    assert len(result.configs) == 33


def test_what_is_not_there_cannot_be_described(three: Any) -> None:
    assert describe(three, 2, "bar").error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert describe(three, 8, "1").error_code == ErrorCode.INVALID_REQUEST


def test_lists_of_nodes_grow_and_shrink(three: Any) -> None:
    assert alter(three, 4, "1", ("log.cleanup.policy", APPEND, "compact")) == 0
    found = dict(three.image.configs.of(ResourceType.BROKER, "1"))
    assert found == {"log.cleanup.policy": "delete,compact"}


def test_remote_storage_is_enabled_where_the_cluster_has_it_and_left_with_a_word(
    make_lab: Any,
) -> None:
    """KIP-405, KIP-950."""
    lab = make_lab(static={"remote.log.storage.system.enable": "true"})
    lab.start(1)
    lab.create("foo", (1,))

    assert alter(lab, 2, "foo", ("remote.storage.enable", SET, "true")) == 0
    assert alter(lab, 2, "foo", ("cleanup.policy", SET, "compact")) == INVALID_CONFIG
    assert alter(lab, 2, "foo", ("local.retention.ms", SET, "-1")) == INVALID_CONFIG
    off = ("remote.storage.enable", SET, "false")
    assert alter(lab, 2, "foo", off) == INVALID_CONFIG
    assert alter(lab, 2, "foo", off, ("remote.log.delete.on.disable", SET, "true")) == 0


def test_what_nodes_have_counts_for_their_topics(three: Any) -> None:
    three.create("foo", (1,))
    assert alter(three, 4, "", ("log.cleaner.min.compaction.lag.ms", SET, "50")) == 0

    assert alter(three, 2, "foo", ("max.compaction.lag.ms", SET, "49")) == INVALID_CONFIG
    assert alter(three, 2, "foo", ("max.compaction.lag.ms", SET, "50")) == 0


@pytest.mark.parametrize("key", ["leader", "follower"])
def test_a_topic_is_not_created_with_replicas_that_would_kill_its_brokers(
    three: Any, key: str
) -> None:
    config = CreatableTopicConfig(name=f"{key}.replication.throttled.replicas", value="abc")
    before = three.end_offset

    topic = CreatableTopic(name="foo", num_partitions=1, replication_factor=1, configs=[config])
    (result,) = three.ask(CreateTopicsRequest(topics=[topic])).topics

    assert result.error_code == INVALID_CONFIG
    assert three.end_offset == before


@pytest.mark.parametrize(
    ("value", "forwarded", "code"),
    [("/a", False, INVALID_CONFIG), ("/a", True, 0), ("", False, 0), ("/b", False, 0)],
)
def test_directories_are_cordoned_by_the_broker_that_has_them(
    three: Any, value: str, forwarded: bool, code: int
) -> None:
    """KIP-1066: a controller does not know which there are; it may take some out again."""
    three.write(
        ConfigRecord(resource_type=4, resource_name="1", name="cordoned.log.dirs", value="/b,/c")
    )

    assert alter(three, 4, "1", ("cordoned.log.dirs", SET, value), forwarded=forwarded) == code
