"""IncrementalAlterConfigs and AlterConfigs (KIP-133, KIP-339; Java: ConfigAdminManager)."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from kwire.conform.check import Check, CheckSection, broker_scenario, exchange, scenario
from kwire.conform.checks.topics.creating import create, new_topic
from kwire.conform.expectation import answers, expect_equal, expect_error, first_error
from kwire.conform.needs import Need, ServerRole
from kwire.conform.server import Server
from kwire.conform.source import SentenceSource, guide, kafka, kip
from kwire.messages import a33_alter_configs
from kwire.messages.a32_describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kwire.messages.config_resource import ResourceType

_SET, _DELETE, _APPEND, _SUBTRACT, _NO_OPERATION = 0, 1, 2, 3, 9
_TOPIC, _BROKERS = ResourceType.TOPIC, ResourceType.BROKER
_NO_TYPE = 99
_INVALID_REQUEST, _UNSUPPORTED_VERSION = 42, 35
_RESIGNATION = 5.0
"""Seconds within which Kafka's active controller resigns of an operation that it does not know."""
_KIP = kip(339, "Public Interfaces")
_JAVA = kafka("ConfigAdminManager.preprocess")


class _Change(NamedTuple):
    operation: int
    value: str | None = None
    key: str = "retention.ms"


def _resource(name: str, *changes: _Change, kind: int = _TOPIC) -> AlterConfigsResource:
    configs = [
        AlterableConfig(name=change.key, config_operation=change.operation, value=change.value)
        for change in changes
    ]
    return AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)


async def _alter(
    server: Server, *resources: AlterConfigsResource, validate_only: bool = False
) -> Any:
    request = IncrementalAlterConfigsRequest(resources=list(resources), validate_only=validate_only)
    return await server.ask_controller(request)


async def _topic(server: Server, **configs: str | None) -> str:
    topic = new_topic(server.name(), configs=configs)
    expect_error(await create(server, topic), 0)
    return topic.name


def _refused(
    sentence: str,
    source: SentenceSource,
    change: _Change,
    *codes: int,
    role: ServerRole = ServerRole.ANY,
) -> Check:
    """Return a check of one change of a new topic."""

    @scenario(sentence, source, role=role, needs=Need.RESOURCES)
    async def check(server: Server) -> None:
        expect_error(await _alter(server, _resource(await _topic(server), change)), *codes)

    return check


async def _value(server: Server, topic: str, key: str = "retention.ms") -> str | None:
    resource = DescribeConfigsResource(
        resource_type=_TOPIC, resource_name=topic, configuration_keys=(key,)
    )
    answer = await server.ask(DescribeConfigsRequest(resources=[resource]))
    expect_error(answer, 0)
    value: str | None = answer.results[0].configs[0].value
    return value


async def _becomes(server: Server, topic: str, value: str, key: str = "retention.ms") -> None:
    """Demand that a topic soon has a value; the last that came is in the report."""

    async def is_there() -> bool:
        return await _value(server, topic, key) == value

    await server.wait_for(f"{key}={value} of {topic}", is_there)


@scenario("A topic that does not exist gets UNKNOWN_TOPIC_OR_PARTITION.", guide("Error Codes"))
async def _unknown(server: Server) -> None:
    expect_error(await _alter(server, _resource(server.name(), _Change(_SET, "1000"))), 3)


@scenario(
    "An unknown configuration is reported before an unknown topic.",
    kafka("ConfigurationControlManager.validateAlterConfig"),
)
async def _unknown_key_first(server: Server) -> None:
    change = _Change(_SET, "1", "no.such.config")
    expect_error(await _alter(server, _resource(server.name(), change)), 40, differs=(3,))


