"""DescribeConfigs, after Kafka's ConfigHelper."""

from typing import Any

from kwire.error_codes import ErrorCode
from kwire.messages.a32_describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from tests.support.controller.handlers.config_requests import (
    alter,
)

SET, DELETE, APPEND, SUBTRACT = range(4)


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
        item.name: (item.value, item.is_sensitive, item.read_only, item.config_type)
        for item in found
    } == {
        "log.cleaner.threads": ("2", False, False, 3),
        "no.such": (None, True, True, 0),
    }
    assert {source.source for item in found for source in item.synonyms} == {3}
    assert "hush" not in repr(found)


def test_this_node_is_described_with_every_key_and_secrets_stay_secret(make_lab: Any) -> None:
    static = {"log.retention.hours": "2", "num.partitions": "3", "own.word": "hush"}
    lab = make_lab(static={**static, "ssl.keystore.password": "hush"})
    alter(lab, 4, "", ("log.retention.ms", SET, "5"))

    found = {
        config.name: config for config in describe(lab, 4, "3000", include_synonyms=True).configs
    }

    assert len(found) > 300
    assert (found["num.partitions"].value, found["num.partitions"].config_source) == ("3", 4)
    assert [synonym.value for synonym in found["log.retention.ms"].synonyms] == ["5", "2", "168"]
    assert found["message.max.bytes"].value == "1048588"
    assert [found[name].value for name in ("own.word", "ssl.keystore.password")] == [None, None]
    assert "hush" not in repr(found)


def test_another_node_is_not_described_here(three: Any) -> None:
    """Kafka's controllers answer so: only that node knows its server.properties."""
    for name, word in (("1", "expected 3000"), ("x", "must be an integer")):
        for type in (4, 8):
            result = describe(three, type, name)
            assert result.error_code == ErrorCode.INVALID_REQUEST
            assert word in result.error_message


def test_a_group_is_described_with_every_key_and_its_sources(make_lab: Any) -> None:
    lab = make_lab(static={"group.consumer.session.timeout.ms": "46000"})
    alter(lab, 32, "g", ("consumer.heartbeat.interval.ms", SET, " 7000 "))

    found = {
        config.name: config for config in describe(lab, 32, "g", include_synonyms=True).configs
    }

    assert len(found) == 17
    heartbeat = found["consumer.heartbeat.interval.ms"]
    assert (heartbeat.value, heartbeat.config_source) == ("7000", 8)
    assert [synonym.value for synonym in heartbeat.synonyms] == ["7000", "5000"]
    session = found["consumer.session.timeout.ms"]
    assert (session.value, session.config_source) == ("46000", 4)
    assert found["share.isolation.level"].config_source == 5


def test_a_subscription_is_described_with_every_key(three: Any) -> None:
    alter(three, 16, "m", ("interval.ms", SET, "1000"), ("metrics", SET, "a.,a.,b."))

    found = {
        config.name: config for config in describe(three, 16, "m", include_synonyms=True).configs
    }

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
