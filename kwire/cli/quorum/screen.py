"""The output of `kwire quorum status` and `replication` on a screen, or in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from kwire.cli.screen import columns, is_pipe, screen, table_of
from kwire.text.untrusted import harmless

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

UNITS = ("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000)
"""The units of times from a second on."""

STYLES = {"Leader": "bold green", "Follower": "", "Observer": "dim"}

REPLICATION = {
    "nodeId": "NodeId",
    "directoryId": "DirectoryId",
    "logEndOffset": "LogEnd|Offset",
    "lag": "Lag",
    "lastFetchTimestamp": "LastFetch|Timestamp",
    "lastCaughtUpTimestamp": "LastCaughtUp|Timestamp",
    "status": "Status",
}
"""Kafka's names of the columns; `|` where one may break into two lines."""

LISTS = ("currentVoters", "currentObservers")


def print_status(status: dict[str, Any]) -> None:
    """Print Kafka's names and values, then the voters and the observers as tables.

    Scripts call it in loops: in a pipe it does without rich, a fifth of the command's CPU time.
    """
    if is_pipe():
        sys.stdout.write(_plain(status))
        return
    from rich.text import Text

    console = screen()
    for label, value in _values(status):
        console.print(Text.assemble(label, (value, "bold")))
    print_replicas(status, console)


def _plain(status: dict[str, Any]) -> str:
    text = "".join(f"{label}{value}\n" for label, value in _values(status))
    for name in LISTS:
        text += f"\n{_title(name, status[name])}\n"
        if status[name]:
            text += columns([[*_shown(status[name][0]).values()], *map(_cells, status[name])])
    return text


def _values(status: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in status.items():
        if not isinstance(value, list):
            label = f"{name[0].upper()}{name[1:]}:"
            unknown = name == "clusterId" and value is None
            yield f"{label:24}", "unknown" if unknown else _cell(value)


def _title(name: str, replicas: list[dict[str, Any]]) -> str:
    return f"{name[0].upper()}{name[1:]}:{'' if replicas else ' none'}"


def _shown(replica: dict[str, Any]) -> dict[str, str]:
    """Return the columns of a replica's list: at most 60 characters with an IPv4 endpoint."""
    names = {"id": "Id", "directoryId": "DirectoryId", "endpoints": "Endpoints"}
    return {key: name for key, name in names.items() if key in replica}


def _cells(replica: dict[str, Any]) -> list[str]:
    return [_cell(replica[key]) for key in _shown(replica)]


def print_replicas(status: dict[str, Any], console: Console) -> None:
    """Print the voters, the leader among them in bold, and the observers."""
    leader = status["leaderId"]
    for name in LISTS:
        replicas = status[name]
        console.print(f"\n{_title(name, replicas)}")
        if replicas:
            console.print(_replicas(replicas, leader))


def _replicas(replicas: list[dict[str, Any]], leader: int) -> Table:
    table = table_of(*_shown(replicas[0]).values())
    for replica in replicas:
        style = "bold" if replica["id"] == leader else ""
        table.add_row(*_cells(replica), style=style)
    return table


def print_replication(rows: list[dict[str, Any]], *, human_readable: bool) -> None:
    """Print Kafka's table of replicas, as wide as the screen allows (60 columns at least)."""
    now = _leader_time(rows)
    cells = [
        [
            _ago(row[key], now) if human_readable and key.endswith("Timestamp") else _cell(row[key])
            for key in REPLICATION
        ]
        for row in rows
    ]
    if is_pipe():
        sys.stdout.write(_one_line(cells))
        return
    console = screen()
    head, *lines = _fitting(cells, console.width)
    console.print(head, style="dim")
    for line, row in zip(lines, rows, strict=True):
        console.print(line, style=STYLES[row["status"]])


def _leader_time(rows: list[dict[str, Any]]) -> float:
    """Return the time by the leader's clock, to which the other times belong.

    In a leader's answer its own row has the moment of the answer. Without such a row, and in times
    that are not known, the clock of this machine has to do.
    """
    for row in rows:
        if row["status"] == "Leader" and row["lastFetchTimestamp"] is not None:
            return float(row["lastFetchTimestamp"])
    return time.time() * 1000


def _fitting(cells: list[list[str]], width: int) -> list[str]:
    """Return the head of the table and each replica, a line or two of at most `width` columns.

    1. All names on one line.
    2. Names on two lines, one space between columns.
    3. As 2, the directory ids on lines of their own.
    """
    # 1.
    lines = _one_line(cells).splitlines()
    if max(map(len, lines)) <= width:
        return lines
    # 2.
    names = [name.split("|") for name in REPLICATION.values()]
    heads = [[name[0] for name in names], ["".join(name[1:]) for name in names]]
    lines = columns([*heads, *cells], gap=1).splitlines()
    if max(map(len, lines)) <= width:
        return ["\n".join(lines[:2]), *lines[2:]]
    # 3.
    others = [[*row[:1], *row[2:]] for row in [*heads, *cells]]
    first, second, *lines = columns(others, gap=1).splitlines()
    indent = " " * len("NodeId ")
    below = [f"{indent}{row[1]}" for row in cells]
    head = f"{first}\n{second}\n{indent}DirectoryId"
    return [head, *map("\n".join, zip(lines, below, strict=True))]


def _one_line(cells: list[list[str]]) -> str:
    return columns([[name.replace("|", "") for name in REPLICATION.values()], *cells])


def _cell(value: Any) -> str:
    """Return a value as text, a dash if Kafka does not know it."""
    if value is None or value == []:
        return "-"
    return harmless(" ".join(value) if isinstance(value, list) else str(value))


def _ago(timestamp: int | None, now: float) -> str:
    """Return `12 ms ago` or `3.4 h ago`; a clock that runs behind the leader's gives 0."""
    if timestamp is None:
        return "-"
    milliseconds = max(0, round(now - timestamp))
    for unit, size in UNITS:
        if milliseconds >= size:
            return f"{milliseconds / size:.1f} {unit} ago"
    return f"{milliseconds} ms ago"
