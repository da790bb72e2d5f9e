"""Helps checks to create topics: whatever a server creates, asked for or not, is deleted again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kwire.conform.check import Check, gets, scenario
from kwire.conform.expectation import expect_error
from kwire.conform.server import Server
from kwire.conform.vocabulary import SentenceSource, ServerRole, Skipped
from kwire.error_codes import ErrorCode
from kwire.messages.a19_create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)

TopicBuilder = Callable[[Server], CreatableTopic]


def new_topic(
    name: str,
    *,
    partitions: int = 1,
    replicas: int = 1,
    assignments: Mapping[int, tuple[int, ...]] | None = None,
    configs: dict[str, str | None] | None = None,
) -> CreatableTopic:
    """Return a topic to create."""
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replicas,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
            for index, brokers in (assignments or {}).items()
        ],
        configs=[
            CreatableTopicConfig(name=key, value=value) for key, value in (configs or {}).items()
        ],
    )


async def create(
    server: Server, *topics: CreatableTopic, version: int | None = None, validate_only: bool = False
) -> Any:
    """Ask for topics; those that come about are deleted after the check. Return the answer.

    Raises Skipped at a controller that has no broker for a single replica.
    """
    request = CreateTopicsRequest(topics=list(topics), validate_only=validate_only)
    # Before it is asked: a run may be stopped while the answer is under way.
    for topic in topics:
        delete_afterwards(server, topic.name)
    answer = await server.ask_controller(request, version)
    for result in answer.topics:
        if result.error_code:
            server.nothing_to_remove(f"topic {result.name}")
    if server.target.role is ServerRole.CONTROLLER:
        modest = {topic.name for topic in topics if topic.replication_factor == 1}
        if any(
            r.error_code == ErrorCode.INVALID_REPLICATION_FACTOR and r.name in modest
            for r in answer.topics
        ):
            raise Skipped("the controller has no broker for a single replica")
    return answer


def delete_afterwards(server: Server, name: str) -> None:
    """Have a topic deleted after the check, if there is one."""
    server.remove_afterwards(f"topic {name}", lambda: server.delete_topic(name))


def some_broker(server: Server) -> int:
    """Return the id of a broker. Raises Skipped if the server names none."""
    for node in server.target.nodes:
        return node
    raise Skipped("the server names no broker")


def refused(
    sentence: str,
    source: SentenceSource,
    topic: TopicBuilder,
    code: int,
    *others: int,
    differs: tuple[int, ...] = (),
    validate_only: bool = False,
    role: ServerRole = ServerRole.ANY,
) -> Check:
    """Return a check that a topic is not created, for one of these reasons.

    differs: legal ones that Apache Kafka does not give.
    """

    @scenario(gets(sentence, code), source, role=role)
    async def check(server: Server) -> None:
        answer = await create(server, topic(server), validate_only=validate_only)
        expect_error(answer, code, *others, differs=differs)

    return check
