"""CreateTopics, API key 19."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import (
    array,
    boolean,
    field,
    int8,
    int16,
    int32,
    nullable,
    since,
    string,
    tagged,
    uuid,
)


class CreatableReplicaAssignment(Group):
    partition_index: int = int32
    broker_ids: tuple[int, ...] = array(int32)


class CreatableTopicConfig(Group):
    name: str = string
    value: str | None = nullable(string)


class CreatableTopic(Group):
    name: str = string
    num_partitions: int = int32
    replication_factor: int = int16
    assignments: list[CreatableReplicaAssignment] = array(CreatableReplicaAssignment)
    configs: list[CreatableTopicConfig] = array(CreatableTopicConfig)


class CreateTopicsRequest(
    Request, key=19, versions="0-7", flexible="5+", listeners="broker controller"
):
    """An admin creates topics, or only has their creation checked (KIP-4)."""

    topics: list[CreatableTopic] = array(CreatableTopic)
    timeout_ms: int = field(int32, default=60000)
    validate_only: bool = since(1, boolean)


class CreatableTopicConfigs(Group):
    name: str = since(5, string)
    value: str | None = since(5, nullable(string))
    read_only: bool = since(5, boolean)
    config_source: int = since(5, int8, default=-1, ignorable=True)
    is_sensitive: bool = since(5, boolean)


class CreatableTopicResult(Group):
    name: str = string
    topic_id: UUID = since(7, uuid, ignorable=True)
    error_code: int = int16
    error_message: str | None = since(1, nullable(string), ignorable=True)
    topic_config_error_code: int = tagged(0, int16, "5+", ignorable=True)
    num_partitions: int = since(5, int32, default=-1, ignorable=True)
    replication_factor: int = since(5, int16, default=-1, ignorable=True)
    configs: list[CreatableTopicConfigs] | None = since(
        5, nullable(array(CreatableTopicConfigs)), ignorable=True
    )


class CreateTopicsResponse(Response, key=19, versions="0-7", flexible="5+"):
    """The controller says which topics it made, with ids and configuration (KIP-4)."""

    throttle_time_ms: int = since(2, int32, ignorable=True)
    topics: list[CreatableTopicResult] = array(CreatableTopicResult)