@scenario(
    "An unknown operation gets INVALID_REQUEST, and the controller does not resign.",
    _KIP,
    needs=Need.THROW_AWAY,  # Kafka's controller resigns of it
    alone=True,
)
async def _no_operation(server: Server) -> None:
    change = _resource("", _Change(_NO_OPERATION, "1", "log.cleaner.threads"), kind=_BROKERS)
    if server.target.role is ServerRole.BROKER:  # which looks at such changes of brokers itself
        change = _resource(await server.topic(), _Change(_NO_OPERATION, "1"))
    answer = await _alter(server, change, validate_only=True)
    if first_error(answer) != _INVALID_REQUEST:  # what follows needs a controller again
        await asyncio.sleep(_RESIGNATION)
        await server.wait_for("an active controller", lambda: _is_led(server))
    expect_error(answer, _INVALID_REQUEST)


async def _is_led(server: Server) -> bool:
    change = _resource("", _Change(_SET, "1", "log.cleaner.threads"), kind=_BROKERS)
    return first_error(await _alter(server, change, validate_only=True)) == 0


@scenario(
    "A type of resource that does not exist gets INVALID_REQUEST or UNSUPPORTED_VERSION.", _JAVA
)
async def _no_type(server: Server) -> None:
    answer = await _alter(server, _resource("kwire-conform", _Change(_SET, "1"), kind=_NO_TYPE))
    expect_error(answer, _INVALID_REQUEST, _UNSUPPORTED_VERSION)


@broker_scenario("A key that stands twice in a resource gets INVALID_REQUEST.", _KIP)
async def _key_twice(server: Server) -> None:
    resource = _resource(await _topic(server), _Change(_SET, "1000"), _Change(_SET, "2000"))
    expect_error(await _alter(server, resource), 42)


@scenario(
    "A resource that stands twice in a request gets INVALID_REQUEST.", _KIP, needs=Need.RESOURCES
)
async def _resource_twice(server: Server) -> None:
    name = await _topic(server)
    first, second = _resource(name, _Change(_SET, "1000")), _resource(name, _Change(_DELETE))
    expect_error(await _alter(server, first, second), 42)


@scenario(
    "AlterConfigs with a resource that stands twice gets INVALID_REQUEST.",
    guide("Network"),
)
async def _resource_twice_legacy(server: Server) -> None:
    resource = a33_alter_configs.AlterConfigsResource(
        resource_type=_TOPIC, resource_name=server.name(), configs=[]
    )
    request = a33_alter_configs.AlterConfigsRequest(resources=[resource] * 2, validate_only=True)
    expect_error(await server.ask(request, timeout=3.0), 42, differs=(0, 3))


@broker_scenario("SET sets a value, DELETE restores the default.", _KIP)
async def _set_and_delete(server: Server) -> None:
    topic = await server.topic()
    default = await _value(server, topic)
    expect_error(await _alter(server, _resource(topic, _Change(_SET, "86400000"))), 0)
    await _becomes(server, topic, "86400000")
    expect_error(await _alter(server, _resource(topic, _Change(_DELETE))), 0)
    await _becomes(server, topic, default or "")


@broker_scenario("APPEND adds to a list, SUBTRACT removes from it.", _KIP)
async def _append_and_subtract(server: Server) -> None:
    topic = await server.topic(cleanup_policy="delete")
    key = "cleanup.policy"
    expect_error(await _alter(server, _resource(topic, _Change(_APPEND, "compact", key))), 0)
    await _becomes(server, topic, "delete,compact", key)
    expect_error(await _alter(server, _resource(topic, _Change(_SUBTRACT, "delete", key))), 0)
    await _becomes(server, topic, "compact", key)


@broker_scenario("Other configurations of a resource stay as they are.", kip(339, "Motivation"))
async def _others_stay(server: Server) -> None:
    topic = await server.topic(retention_ms="86400000")
    change = _Change(_SET, "2000000", "segment.bytes")
    expect_error(await _alter(server, _resource(topic, change)), 0)
    await _becomes(server, topic, "2000000", "segment.bytes")
    expect_equal("retention.ms", await _value(server, topic), "86400000")


