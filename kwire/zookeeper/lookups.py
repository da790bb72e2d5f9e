"""Reads of znodes that may not be there (kafka.zk.KafkaZkClient, its Option of data)."""

from __future__ import annotations

from kwire.zookeeper.client import ZooKeeper
from kwire.zookeeper.errors import NoNode
from kwire.zookeeper.operations import Znode


async def get_or_none(zookeeper: ZooKeeper, path: str) -> Znode | None:
    """Return a znode, None if it is not there."""
    try:
        return await zookeeper.get(path)
    except NoNode:
        return None


async def children_or_none(zookeeper: ZooKeeper, path: str) -> list[str] | None:
    """Return the names of a znode's children, None if the znode itself is not there."""
    try:
        return await zookeeper.children(path)
    except NoNode:
        return None
