"""AlterConfigs, after Kafka's ConfigurationControlManagerTest."""

from typing import Any

import pytest

from kwire.error_codes import ErrorCode
from kwire.messages.a33_alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from kwire.messages.config_resource import ResourceType


def resource(type: int, name: str, **configs: str | None) -> AlterConfigsResource:
    """Return a resource with these values; _ stands for a dot."""
    return AlterConfigsResource(
        resource_type=type,
        resource_name=name,
        configs=[
            AlterableConfig(name=key.replace("_", "."), value=value)
            for key, value in configs.items()
        ],
    )


def codes(lab: Any, *resources: AlterConfigsResource, validate_only: bool = False) -> list[int]:
    """Replace configurations; return the code for each resource."""
    request = AlterConfigsRequest(resources=list(resources), validate_only=validate_only)
    return [item.error_code for item in lab.ask(request).responses]


def test_keys_that_are_not_named_or_have_no_value_are_deleted(three: Any) -> None:
    three.create("foo", (1,))
    assert codes(three, resource(2, "foo", retention_ms="5", cleanup_policy="compact")) == [0]
    assert codes(three, resource(2, "foo", segment_ms="7", retention_ms=None)) == [0]
    assert dict(three.image.configs.of(ResourceType.TOPIC, "foo")) == {"segment.ms": "7"}
    before = three.end_offset
    assert codes(three, resource(2, "foo", segment_ms="7")) == [0]
    assert three.end_offset == before


def test_a_brokers_value_is_written_again(three: Any) -> None:
    """KAFKA-14136: it has brokers load their files again."""
    for _ in range(2):
        before = three.end_offset
        assert codes(three, resource(4, "1", log_cleaner_threads="2")) == [0]
        assert three.end_offset == before + 1


def test_nothing_is_written_that_is_only_validated(three: Any) -> None:
    three.create("foo", (1,))
    before = three.end_offset
    assert codes(three, resource(2, "foo", retention_ms="5"), validate_only=True) == [0]
    assert three.end_offset == before


@pytest.mark.parametrize(
    ("type", "name", "configs", "code"),
    [
        (2, "foo", {"nonsense": "1"}, ErrorCode.INVALID_CONFIG),
        (2, "foo", {"retention_ms": "soon"}, ErrorCode.INVALID_CONFIG),
        (2, "bar", {"retention_ms": "1"}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (2, "", {}, ErrorCode.INVALID_REQUEST),
        (2, "a b", {}, ErrorCode.INVALID_TOPIC_EXCEPTION),
        (4, "9", {}, ErrorCode.BROKER_ID_NOT_REGISTERED),
        (8, "1", {}, ErrorCode.INVALID_REQUEST),
        (0, "foo", {}, ErrorCode.UNSUPPORTED_VERSION),
        (99, "foo", {}, ErrorCode.UNSUPPORTED_VERSION),
    ],
)
def test_refusals(
    three: Any, type: int, name: str, configs: dict[str, str], code: ErrorCode
) -> None:
    three.create("foo", (1,))
    before = three.end_offset
    assert codes(three, resource(type, name, **configs)) == [code]
    assert three.end_offset == before


def test_a_resource_that_occurs_twice_is_refused_once_and_others_are_altered(three: Any) -> None:
    three.create("foo", (1,))
    three.create("bar", (1,))
    twice = resource(2, "foo", retention_ms="1")
    answer = codes(three, twice, resource(2, "bar", retention_ms="2"), twice)
    assert answer == [ErrorCode.INVALID_REQUEST, 0]
    assert dict(three.image.configs.of(ResourceType.TOPIC, "foo")) == {}
    assert dict(three.image.configs.of(ResourceType.TOPIC, "bar")) == {"retention.ms": "2"}
