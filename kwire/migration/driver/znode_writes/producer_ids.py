"""The next block of producer ids (kafka.zk.ZkMigrationClient.writeProducerId)."""

from __future__ import annotations

from kwire.image.producer_ids import BLOCK_SIZE
from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.zookeeper.operations import SetData
from kwire.zookeeper.znodes import ProducerIdsZnode

UPDATE_PRODUCER_ID = "UpdateProducerId"


def write_producer_ids(next_producer_id: int) -> ZnodeWrite:
    """Return the write of the next id.

    Kafka writes the block that begins with it, as if no broker's: a ZooKeeper controller would go
    on after its end, so that a thousand ids are never used.
    """
    block = ProducerIdsZnode(
        broker_id=-1, first=next_producer_id, last=next_producer_id + BLOCK_SIZE - 1
    )
    return ZnodeWrite(
        type=UPDATE_PRODUCER_ID,
        description="Set next producer ID",
        operations=(SetData(ProducerIdsZnode.path, block.encode()),),
    )
