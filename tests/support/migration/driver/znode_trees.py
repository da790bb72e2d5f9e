"""Trees of znodes: those of Kafka's classes, and those after writes of kwire."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from rpds import HashTrieMap, HashTrieSet

from kwire.migration.driver.znode_write import ZnodeWrite
from kwire.zookeeper import MultiFailed
from kwire.zookeeper.metadata import read_metadata
from kwire.zookeeper.password_encoder import PasswordEncoder
from kwire.zookeeper.zookeeper_metadata import ZooKeeperMetadata
from migrating.memory_zookeeper import MemoryZnode, MemoryZooKeeper, ZnodeTree
from migrating.memory_zookeeper.tree import TreeChange
from migrating.migration_judge import JudgedTree

MOST_ATTEMPTS = 100

CHANGES = ("/config/changes/", "/kafka-acl-changes/", "/kafka-acl-extended-changes/")
"""The folders of notifications, whose names are numbers."""

NOT_COMPARED = ("/migration", "/controller", "/zookeeper", "/kwire")
"""The fence writes /migration once for each multi, of which Java makes more."""


def memory_tree(judged: JudgedTree) -> ZnodeTree:
    """Return the judge's tree as one of the ZooKeeper in memory."""
    children: dict[str, list[str]] = {}
    for path in judged:
        if path:
            parent, _, name = path.rpartition("/")
            children.setdefault(parent, []).append(name)
    return HashTrieMap(
        {
            path or "/": MemoryZnode(
                data=znode.data or b"",
                version=znode.version,
                children=HashTrieSet(children.get(path, ())),
                children_created=len(children.get(path, ())),
            )
            for path, znode in judged.items()
        }
    )


def carried_out(tree: ZnodeTree, writes: Iterable[ZnodeWrite]) -> ZnodeTree:
    """Return the tree after writes, each carried out as its class says."""
    for write in writes:
        for part in write.parts():
            tree = _carried_out(tree, part)
    return tree


def _carried_out(tree: ZnodeTree, write: ZnodeWrite) -> ZnodeTree:
    for _ in range(MOST_ATTEMPTS):
        if write.tree is not None:
            below = [path for path in tree if path.startswith(f"{write.tree}/")]
            return carried_out(tree, write.emptied(below))
        change = TreeChange(tree, zxid=0, now_ms=0)
        try:
            change.carry_out((*write.operations, *write.notifications))
        except MultiFailed as refusal:
            instead = write.after_refusal(refusal.index, refusal.error)
            if instead is None:
                raise
            write = instead
            continue
        return change.tree
    raise AssertionError(f"{MOST_ATTEMPTS} refusals: {write.description}")


def metadata_in(tree: ZnodeTree) -> ZooKeeperMetadata:
    """Return everything that is read from a tree."""
    server = MemoryZooKeeper()
    server.tree = tree
    return asyncio.run(_read(server))


async def _read(server: MemoryZooKeeper) -> ZooKeeperMetadata:
    session = server.open_session()
    try:
        return await read_metadata(session)
    finally:
        await session.close()


Comparable = Mapping[str, Any]
"""Content and version of each znode by path; notifications by content, with their number."""


def comparable(tree: ZnodeTree, passwords: PasswordEncoder | None = None) -> Comparable:
    """Return the znodes that both sides must have.

    JSON as its values, since Kafka reads fields in any order; ACLs as sets, passwords decoded.
    """
    found: dict[str, Any] = {}
    notifications: Counter[str] = Counter()
    for path, znode in tree.items():
        if path.startswith(CHANGES):
            notifications[f"{path.rpartition('/')[0]} {znode.data!r}"] += 1
        elif path != "/" and not path.startswith(NOT_COMPARED):
            found[path] = (_content(path, znode.data, passwords), znode.version)
    return found | dict(notifications)


def _content(path: str, data: bytes, passwords: PasswordEncoder | None) -> object:
    if path.startswith("/kafka-acl") and data:
        return sorted(json.loads(data)["acls"], key=lambda acl: json.dumps(acl, sort_keys=True))
    if path.startswith("/config/brokers/") and data and passwords is not None:
        return passwords.decode_configs(json.loads(data)["config"], path)
    return json.loads(data) if data.startswith(b"{") else data