@broker_scenario("AlterConfigs resets the keys that it does not name.", kip(133, "AlterConfigs"))
async def _legacy_replaces(server: Server) -> None:
    topic = await server.topic(retention_ms="86400000")
    (await server.connection()).demand_since(a33_alter_configs.AlterConfigsRequest, 0)
    config = a33_alter_configs.AlterableConfig(name="segment.bytes", value="2000000")
    resource = a33_alter_configs.AlterConfigsResource(
        resource_type=_TOPIC, resource_name=topic, configs=[config]
    )
    request = a33_alter_configs.AlterConfigsRequest(resources=[resource])
    expect_error(await server.ask_controller(request), 0)
    await _becomes(server, topic, "2000000", "segment.bytes")
    expect_equal("retention.ms is 86400000", await _value(server, topic) == "86400000", False)


@broker_scenario("A change that is only validated is not made.", _KIP)
async def _validated(server: Server) -> None:
    topic = await server.topic(retention_ms="86400000")
    change = _resource(topic, _Change(_SET, "1000"))
    expect_error(await _alter(server, change, validate_only=True), 0)
    # another change that is made shows when the first would have been
    other = _resource(topic, _Change(_SET, "2000000", "segment.bytes"))
    expect_error(await _alter(server, other), 0)
    await _becomes(server, topic, "2000000", "segment.bytes")
    expect_equal("retention.ms", await _value(server, topic), "86400000")


@broker_scenario("One bad change of a resource keeps all its changes from being made.", _KIP)
async def _all_or_none(server: Server) -> None:
    topic = await server.topic(retention_ms="86400000")
    bad = _resource(topic, _Change(_SET, "1000"), _Change(_SET, "soon", "segment.ms"))
    expect_error(await _alter(server, bad), 40)
    other = _resource(topic, _Change(_SET, "2000000", "segment.bytes"))
    expect_error(await _alter(server, other), 0)
    await _becomes(server, topic, "2000000", "segment.bytes")
    expect_equal("retention.ms", await _value(server, topic), "86400000")


@scenario(
    "One resource's error does not keep another from being changed.", _KIP, needs=Need.RESOURCES
)
async def _one_of_two(server: Server) -> None:
    topic, other = await _topic(server), server.name()
    change = _Change(_SET, "86400000")
    answer = await _alter(server, _resource(other, change), _resource(topic, change))
    codes = {result.resource_name: result.error_code for result in answer.responses}
    expect_equal("errors", codes, {other: 3, topic: 0})


SECTION = CheckSection(
    "configs/incremental",
    "IncrementalAlterConfigs and AlterConfigs",
    {
        1: _unknown,
        2: _unknown_key_first,
        3: _refused(
            "A configuration that topics do not have gets INVALID_CONFIG.",
            guide("Error Codes"),
            _Change(_SET, "1", "no.such.config"),
            40,
        ),
        4: _refused(
            "A value that is not of its configuration's type gets INVALID_CONFIG.",
            guide("Error Codes"),
            _Change(_SET, "soon"),
            40,
        ),
        5: _refused(
            "SET without a value gets INVALID_REQUEST.",
            _JAVA,
            _Change(_SET),
            42,
            40,
            role=ServerRole.BROKER,
        ),
        6: _refused(
            "APPEND to a key that is not a list gets INVALID_CONFIG.",
            _KIP,
            _Change(_APPEND, "1000"),
            40,
            42,
        ),
        7: _refused(
            "SUBTRACT from a key that is not a list gets INVALID_CONFIG.",
            _KIP,
            _Change(_SUBTRACT, "1000"),
            40,
            42,
        ),
        8: _no_operation,
        9: _key_twice,
        10: _resource_twice,
        11: _resource_twice_legacy,
        12: _no_type,
        13: exchange(
            "A key that is fixed while a broker runs gets INVALID_REQUEST.",
            kip(226, "Proposed Changes"),
            send=IncrementalAlterConfigsRequest(
                resources=[_resource("", _Change(_SET, "7", "broker.id"), kind=_BROKERS)],
                validate_only=True,
            ),
            expect=answers(42) | answers(40),
            role=ServerRole.BROKER,
        ),
        14: _set_and_delete,
        15: _append_and_subtract,
        16: _others_stay,
        17: _legacy_replaces,
        18: _validated,
        19: _all_or_none,
        20: _one_of_two,
    },
)
