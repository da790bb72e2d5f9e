"""IncrementalAlterConfigs, after Kafka's ConfigurationControlManagerTest."""

from random import Random
from typing import Any

import pytest

from kwire.controller.state_machine.quorum_controller import QuorumController
from kwire.error_codes import ErrorCode
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kwire.messages.config_resource import ResourceType
from kwire.messages.records.config import ConfigRecord
from tests.support.controller.handlers.config_requests import (
    alter,
)
from tests.support.controller.live.config_script import NUMBERS

SET, DELETE, APPEND, SUBTRACT = range(4)
INVALID_CONFIG = ErrorCode.INVALID_CONFIG


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
    # Kafka's brokers refuse this one; its controller deletes.
    assert alter(three, 2, "foo", ("cleanup.policy", SET, None)) == 0
    assert not three.image.configs.of(ResourceType.TOPIC, "foo")


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
        (2, "foo", ("cleanup.policy", APPEND, None), ErrorCode.INVALID_REQUEST),
        (2, "foo", ("cleanup.policy", SUBTRACT, None), ErrorCode.INVALID_REQUEST),
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


@pytest.mark.parametrize("name", NUMBERS)
def test_a_broker_may_be_named_by_any_number_that_java_reads(three: Any, name: str) -> None:
    code = 0 if int(name) in three.image.cluster.brokers else ErrorCode.BROKER_ID_NOT_REGISTERED
    assert alter(three, 4, name, ("log.cleaner.threads", SET, "2")) == code
    assert bool(three.image.configs.of(ResourceType.BROKER, name)) == (code == 0)


def test_of_several_changes_of_one_key_the_last_counts(three: Any) -> None:
    """A Map in Java's ControllerApis; the others are not even looked at."""
    three.create("foo", (1,))
    wrong, right = ("retention.ms", APPEND, "1"), ("retention.ms", SET, "2")
    assert alter(three, 2, "foo", wrong, right) == 0
    assert dict(three.image.configs.of(ResourceType.TOPIC, "foo")) == {"retention.ms": "2"}
    assert alter(three, 2, "foo", right, wrong) == INVALID_CONFIG


LEVELS: list[tuple[str, list[tuple[str, int, str | None]], int]] = [
    ("3000", [("root", SET, "ERROR"), ("root", SET, "DEBUG")], 0),
    ("3000", [("kwire", DELETE, None)], 0),
    ("+3000", [("root", SET, "TRACE"), ("kafka", SET, "INFO")], INVALID_CONFIG),
    ("3000", [("root", SET, "debug")], INVALID_CONFIG),
    ("3000", [("root", SET, None)], INVALID_CONFIG),
    ("3000", [("root", DELETE, None)], ErrorCode.INVALID_REQUEST),
    ("3000", [("root", 9, "INFO")], ErrorCode.INVALID_REQUEST),
    ("3001", [("root", SET, "INFO")], ErrorCode.INVALID_REQUEST),
]
"""Changes of log levels by the resource's name, with their codes."""


def test_log_levels_are_set_by_the_node_that_is_asked_and_are_in_no_record(lab: Any) -> None:
    """KIP-919: whether it leads or not."""
    known = {"root": "INFO", "kwire": "INFO"}
    lab.controller = QuorumController(lab.controller.config, Random(0), lambda: known)
    requested = [
        AlterConfigsResource(
            resource_type=ResourceType.BROKER_LOGGER,
            resource_name=name,
            configs=[
                AlterableConfig(name=logger, config_operation=operation, value=level)
                for logger, operation, level in changes
            ],
        )
        for name, changes, _ in LEVELS
    ]
    request = IncrementalAlterConfigsRequest(resources=requested)

    answer = lab.answer(request)

    codes = [result.error_code for result in answer.response.responses]
    assert codes == [code for _, _, code in LEVELS]
    assert answer.log_levels == {"root": "DEBUG", "kwire": None}
    assert (answer.records, answer.wait_for) == ((), None)
    assert not lab.answer(request.replace(validate_only=True)).log_levels
    topic = AlterConfigsResource(resource_type=ResourceType.TOPIC, resource_name="t")
    both = lab.answer(request.replace(resources=[*requested, topic]))
    assert {one.error_code for one in both.response.responses} == {ErrorCode.NOT_CONTROLLER}
    assert not both.log_levels


def test_a_change_is_only_validated_where_that_is_wanted(three: Any) -> None:
    before = three.end_offset

    assert alter(three, 4, "", ("a", SET, "1"), validate_only=True) == ErrorCode.NONE
    assert three.end_offset == before


def test_a_value_has_no_more_bytes_than_a_record_holds(three: Any) -> None:
    """Kafka's record fails at 32,768 of them, whatever the number of characters."""
    half = "é" * 8_192
    assert alter(three, 4, "1", ("metric.reporters", SET, half)) == 0
    code = alter(three, 4, "1", ("metric.reporters", APPEND, f"{half}b"))
    assert code == ErrorCode.INVALID_CONFIG


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
