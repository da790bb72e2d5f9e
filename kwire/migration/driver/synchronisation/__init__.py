"""The writes that make ZooKeeper equal to a metadata image (KIP-866).

Java: KRaftMigrationZkWriter.handleSnapshot, in its order of kinds. A new leader begins with it: it
repairs what earlier dual writes left out.
"""

from __future__ import annotations

from itertools import chain

from kwire.image import MetadataImage
from kwire.migration.driver.synchronisation.acls import acl_writes
from kwire.migration.driver.synchronisation.configs import config_writes
from kwire.migration.driver.synchronisation.quotas import quota_writes
from kwire.migration.driver.synchronisation.records import producer_id_writes, token_writes
from kwire.migration.driver.synchronisation.topics import topic_differences
from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.migration.driver.znode_writes.names import possible
from kwire.migration.driver.znode_writes.passwords import PasswordWriter
from kwire.zookeeper.zookeeper_metadata import ZooKeeperMetadata

__all__ = ["synchronise"]


def synchronise(
    zookeeper: ZooKeeperMetadata, image: MetadataImage, raft_epoch: int, passwords: PasswordWriter
) -> list[ZnodeWrite]:
    """Return the writes that make ZooKeeper equal to an image, in this order.

    1. Pending deletions, then topics: deleted, created and changed ones; then partitions.
    2. Configurations of topics and brokers.
    3. Quotas and SCRAM credentials: all of the image, and what ZooKeeper has besides.
    4. Producer ids.
    5. ACLs: new resources, deleted ones, changed ones.
    6. Delegation tokens: all of the image, then those that ZooKeeper has besides.
    """
    # 1.
    topics = topic_differences(zookeeper, image.topics)
    writes = chain(
        topics.writes(raft_epoch),
        # 2.
        config_writes(zookeeper, image.configs, topics, passwords),
        # 3.
        quota_writes(zookeeper, image),
        # 4.
        producer_id_writes(zookeeper, image.producer_ids),
        # 5.
        acl_writes(zookeeper, image.acls),
        # 6.
        token_writes(zookeeper, image.delegation_tokens),
    )
    return [possible(write) for write in writes]
