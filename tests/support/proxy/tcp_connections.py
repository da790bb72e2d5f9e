"""The system's list of TCP connections, to see who really talks to whom."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

ESTABLISHED, LISTEN = "01", "0A"


class Socket(NamedTuple):
    """One end of a connection, or a listening one; ports alone tell them apart on one machine."""

    local: int
    remote: int
    state: str
    inode: str


def foreign_connections(ports: Iterable[int]) -> list[tuple[int, int]]:
    """Connections to local ports, as (source port, port), that are not this process's own."""
    wanted, own = set(ports), _sockets_of("self")
    return [
        (socket.local, socket.remote)
        for socket in _sockets()
        if socket.state == ESTABLISHED and socket.remote in wanted and socket.inode not in own
    ]


def bypasses(
    ports: Iterable[int], *, but_to_itself: bool = False, proxy: int | None = None
) -> list[str]:
    """Connections of the processes that listen at these ports that do not pass the proxy.

    proxy: its process, by default this one.
    but_to_itself: leave out those that a process has with itself.
    """
    table, wanted = list(_sockets()), set(ports)
    owner = _owners()
    listening = defaultdict(set)
    for row in table:
        if row.state == LISTEN:
            listening[owner.get(row.inode)].add(row.local)
    nodes = {process for process, where in listening.items() if where & wanted}
    passed = str(proxy or os.getpid())
    ends = {(row.local, row.remote): owner.get(row.inode) for row in table}
    found = []
    for row in table:
        process, other = owner.get(row.inode), ends.get((row.remote, row.local))
        if row.state != ESTABLISHED or process not in nodes or other == passed:
            continue
        if other is None or (but_to_itself and other == process):
            continue  # closed at the other end, or its own
        own, others = min(listening[process]), sorted(listening.get(other, ()))
        found.append(f"{own} ({row.local}) with {others} ({row.remote})")
    return found


def _sockets() -> Iterator[Socket]:
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            columns = line.split()
            local, remote = (int(columns[n].rpartition(":")[2], 16) for n in (1, 2))
            yield Socket(local, remote, columns[3], columns[9])


def _owners() -> dict[str, str]:
    """The process of each socket, by inode."""
    return {
        inode: process
        for process in os.listdir("/proc")
        if process.isdecimal()
        for inode in _sockets_of(process)
    }


def _sockets_of(process: str) -> set[str]:
    """The inodes of a process's sockets."""
    inodes = set()
    with suppress(FileNotFoundError, PermissionError, ProcessLookupError):
        for descriptor in os.listdir(f"/proc/{process}/fd"):
            with suppress(FileNotFoundError):  # the one that lists them
                target = os.readlink(f"/proc/{process}/fd/{descriptor}")
                if target.startswith("socket:["):
                    inodes.add(target[8:-1])
    return inodes
