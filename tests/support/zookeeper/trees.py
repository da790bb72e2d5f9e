"""The tree of a ZooKeeper that tests share."""

from __future__ import annotations

import asyncio

from kwire.zookeeper import Delete, ZooKeeper
from kwire.zookeeper.paths import join


async def delete_below(zookeeper: ZooKeeper, path: str) -> None:
    """Delete everything below a znode, except what is ZooKeeper's own."""
    paths = await _below(zookeeper, path)
    for start in range(0, len(paths), 500):
        await zookeeper.multi([Delete(path) for path in paths[start : start + 500]])


async def _below(zookeeper: ZooKeeper, path: str) -> list[str]:
    """Return the paths of everything below a znode, children first."""
    children = [join(path, name) for name in await zookeeper.children(path)]
    children = [child for child in children if child != "/zookeeper"]
    below = await asyncio.gather(*(_below(zookeeper, child) for child in children))
    return [
        found for child, deeper in zip(children, below, strict=True) for found in (*deeper, child)
    ]
