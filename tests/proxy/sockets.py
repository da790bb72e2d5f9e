"""The system's list of TCP connections, to see who really talks to whom."""

import os
from collections.abc import Iterable
from pathlib import Path

ESTABLISHED = "01"


def foreign_connections(ports: Iterable[int]) -> list[tuple[int, int]]:
    """Connections to local ports, as (source port, port), that are not this process's own."""
    wanted = set(ports)
    own = _own_sockets()
    found = []
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            columns = line.split()
            source, target = (int(columns[n].rpartition(":")[2], 16) for n in (1, 2))
            if columns[3] == ESTABLISHED and target in wanted and columns[9] not in own:
                found.append((source, target))
    return found


def _own_sockets() -> set[str]:
    """The inodes of this process's sockets."""
    inodes = set()
    for descriptor in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{descriptor}")
        except FileNotFoundError:  # the one that lists them
            continue
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    return inodes
