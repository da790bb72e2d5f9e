"""UpdateMetadata, API key 6."""

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
    int64,
    nullable,
    since,
    string,
    tagged,
    uuid,
)


class UpdateMetadataPartitionState(Group):
    topic_name: str = field(string, "0-4", ignorable=True)
    partition_index: int = int32
    controller_epoch: int = int32
    leader: int = int32
    leader_epoch: int = int32
    isr: tuple[int, ...] = array(int32)
    zk_version: int = int32
    replicas: tuple[int, ...] = array(int32)
    offline_replicas: tuple[int, ...] = since(4, array(int32), ignorable=True)


class UpdateMetadataEndpoint(Group):
    port: int = since(1, int32)
    host: str = since(1, string)
    listener: str = since(3, string, ignorable=True)
    security_protocol: int = since(1, int16)


class UpdateMetadataTopicState(Group):
    topic_name: str = since(5, string)
    topic_id: UUID = since(7, uuid, ignorable=True)
    partition_states: list[UpdateMetadataPartitionState] = since(
        5, array(UpdateMetadataPartitionState)
    )


class UpdateMetadataBroker(Group):
    id: int = int32
    v0_host: str = field(string, "0", ignorable=True)
    v0_port: int = field(int32, "0", ignorable=True)
    endpoints: list[UpdateMetadataEndpoint] = since(
        1, array(UpdateMetadataEndpoint), ignorable=True
    )
    rack: str | None = since(2, nullable(string), ignorable=True)


class UpdateMetadataRequest(Request, key=6, versions="0-8", flexible="6+", listeners="zkBroker"):
    """A controller spreads brokers and partition states among ZooKeeper-era brokers."""

    controller_id: int = int32
    is_k_raft_controller: bool = since(8, boolean)
    type: int = tagged(0, int8, "8+")
    controller_epoch: int = int32
    broker_epoch: int = since(5, int64, default=-1, ignorable=True)
    ungrouped_partition_states: list[UpdateMetadataPartitionState] = field(
        array(UpdateMetadataPartitionState), "0-4"
    )
    topic_states: list[UpdateMetadataTopicState] = since(5, array(UpdateMetadataTopicState))
    live_brokers: list[UpdateMetadataBroker] = array(UpdateMetadataBroker)


class UpdateMetadataResponse(Response, key=6, versions="0-8", flexible="6+"):
    """A ZooKeeper-era broker says whether it has taken over the metadata."""

    error_code: int = int16
