"""One change of ZooKeeper in dual write, as a value (KIP-866).

Java: KRaftMigrationOperation and the requests of kafka.zk.migration.*. What Kafka finds out by
trying, a `ZnodeWrite` answers purely: a refused operation gives the write to carry out instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from kwire.zookeeper.errors import NodeExists, NoNode, NotEmpty, ZooKeeperError
from kwire.zookeeper.operations import Create, Delete, SetData, ZnodeOperation

LARGEST_MULTI = 500_000
"""Bytes of operations in one multi: half of what ZooKeeper accepts, for those of the fence."""

OPERATION_OVERHEAD = 64
"""Bytes of an operation beside its path and data: header, version, and ZooKeeper's ACL of it."""


class ZnodeWrite(Struct, frozen=True, kw_only=True):
    """Operations that take place together, inside the fence.

    To carry one out:
    1. If `tree` is not None: read all znodes below it, none if it is not there itself, and carry
       out what `emptied` returns instead.
    2. Carry out `operations`, and create `notifications` behind them, as one multi with the fence.
       Java notifies by itself, after the write and without the fence; here a change whose answer is
       lost has notified the brokers, or was not made.
    3. If one of them is refused: begin again with `after_refusal`; if that is None, it failed.

    type: Kafka's type of the operation, of which it counts how many there were. description: for
    the log, as Kafka says it. folders: znodes without data, the highest first, that are created if
    a znode below them has to be and they are not there. removed: a znode that is deleted with all
    that is below it.
    """

    type: str
    description: str
    operations: tuple[ZnodeOperation, ...]
    tree: str | None = None
    folders: tuple[str, ...] = ()
    removed: str | None = None
    notifications: tuple[Create, ...] = ()

    @property
    def is_left_out(self) -> bool:
        """True if nothing is written, and `description` says why."""
        return not self.operations and not self.notifications and self.tree is None

    def parts(self) -> tuple[ZnodeWrite, ...]:
        """Return the write as several, in order, that each fit into a request.

        ZooKeeper closes the connection at a request of more than jute.maxbuffer, 1 MiB.
        """
        parts = _parts(self.operations)
        if len(parts) < 2:
            return (self,)
        *first, last = (replace(self, operations=part) for part in parts)
        return (*(replace(part, notifications=()) for part in first), last)

    def emptied(self, paths: Iterable[str]) -> tuple[ZnodeWrite, ...]:
        """Return the writes that first delete these znodes below `tree`, the deepest first."""
        written = {operation.path for operation in self.operations}
        deepest_first = sorted(set(paths) - written, key=lambda path: (-path.count("/"), path))
        deletions = tuple(Delete(path) for path in deepest_first)
        return replace(self, tree=None, operations=(*deletions, *self.operations)).parts()

    def after_refusal(self, index: int, error: ZooKeeperError) -> ZnodeWrite | None:
        """Return the write to carry out after an operation or a notification was refused.

        1. A znode to set that is not there is created.
        2. A znode to create without the folder that it is in: that is created before it.
        3. A znode to create that is there: a folder is left as it is, another one is set. With it
           all after it, as most likely an earlier try took place, of which the answer was lost.
        4. A znode to delete that is not there is left out, and nobody notified if nothing else is
           written; if it is one of many below `removed`, they are read.
        5. A znode to delete that has children: they are read and deleted as well.
        6. A notification without the folder that it is in is left out: no broker watches it.
        7. None: everything else is an error.
        """
        if index >= len(self.operations):
            # 6.
            return self._without_notifications() if isinstance(error, NoNode) else None
        operation = self.operations[index]
        match operation, error:
            case SetData(path=path, data=data), NoNode():
                # 1.
                return self._instead(index, Create(path, data))
            case Create(path=path), NoNode():
                # 2.
                folders = self._missing_folders(path)
                return self._instead(index, *folders, operation) if folders else None
            case Create(data=data), NodeExists():
                # 3.
                if not data:
                    return self._instead(index)
                return self._instead(index, *_set(self.operations[index:]), count=None)
            case Delete(path=path), NoNode():
                # 4.
                is_one_of_many = self.removed is not None and path.startswith(f"{self.removed}/")
                return self._reading() if is_one_of_many else self._instead(index)._quiet()
            case Delete(path=path), NotEmpty():
                # 5. Before all other operations, which is early enough for each of them.
                return replace(self, tree=path)
        # 7.
        return None

    def _missing_folders(self, path: str) -> list[Create]:
        """Return the folders above a znode that nothing in the write creates already."""
        created = {operation.path for operation in self.operations if isinstance(operation, Create)}
        above = [folder for folder in self.folders if path.startswith(f"{folder}/")]
        return [Create(folder) for folder in above if folder not in created]

    def _reading(self) -> ZnodeWrite:
        """Return the write that reads the znodes below `removed` before it deletes them."""
        below = f"{self.removed}/"
        others = (item for item in self.operations if not item.path.startswith(below))
        return replace(self, operations=tuple(others), tree=self.removed, removed=None)

    def _quiet(self) -> ZnodeWrite:
        """Return the write without notifications if it writes nothing."""
        return self if self.operations else self._without_notifications()

    def _without_notifications(self) -> ZnodeWrite:
        return replace(self, notifications=())

    def _instead(
        self, index: int, *operations: ZnodeOperation, count: int | None = 1
    ) -> ZnodeWrite:
        """Return the write with other operations from an index on; count: None for all of them."""
        rest = self.operations[index + count :] if count else ()
        return replace(self, operations=(*self.operations[:index], *operations, *rest))


def _set(operations: Iterable[ZnodeOperation]) -> Iterator[ZnodeOperation]:
    """Yield the operations with what they create taken for there."""
    for operation in operations:
        if not isinstance(operation, Create):
            yield operation
        elif operation.data:
            yield SetData(operation.path, operation.data)


def _parts(operations: tuple[ZnodeOperation, ...]) -> list[tuple[ZnodeOperation, ...]]:
    parts: list[list[ZnodeOperation]] = [[]]
    size = 0
    for operation in operations:
        size += _size(operation)
        if size > LARGEST_MULTI and parts[-1]:
            parts.append([])
            size = _size(operation)
        parts[-1].append(operation)
    return [tuple(part) for part in parts]


def _size(operation: ZnodeOperation) -> int:
    data = operation.data if isinstance(operation, Create | SetData) else b""
    return len(operation.path.encode()) + len(data) + OPERATION_OVERHEAD
