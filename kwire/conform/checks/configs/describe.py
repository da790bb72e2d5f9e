"""DescribeConfigs (KIP-133, KIP-226, KIP-569; Java: ConfigHelper.describeConfigs)."""

from __future__ import annotations

from typing import Any

from kwire.conform.check import Check, CheckSection, gets, scenario
from kwire.conform.checks.topics.creating import create, new_topic, some_broker
from kwire.conform.expectation import expect, expect_equal, expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import (
    ConformanceVerdict,
    Need,
    SentenceSource,
    ServerRole,
    Skipped,
    kafka,
    kip,
    schema,
)
from kwire.error_codes import ErrorCode
from kwire.messages.a32_describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from kwire.messages.config_resource import ConfigSource, ResourceType

SECTION = CheckSection("configs/describe", "DescribeConfigs")

_JAVA = kafka("ConfigHelper.describeConfigs")
_ABSENT = "2000000000"
_NO_TYPE = 99
_IDS = ("broker.id", "node.id")
_TYPES = {
    "unclean.leader.election.enable": 1,
    "compression.type": 2,
    "max.message.bytes": 3,
    "retention.ms": 5,
    "min.cleanable.dirty.ratio": 6,
    "cleanup.policy": 7,
}
"""Types of a topic's configurations: boolean, string, int, long, double, list (KIP-569)."""


async def _describe(
    server: Server, kind: int, *names: str, keys: tuple[str, ...] | None = None, **fields: Any
) -> Any:
    """Ask for configurations; keys: the wanted ones, None for all."""
    resources = [
        DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
        for name in names
    ]
    return await server.ask(DescribeConfigsRequest(resources=resources, **fields))


def _refused(
    sentence: str, source: SentenceSource, kind: int, name: str, code: int, *others: int
) -> Check:
    @scenario(gets(sentence, code), source)
    async def check(server: Server) -> None:
        expect_error(await _describe(server, kind, name or server.name()), code, *others)

    return check


async def _topic(server: Server, **configs: str | None) -> str:
    topic = new_topic(server.name(), configs=configs)
    expect_error(await create(server, topic), ErrorCode.NONE)
    await _known(server, topic.name)
    return topic.name


