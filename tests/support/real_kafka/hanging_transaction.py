"""A transaction that hangs: open in a partition, and no coordinator knows of it."""

from __future__ import annotations

import time
from typing import cast

from kwire.admin import AdminClient
from kwire.admin.configs import AlterConfigOperation, ConfigChange
from kwire.admin.topic_partition import TopicPartition
from kwire.batches.building import build_batch
from kwire.batches.record import Record
from kwire.messages.a00_produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from kwire.messages.config_resource import ConfigResource, ResourceType
from kwire.net.connection import Connection
from real_kafka import Cluster
from tests.support.eventually import eventually

VERIFICATION = "transaction.partition.verification.enable"
"""Without it a broker takes transactional writes that no coordinator was told of (KIP-890)."""

LAST_UNVERIFIED_PRODUCE = 11
"""The version of Produce up to which the broker does not add the partition itself."""


async def leave_hanging(cluster: Cluster, partition: TopicPartition) -> int:
    """Write a record of a transaction that nobody began; return the producer id.

    The partition is led by the only broker of the cluster.
    """
    brokers = ConfigResource(ResourceType.BROKER, "")
    async with AdminClient(cluster.bootstrap_servers, timeout=60) as admin:
        change = ConfigChange(name=VERIFICATION, value="false")
        (await admin.incremental_alter_configs({brokers: [change]})).all()
        fenced = (await admin.fence_producers([f"hanging-{partition}"])).all()
        [identity] = fenced.values()
        try:
            # Brokers learn of the change by the metadata log, and refuse until then.
            await eventually(
                lambda: _produce(cluster, partition, identity.producer_id, identity.producer_epoch),
                lambda error_code: error_code == 0,
                pause=0.1,
            )
        finally:
            back = ConfigChange(name=VERIFICATION, operation=AlterConfigOperation.DELETE)
            (await admin.incremental_alter_configs({brokers: [back]})).all()
    return identity.producer_id


async def _produce(
    cluster: Cluster, partition: TopicPartition, producer_id: int, producer_epoch: int
) -> int:
    """Write the record as its transaction's first; return the error code."""
    batch = build_batch(
        [Record(timestamp=int(time.time() * 1000), key=None, value=b"hangs")],
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=0,
        is_transactional=True,
    )
    data = PartitionProduceData(index=partition.partition, records=batch)
    request = ProduceRequest(
        transactional_id=f"hanging-{partition}",
        acks=-1,
        timeout_ms=30_000,
        topic_data=[TopicProduceData(name=partition.topic, partition_data=[data])],
    )
    host, port = cluster.bootstrap_servers.split(":")
    async with await Connection.open(host, int(port)) as connection:
        answer = await connection.send(request, LAST_UNVERIFIED_PRODUCE)
    [topic] = cast(ProduceResponse, answer).responses
    return topic.partition_responses[0].error_code
