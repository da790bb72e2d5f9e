"""Producer ids and delegation tokens to write (KRaftMigrationZkWriter, KIP-866)."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.image.delegation_tokens import DelegationTokensImage
from kwire.image.producer_ids import NONE_GIVEN, ProducerIdsImage
from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.migration.driver.znode_writes.delegation_tokens import delete_token, write_token
from kwire.migration.driver.znode_writes.producer_ids import write_producer_ids
from kwire.zookeeper.zookeeper_metadata import ZooKeeperMetadata


def producer_id_writes(
    zookeeper: ZooKeeperMetadata, image: ProducerIdsImage
) -> Iterator[ZnodeWrite]:
    """Yield the write of the next id if ZooKeeper has another one.

    As the write is of the block that begins with it, ZooKeeper has another one ever after: it is
    written with each synchronisation, as in Java.
    """
    expected, block = image.next_producer_id, zookeeper.producer_ids
    if expected != NONE_GIVEN and (block is None or block.value.next_producer_id != expected):
        yield write_producer_ids(expected)


def token_writes(
    zookeeper: ZooKeeperMetadata, image: DelegationTokensImage
) -> Iterator[ZnodeWrite]:
    """Yield the writes: every token of the image, whether it differs or not, as in Java."""
    for id in sorted(image.by_id):
        yield write_token(id, image.by_id[id])
    for id in sorted(zookeeper.delegation_tokens):
        if id not in image.by_id:
            yield delete_token(id)