async def _known(server: Server, name: str) -> None:
    """Wait until the server itself, not only the controller, knows a topic."""

    async def found() -> bool:
        answer = await _describe(server, ResourceType.TOPIC, name)
        expect_error(answer, ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        code: int = answer.results[0].error_code
        return code == ErrorCode.NONE

    await server.wait_for(f"configurations of {name}", found)


SECTION[2] = _refused(
    "A name that no topic can have gets",
    kafka("Topic.validate"),
    ResourceType.TOPIC,
    "bad name",
    ErrorCode.INVALID_TOPIC_EXCEPTION,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
)
SECTION[3] = _refused(
    "A broker other than the one asked gets",
    kip(133, "DescribeConfigs"),
    ResourceType.BROKER,
    _ABSENT,
    ErrorCode.INVALID_REQUEST,
)
SECTION[4] = _refused(
    "A broker whose name is no number gets",
    _JAVA,
    ResourceType.BROKER,
    "one",
    ErrorCode.INVALID_REQUEST,
)
SECTION[5] = _refused(
    "A type of resource that does not exist gets", _JAVA, _NO_TYPE, "x", ErrorCode.INVALID_REQUEST
)
SECTION[6] = _refused(
    "The loggers of another node get",
    kip(412, "Public Interfaces"),
    ResourceType.BROKER_LOGGER,
    _ABSENT,
    ErrorCode.INVALID_REQUEST,
)


@SECTION.check(7, schema("DescribeConfigsRequest", "ConfigurationKeys"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """If the keys are null, all are described."""
    result = (await _describe(server, ResourceType.TOPIC, await _topic(server))).results[0]
    keys = {config.name for config in result.configs}
    expect(keys >= {"cleanup.policy", "retention.ms"}, "all of a topic's", sorted(keys))


@SECTION.check(8, schema("DescribeConfigsRequest", "ConfigurationKeys"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """Only the keys that were asked for are described."""
    topic = await _topic(server)
    answer = await _describe(server, ResourceType.TOPIC, topic, keys=("retention.ms",))
    keys = [config.name for config in answer.results[0].configs]
    expect_equal("keys", keys, ["retention.ms"])


@SECTION.check(9, _JAVA, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """A key that topics do not have is left out, without an error."""
    topic = await _topic(server)
    answer = await _describe(server, ResourceType.TOPIC, topic, keys=("no.such.config",))
    expect_error(answer, ErrorCode.NONE)
    expect_equal("configurations", answer.results[0].configs, [])


@SECTION.check(10, kip(226, "DescribeConfigs"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """Only a value that was set for the topic has the source TOPIC."""
    (await server.connection()).demand_since(DescribeConfigsRequest, 1)
    topic = await _topic(server, **{"retention.ms": "86400000"})
    result = (await _describe(server, ResourceType.TOPIC, topic)).results[0]
    own = {c.name: c.value for c in result.configs if c.config_source == ConfigSource.TOPIC}
    expect_equal("values of the topic", own, {"retention.ms": "86400000"})


@SECTION.check(11, kip(226, "DescribeConfigs"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """If synonyms are asked for, they come, the first with the value in force."""
    (await server.connection()).demand_since(DescribeConfigsRequest, 1)
    topic = await _topic(server, **{"retention.ms": "86400000"})
    keys = ("retention.ms",)
    answer = await _describe(server, ResourceType.TOPIC, topic, keys=keys, include_synonyms=True)
    config = answer.results[0].configs[0]
    expect(config.synonyms, "synonyms", "none")
    expect_equal("first synonym's value", config.synonyms[0].value, "86400000")


@SECTION.check(12, kip(226, "DescribeConfigs"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """If synonyms are not asked for, none come."""
    topic = await _topic(server, **{"retention.ms": "86400000"})
    result = (await _describe(server, ResourceType.TOPIC, topic)).results[0]
    synonyms = [config.name for config in result.configs if config.synonyms]
    differs = ConformanceVerdict.DIFFERS
    expect_equal("configurations with synonyms", synonyms, [], otherwise=differs)


@SECTION.check(13, kip(569, "Public Interfaces"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """From v3 on documentation comes if it is asked for, and is null otherwise."""
    (await server.connection()).demand_since(DescribeConfigsRequest, 3)
    topic, keys, texts = await _topic(server), ("retention.ms",), []
    for wanted in (True, False):
        answer = await _describe(
            server, ResourceType.TOPIC, topic, keys=keys, include_documentation=wanted
        )
        texts.append(answer.results[0].configs[0].documentation)
    expect_equal("documentation", texts[1], None)
    differs = ConformanceVerdict.DIFFERS
    expect_equal("documentation is there", bool(texts[0]), True, otherwise=differs)


@SECTION.check(14, kip(133, "DescribeConfigs"), role=ServerRole.BROKER)
async def _(server: Server) -> None:
    """A sensitive value, as every password is, is null."""
    broker = some_broker(server)
    connection = await server.node(broker)
    resource = DescribeConfigsResource(
        resource_type=ResourceType.BROKER, resource_name=str(broker), configuration_keys=None
    )
    answer = await connection.ask(DescribeConfigsRequest(resources=[resource]))
    expect_error(answer, ErrorCode.NONE)
    told = [config for config in answer.results[0].configs if config.value is not None]
    secrets = [c.name for c in told if c.is_sensitive or c.name.endswith("password")]
    expect_equal("sensitive values", secrets, [])


@SECTION.check(15, kip(133, "DescribeConfigs"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """One resource's error does not keep another from being described."""
    topic, other = await _topic(server), server.name()
    answer = await _describe(server, ResourceType.TOPIC, other, topic)
    codes = {result.resource_name: result.error_code for result in answer.results}
    expect_equal(
        "errors", codes, {other: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, topic: ErrorCode.NONE}
    )


@SECTION.check(16, kip(133, "DescribeConfigs"), role=ServerRole.BROKER, needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """A topic's configurations can be set; the id of a broker is read-only."""
    topic, broker = await _topic(server), some_broker(server)
    result = (await _describe(server, ResourceType.TOPIC, topic)).results[0]
    fixed = [config.name for config in result.configs if config.read_only]
    expect_equal("read-only configurations of a topic", fixed, [])
    resource = DescribeConfigsResource(
        resource_type=ResourceType.BROKER, resource_name=str(broker), configuration_keys=None
    )
    answer = await (await server.node(broker)).ask(DescribeConfigsRequest(resources=[resource]))
    expect_error(answer, ErrorCode.NONE)
    ids = {c.name: c.read_only for c in answer.results[0].configs if c.name in _IDS}
    if not ids:
        raise Skipped("the server describes no id of a broker")
    expect(all(ids.values()), "a read-only id of the broker", ids)


@SECTION.check(17, kip(569, "Public Interfaces"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """From v3 on a configuration has the type of its values."""
    (await server.connection()).demand_since(DescribeConfigsRequest, 3)
    topic = await _topic(server)
    result = (await _describe(server, ResourceType.TOPIC, topic, keys=tuple(_TYPES))).results[0]
    types = {config.name: config.config_type for config in result.configs}
    expect_equal("types", types, {name: kind for name, kind in _TYPES.items() if name in types})
    expect(types, "configurations", "none")
