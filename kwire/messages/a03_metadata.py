"""Metadata, API key 3."""

from __future__ import annotations

from uuid import UUID

from kwire.codec.declaration import Group, Request, Response
from kwire.codec.notation import array, boolean, field, int16, int32, nullable, since, string, uuid


class MetadataRequestTopic(Group):
    topic_id: UUID = since(10, uuid, ignorable=True)
    name: str | None = nullable(string, "10+")


class MetadataRequest(Request, key=3, versions="0-13", flexible="9+", listeners="broker"):
    """A client asks which brokers there are and who leads which partition."""

    topics: list[MetadataRequestTopic] | None = nullable(array(MetadataRequestTopic), "1+")
    allow_auto_topic_creation: bool = since(4, boolean, default=True)
    include_cluster_authorized_operations: bool = field(boolean, "8-10")
    include_topic_authorized_operations: bool = since(8, boolean)


class MetadataResponseBroker(Group):
    node_id: int = int32
    host: str = string
    port: int = int32
    rack: str | None = since(1, nullable(string), default=None, ignorable=True)


class MetadataResponsePartition(Group):
    error_code: int = int16
    partition_index: int = int32
    leader_id: int = int32
    leader_epoch: int = since(7, int32, default=-1, ignorable=True)
    replica_nodes: tuple[int, ...] = array(int32)
    isr_nodes: tuple[int, ...] = array(int32)
    offline_replicas: tuple[int, ...] = since(5, array(int32), ignorable=True)


class MetadataResponseTopic(Group):
    error_code: int = int16
    name: str | None = nullable(string, "12+")
    topic_id: UUID = since(10, uuid, ignorable=True)
    is_internal: bool = since(1, boolean, ignorable=True)
    partitions: list[MetadataResponsePartition] = array(MetadataResponsePartition)
    topic_authorized_operations: int = since(8, int32, default=-2147483648)


class MetadataResponse(Response, key=3, versions="0-13", flexible="9+"):
    """A broker gives the nodes, the controller, the topics and their partitions' leaders."""

    throttle_time_ms: int = since(3, int32, ignorable=True)
    brokers: list[MetadataResponseBroker] = array(MetadataResponseBroker)
    cluster_id: str | None = since(2, nullable(string), default=None, ignorable=True)
    controller_id: int = since(1, int32, default=-1, ignorable=True)
    topics: list[MetadataResponseTopic] = array(MetadataResponseTopic)
    cluster_authorized_operations: int = field(int32, "8-10", default=-2147483648)
    error_code: int = since(13, int16, ignorable=True)
