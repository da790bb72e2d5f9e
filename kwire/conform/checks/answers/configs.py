"""Whole answers about configurations."""

from __future__ import annotations

from typing import Any

from kwire.codec.declaration import Request
from kwire.conform.check import CheckSection, scenario
from kwire.conform.checks.topics.creating import create, new_topic, some_broker
from kwire.conform.expectation import expect_equal, expect_error, first_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, ServerRole, kip, schema
from kwire.conform.whole_answer import (
    ANYTHING,
    FILLED,
    expect_in_each_version,
    expect_whole,
    filled,
    including,
    one_of,
)
from kwire.error_codes import ErrorCode
from kwire.messages import (
    AlterConfigsRequest,
    DescribeConfigsRequest,
    IncrementalAlterConfigsRequest,
    ListConfigResourcesRequest,
)
from kwire.messages.config_resource import ResourceType

SECTION = CheckSection("answers/configs", "Configurations")

_TOPIC_SOURCE, _BROKER_SOURCES, _DEFAULT_SOURCE = 1, (2, 3, 4, 5), 5
_INT, _LONG, _PASSWORD = 3, 5, 9
_KEYS = ("retention.ms", "index.interval.bytes", "max.message.bytes")
_OWN: dict[str, str | None] = {"retention.ms": "7000", "index.interval.bytes": "5000"}
_CODES = (ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def _resource(name: str, kind: ResourceType = ResourceType.TOPIC, **more: Any) -> dict[str, Any]:
    return {"resource_type": kind, "resource_name": name, **more}


async def _topic(server: Server) -> str:
    """Create a topic with configurations of its own; return its name."""
    topic = new_topic(server.name(), configs=_OWN)
    expect_error(await create(server, topic), ErrorCode.NONE)
    if server.target.role is ServerRole.BROKER:
        await server.leader(topic.name)
    return topic.name


async def _until_known(server: Server, request: DescribeConfigsRequest) -> None:
    async def known() -> bool:
        return not first_error(await server.ask(request))

    await server.wait_for("the topic", known)


@SECTION.check(1, schema("DescribeConfigsResponse"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """DescribeConfigs tells of each key its value, its sources and its type, in every version."""
    name = await _topic(server)
    texts = FILLED if server.target.role is ServerRole.BROKER else ANYTHING
    own = [{"name": k, "value": v, "source": _TOPIC_SOURCE} for k, v in _OWN.items()]
    below = {"name": "log.index.interval.bytes", "value": FILLED, "source": _DEFAULT_SOURCE}
    synonyms = [including(own[0]), including(own[1], below)]
    configs = [
        *(
            {
                "name": key,
                "value": value,
                "config_source": _TOPIC_SOURCE,
                "synonyms": others,
                "config_type": kind,
                "documentation": texts,
            }
            for (key, value), others, kind in zip(
                _OWN.items(), synonyms, (_LONG, _INT), strict=True
            )
        ),
        {
            "name": "max.message.bytes",
            "value": FILLED,
            "is_default": ANYTHING,
            "config_source": one_of(*_BROKER_SOURCES),
            "synonyms": FILLED,
            "config_type": _INT,
            "documentation": texts,
        },
    ]
    wanted = _resource(name, configuration_keys=_KEYS)
    request = filled(
        DescribeConfigsRequest,
        resources=[wanted],
        include_synonyms=True,
        include_documentation=True,
    )
    expected = {"results": [_resource(name, configs=configs)]}
    await _until_known(server, request)
    await expect_in_each_version(await server.connection(), request, expected)


_NEW_VALUE = [{"name": "retention.ms", "value": "8000"}]


def _answers_each(number: int, api: type[Request]) -> None:
    async def run(server: Server) -> None:
        names = await _topic(server), server.name()
        request = filled(api, resources=[_resource(name, configs=_NEW_VALUE) for name in names])
        results = [_resource(n, error_code=c) for n, c in zip(names, _CODES, strict=True)]
        await expect_in_each_version(
            await server.connection(), request, {"responses": results}, server.ask_controller
        )

    name = api.__name__.removesuffix("Request")
    sentence = f"{name} answers each resource once, by type and name, in every version."
    SECTION[number] = scenario(sentence, schema(f"{name}Response"), needs=Need.RESOURCES)(run)


_answers_each(2, AlterConfigsRequest)
_answers_each(3, IncrementalAlterConfigsRequest)


@SECTION.check(4, schema("ListConfigResourcesResponse"), role=ServerRole.BROKER)
async def _(server: Server) -> None:
    """ListConfigResources lists each broker once, by type and name."""
    resources = [_resource(str(node), ResourceType.BROKER) for node in server.target.nodes]
    connection = await server.connection()
    connection.demand_since(ListConfigResourcesRequest, 1)
    request = ListConfigResourcesRequest(resource_types=(ResourceType.BROKER,))
    answer = await connection.ask(request)
    expect_whole(answer, {"config_resources": resources}, 1)


@SECTION.check(5, schema("AlterConfigsRequest", "ValidateOnly"), needs=Need.RESOURCES)
async def _(server: Server) -> None:
    """AlterConfigs that only validates changes nothing."""
    name = await _topic(server)
    changed = _resource(name, configs=_NEW_VALUE)
    request = filled(AlterConfigsRequest, resources=[changed], validate_only=True)
    expect_error(await server.ask_controller(request), ErrorCode.NONE)
    wanted = _resource(name, configuration_keys=_KEYS[:1])
    answer = await server.ask(filled(DescribeConfigsRequest, resources=[wanted]))
    expect_equal("retention.ms", answer.results[0].configs[0].value, "7000")


@SECTION.check(6, kip(133, "DescribeConfigs"), role=ServerRole.BROKER)
async def _(server: Server) -> None:
    """A broker's password is marked as sensitive, and has no value, in every version."""
    name = str(some_broker(server))
    key = "ssl.key.password"
    config = {
        "name": key,
        "value": None,
        "is_default": ANYTHING,
        "config_source": one_of(*_BROKER_SOURCES),
        "is_sensitive": True,
        "synonyms": ANYTHING,
        "config_type": _PASSWORD,
        "documentation": FILLED,
    }
    wanted = _resource(name, ResourceType.BROKER, configuration_keys=(key,))
    request = filled(DescribeConfigsRequest, resources=[wanted], include_documentation=True)
    expected = {"results": [_resource(name, ResourceType.BROKER, configs=[config])]}
    await expect_in_each_version(await server.node(int(name)), request, expected)
