"""IncrementalAlterConfigs and AlterConfigs (KIP-133, KIP-339; Java: ConfigAdminManager)."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from kwire.conform.check import Check, CheckSection, exchange, gets, scenario
from kwire.conform.checks.topics.creating import create, new_topic
from kwire.conform.expectation import answers, expect_equal, expect_error, first_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, SentenceSource, ServerRole, guide, kafka, kip
from kwire.error_codes import ErrorCode
from kwire.messages import a33_alter_configs
from kwire.messages.a32_describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kwire.messages.config_resource import ResourceType

SECTION = CheckSection("configs/incremental", "IncrementalAlterConfigs and AlterConfigs")

_SET, _DELETE, _APPEND, _SUBTRACT, _NO_OPERATION = 0, 1, 2, 3, 9
_TOPIC, _BROKERS = ResourceType.TOPIC, ResourceType.BROKER
_NO_TYPE = 99
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
    expect_error(await create(server, topic), ErrorCode.NONE)
    return topic.name


def _refused(
    sentence: str,
    source: SentenceSource,
    change: _Change,
    *codes: int,
    role: ServerRole = ServerRole.ANY,
) -> Check:
    """Return a check of one change of a new topic."""

    @scenario(gets(sentence, *codes), source, role=role, needs=Need.RESOURCES)
    async def check(server: Server) -> None:
        expect_error(await _alter(server, _resource(await _topic(server), change)), *codes)

    return check


async def _value(server: Server, topic: str, key: str = "retention.ms") -> str | None:
    resource = DescribeConfigsResource(
        resource_type=_TOPIC, resource_name=topic, configuration_keys=(key,)
    )
    answer = await server.ask(DescribeConfigsRequest(resources=[resource]))
    expect_error(answer, ErrorCode.NONE)
    value: str | None = answer.results[0].configs[0].value
    return value


async def _becomes(server: Server, topic: str, value: str, key: str = "retention.ms") -> None:
    """Demand that a topic soon has a value; the last that came is in the report."""

    async def is_there() -> bool:
        return await _value(server, topic, key) == value

    await server.wait_for(f"{key}={value} of {topic}", is_there)


@SECTION.refuses(
    2,
    kafka("ConfigurationControlManager.validateAlterConfig"),
    ErrorCode.INVALID_CONFIG,
    differs=(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,),
)
async def _(server: Server) -> Any:
    """An unknown configuration is reported before an unknown topic."""
    change = _Change(_SET, "1", "no.such.config")
    return await _alter(server, _resource(server.name(), change))


SECTION[3] = _refused(
    "A configuration that topics do not have gets",
    guide("Error Codes"),
    _Change(_SET, "1", "no.such.config"),
    ErrorCode.INVALID_CONFIG,
)
SECTION[4] = _refused(
    "A value that is not of its configuration's type gets",
    guide("Error Codes"),
    _Change(_SET, "soon"),
    ErrorCode.INVALID_CONFIG,
)
SECTION[5] = _refused(
    "SET without a value gets",
    _JAVA,
    _Change(_SET),
    ErrorCode.INVALID_REQUEST,
    ErrorCode.INVALID_CONFIG,
    role=ServerRole.BROKER,
)
SECTION[6] = _refused(
    "APPEND to a key that is not a list gets",
    _KIP,
    _Change(_APPEND, "1000"),
    ErrorCode.INVALID_CONFIG,
    ErrorCode.INVALID_REQUEST,
)
SECTION[7] = _refused(
    "SUBTRACT from a key that is not a list gets",
    _KIP,
    _Change(_SUBTRACT, "1000"),
    ErrorCode.INVALID_CONFIG,
    ErrorCode.INVALID_REQUEST,
)


async def _is_led(server: Server) -> bool:
    change = _resource("", _Change(_SET, "1", "log.cleaner.threads"), kind=_BROKERS)
    return first_error(await _alter(server, change, validate_only=True)) == ErrorCode.NONE


@SECTION.check(8, _KIP, needs=Need.THROW_AWAY, alone=True)
async def _(server: Server) -> None:
    """An unknown operation gets INVALID_REQUEST, and the controller does not resign."""
    change = _resource("", _Change(_NO_OPERATION, "1", "log.cleaner.threads"), kind=_BROKERS)
    if server.target.role is ServerRole.BROKER:  # which looks at such changes of brokers itself
        change = _resource(await server.topic(), _Change(_NO_OPERATION, "1"))
    answer = await _alter(server, change, validate_only=True)
    if first_error(answer) != ErrorCode.INVALID_REQUEST:  # what follows needs a controller again
        await asyncio.sleep(_RESIGNATION)
        await server.wait_for("an active controller", lambda: _is_led(server))
    expect_error(answer, ErrorCode.INVALID_REQUEST)


@SECTION.broker_refuses(9, _JAVA, ErrorCode.INVALID_REQUEST)
async def _(server: Server) -> Any:
    """A key that stands twice in a resource gets"""
    resource = _resource(await _topic(server), _Change(_SET, "1000"), _Change(_SET, "2000"))
    return await _alter(server, resource)


@SECTION.refuses(10, _KIP, ErrorCode.INVALID_REQUEST, needs=Need.RESOURCES)
async def _(server: Server) -> Any:
    """A resource that stands twice in a request gets"""
    name = await _topic(server)
    first, second = _resource(name, _Change(_SET, "1000")), _resource(name, _Change(_DELETE))
    return await _alter(server, first, second)


@SECTION.check(11, guide("Network"))
async def _(server: Server) -> None:
    """AlterConfigs with a resource that stands twice is answered."""
    resource = a33_alter_configs.AlterConfigsResource(
        resource_type=_TOPIC, resource_name=server.name(), configs=[]
    )
    request = a33_alter_configs.AlterConfigsRequest(resources=[resource] * 2, validate_only=True)
    await server.ask(request, timeout=3.0)


@SECTION.check(12, _JAVA)
async def _(server: Server) -> None:
    """A type of resource that does not exist gets INVALID_REQUEST or UNSUPPORTED_VERSION."""
    answer = await _alter(server, _resource("kwire-conform", _Change(_SET, "1"), kind=_NO_TYPE))
    expect_error(answer, ErrorCode.INVALID_REQUEST, ErrorCode.UNSUPPORTED_VERSION)


SECTION[13] = exchange(
    "A key that is fixed while a broker runs gets",
    kip(226, "Proposed Changes"),
    send=IncrementalAlterConfigsRequest(
        resources=[_resource("", _Change(_SET, "7", "broker.id"), kind=_BROKERS)],
        validate_only=True,
    ),
    expect=answers(ErrorCode.INVALID_REQUEST) | answers(ErrorCode.INVALID_CONFIG),
    role=ServerRole.BROKER,
)


@SECTION.broker_check(14, _KIP)
async def _(server: Server) -> None:
    """SET sets a value, DELETE restores the default."""
    topic = await server.topic()
    default = await _value(server, topic)
    expect_error(await _alter(server, _resource(topic, _Change(_SET, "86400000"))), ErrorCode.NONE)
    await _becomes(server, topic, "86400000")
    expect_error(await _alter(server, _resource(topic, _Change(_DELETE))), ErrorCode.NONE)
    await _becomes(server, topic, default or "")


@SECTION.broker_check(15, _KIP)
async def _(server: Server) -> None:
    """APPEND adds to a list, SUBTRACT removes from it."""
    topic = await server.topic(cleanup_policy="delete")
    key = "cleanup.policy"
    expect_error(
        await _alter(server, _resource(topic, _Change(_APPEND, "compact", key))), ErrorCode.NONE
    )
    await _becomes(server, topic, "delete,compact", key)
    expect_error(
        await _alter(server, _resource(topic, _Change(_SUBTRACT, "delete", key))), ErrorCode.NONE
    )
    await _becomes(server, topic, "compact", key)


@SECTION.broker_check(16, kip(339, "Motivation"))
async def _(server: Server) -> None:
    """Other configurations of a resource stay as they are."""
    topic = await server.topic(retention_ms="86400000")
    change = _Change(_SET, "2000000", "segment.bytes")
    expect_error(await _alter(server, _resource(topic, change)), ErrorCode.NONE)
    await _becomes(server, topic, "2000000", "segment.bytes")
    expect_equal("retention.ms", await _value(server, topic), "86400000")


@SECTION.broker_check(17, kip(133, "AlterConfigs"))
async def _(server: Server) -> None:
    """AlterConfigs resets the keys that it does not name."""
    topic = await server.topic(retention_ms="86400000")
    (await server.connection()).demand_since(a33_alter_configs.AlterConfigsRequest, 0)
    config = a33_alter_configs.AlterableConfig(name="segment.bytes", value="2000000")
    resource = a33_alter_configs.AlterConfigsResource(
        resource_type=_TOPIC, resource_name=topic, configs=[config]
    )
    request = a33_alter_configs.AlterConfigsRequest(resources=[resource])
    expect_error(await server.ask_controller(request), ErrorCode.NONE)
    await _becomes(server, topic, "2000000", "segment.bytes")
    expect_equal("retention.ms is 86400000", await _value(server, topic) == "86400000", False)


@SECTION.broker_check(18, _KIP)
async def _(server: Server) -> None:
    """A change that is only validated is not made."""
    topic = await server.topic(retention_ms="86400000")
    change = _resource(topic, _Change(_SET, "1000"))
    expect_error(await _alter(server, change, validate_only=True), ErrorCode.NONE)
    # another change that is made shows when the first would have been
    other = _resource(topic, _Change(_SET, "2000000", "segment.bytes"))
    expect_error(await _alter(server, other), ErrorCode.NONE)
    await _becomes(server, topic, "2000000", "segment.bytes")
    expect_equal("retention.ms", await _value(server, topic), "86400000")


@SECTION.broker_check(19, _KIP)
async def _(server: Server) -> None:
    """One bad change of a resource keeps all its changes from being made."""
    topic = await server.topic(retention_ms="86400000")
    bad = _resource(topic, _Change(_SET, "1000"), _Change(_SET, "soon", "segment.ms"))
    expect_error(await _alter(server, bad), ErrorCode.INVALID_CONFIG)
    other = _resource(topic, _Change(_SET, "2000000", "segment.bytes"))
    expect_error(await _alter(server, other), ErrorCode.NONE)
    await _becomes(server, topic, "2000000", "segment.bytes")
    expect_equal("retention.ms", await _value(server, topic), "86400000")


@SECTION.check(20, _KIP, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """One resource's error does not keep another from being changed."""
    topic, other = await _topic(server), server.name()
    change = _Change(_SET, "86400000")
    answer = await _alter(server, _resource(other, change), _resource(topic, change))
    codes = {result.resource_name: result.error_code for result in answer.responses}
    expect_equal(
        "errors", codes, {other: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, topic: ErrorCode.NONE}
    )
