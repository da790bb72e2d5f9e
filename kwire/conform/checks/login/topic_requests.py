"""Effective requests about topics: settings, partitions, records, and the offsets of a group."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from kwire.conform.checks.login.effective_request import EffectiveRequest, Prepare, visible_error
from kwire.conform.checks.records.log import PRODUCE_BY_NAME, batch, produce_request
from kwire.conform.checks.topics.creating import create, delete_afterwards, new_topic
from kwire.conform.expectation import first_error
from kwire.conform.reaction import error_text
from kwire.conform.server import Server
from kwire.conform.vocabulary import Skipped
from kwire.conform.whole_answer import filled
from kwire.error_codes import ErrorCode
from kwire.messages import (
    AlterConfigsRequest,
    CreatePartitionsRequest,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DescribeConfigsRequest,
    IncrementalAlterConfigsRequest,
    ListOffsetsRequest,
    OffsetCommitRequest,
    OffsetFetchRequest,
)
from kwire.messages.config_resource import ResourceType

_DELETE_BY_NAME, _COMMIT_BY_NAME, _FETCH_ONE_GROUP = 5, 9, 7
"""The last versions in which topics have names, and a request one group."""
_TIMEOUT_MS = 10_000
_SETTING, _VALUE = "retention.ms", "86400001"
_CONSUMER, _LATEST = -1, -1
_OFFSET = 7
_TOPIC = {"resource_type": ResourceType.TOPIC}


async def _create_topics(server: Server) -> EffectiveRequest:
    topic = server.name()
    delete_afterwards(server, topic)
    return EffectiveRequest(
        request=CreateTopicsRequest(topics=[new_topic(topic)]),
        happened=partial(_has_topic, server, topic),
    )


async def _delete_topics(server: Server) -> EffectiveRequest:
    topic = await _own_topic(server)
    request = DeleteTopicsRequest(topic_names=(topic,), timeout_ms=_TIMEOUT_MS)

    async def is_gone() -> bool:
        return not await _has_topic(server, topic)

    version = (await server.connection()).version_up_to(request, _DELETE_BY_NAME)
    return EffectiveRequest(request=request, happened=is_gone, version=version)


async def _create_partitions(server: Server) -> EffectiveRequest:
    topic = await _own_topic(server)

    def two(*, validate_only: bool) -> CreatePartitionsRequest:
        part = {"name": topic, "count": 2, "assignments": None}
        own = {"timeout_ms": _TIMEOUT_MS, "validate_only": validate_only}
        return filled(CreatePartitionsRequest, topics=[part], **own)

    async def has_two() -> bool:
        answer = await server.ask_controller(two(validate_only=True))
        return visible_error(answer) == ErrorCode.INVALID_PARTITIONS

    return EffectiveRequest(request=two(validate_only=False), happened=has_two)


async def _configs(
    api: type[AlterConfigsRequest] | type[IncrementalAlterConfigsRequest], server: Server
) -> EffectiveRequest:
    topic = await _own_topic(server)
    resource = {**_TOPIC, "resource_name": topic, "configs": [{"name": _SETTING, "value": _VALUE}]}
    request = filled(api, resources=[resource])
    return EffectiveRequest(request=request, happened=partial(_is_set, server, topic))


async def _produce(server: Server) -> EffectiveRequest:
    topic = await server.topic()
    leader = await server.leader(topic)
    request = produce_request(topic, batch())
    asked = {"name": topic, "partitions": [{"timestamp": _LATEST}]}
    latest = filled(ListOffsetsRequest, replica_id=_CONSUMER, topics=[asked])

    async def is_written() -> bool:
        answer = await server.ask(latest)
        return not visible_error(answer) and answer.topics[0].partitions[0].offset > 0

    _demand_here(server, leader.peer)
    version = leader.version_up_to(request, PRODUCE_BY_NAME)
    return EffectiveRequest(request=request, happened=is_written, version=version)


async def _offset_commit(server: Server) -> EffectiveRequest:
    topic, group = await server.topic(), server.group()
    coordinator = await server.coordinator(group)
    part = {"committed_offset": _OFFSET, "committed_metadata": ""}
    own = {"name": topic, "partitions": [part]}
    request = filled(OffsetCommitRequest, group_id=group, topics=[own])

    async def is_committed() -> bool:
        wanted = {"name": topic, "partition_indexes": (0,)}
        asked = filled(OffsetFetchRequest, group_id=group, topics=[wanted])
        connection = await server.connection()
        version = connection.version_up_to(asked, _FETCH_ONE_GROUP)
        answer = await connection.ask_coordinator(asked, version)
        return (
            not visible_error(answer) and answer.topics[0].partitions[0].committed_offset == _OFFSET
        )

    _demand_here(server, coordinator.peer)
    version = coordinator.version_up_to(request, _COMMIT_BY_NAME)
    return EffectiveRequest(request=request, happened=is_committed, version=version)


async def _own_topic(server: Server) -> str:
    """Create a topic of one partition; return its name. Raises Skipped."""
    name = server.name()
    code = visible_error(await create(server, new_topic(name)))
    if code:
        raise Skipped(f"the cluster creates no topic: {error_text(code)}")
    # A broker learns of it a moment later.
    await server.wait_for(f"the topic {name}", partial(_is_described, server, name))
    return name


async def _is_described(server: Server, topic: str) -> bool:
    return first_error(await server.ask(_setting(topic))) == ErrorCode.NONE


async def _has_topic(server: Server, topic: str) -> bool:
    request = CreateTopicsRequest(topics=[new_topic(topic)], validate_only=True)
    return visible_error(await server.ask_controller(request)) == ErrorCode.TOPIC_ALREADY_EXISTS


async def _is_set(server: Server, topic: str) -> bool:
    answer = await server.ask(_setting(topic))
    return not visible_error(answer) and answer.results[0].configs[0].value == _VALUE


def _setting(topic: str) -> DescribeConfigsRequest:
    resource = {**_TOPIC, "resource_name": topic, "configuration_keys": (_SETTING,)}
    return filled(DescribeConfigsRequest, resources=[resource])


def _demand_here(server: Server, peer: str) -> None:
    """Raise Skipped unless the server under test is the one that a request is for."""
    if peer != str(server.target.address):
        raise Skipped(f"what it is about belongs to another node, {peer}")


TOPIC_REQUESTS: Mapping[str, Prepare] = {
    "Produce": _produce,
    "OffsetCommit": _offset_commit,
    "CreateTopics": _create_topics,
    "DeleteTopics": _delete_topics,
    "AlterConfigs": partial(_configs, AlterConfigsRequest),
    "CreatePartitions": _create_partitions,
    "IncrementalAlterConfigs": partial(_configs, IncrementalAlterConfigsRequest),
}
"""By the name of their API."""
