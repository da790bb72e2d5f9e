"""Removes what interrupted runs have left: topics and groups named `kwire-conform-…`.

A name has its time in it. What may belong to a run under way is left alone unless it is asked for.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from kwire.conform.connection import CheckedConnection
from kwire.conform.server import PREFIX, Server
from kwire.conform.target import Target
from kwire.conform.vocabulary import Deviation, ServerRole, Skipped
from kwire.errors import KwireError
from kwire.messages.a03_metadata import MetadataRequest
from kwire.messages.a16_list_groups import ListGroupsRequest

LEFT_AFTER = 1800.0
"""Seconds after which a name belongs to no run any more: twice the usual limit of one."""

_TIMED = re.compile(rf"{PREFIX}(?P<time>[0-9a-f]{{8}})-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftovers:
    """removed: `topic NAME`, `group NAME`. kept: those that a run under way may need. failed:
    those that could not be removed, with the reason."""

    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


async def sweep(target: Target, *, all_ages: bool = False) -> Leftovers:
    """Remove what older runs have left; with all_ages also what may belong to another run."""
    if target.role is not ServerRole.BROKER:
        return Leftovers()
    server = Server(target)
    found: list[tuple[str, str]] = []
    try:
        for kind, find in (("topic", _topics), ("group", _groups)):
            # What a server cannot list cannot be removed.
            with suppress(OSError, KwireError, Deviation, Skipped):
                found += [(kind, name) for name in await find(server)]
        swept = [pair for pair in found if all_ages or is_left(pair[1])]
        for kind, name in swept:
            if kind == "topic":
                server.remove_topic(name)
            else:
                server.remove_group(name)
    finally:
        await server.close()
    failed = tuple(server.left_behind)
    gone = [" ".join(pair) for pair in swept]
    return Leftovers(
        removed=tuple(name for name in gone if not any(f.startswith(f"{name}:") for f in failed)),
        kept=tuple(" ".join(pair) for pair in found if pair not in swept),
        failed=failed,
    )


def is_left(name: str) -> bool:
    """True for a name whose run must be over."""
    match = _TIMED.match(name)
    return match is not None and time.time() - int(match["time"], 16) > LEFT_AFTER


async def _topics(server: Server) -> list[str]:
    answer = await server.ask(MetadataRequest(topics=None))
    return _ours(topic.name for topic in answer.topics)


async def _groups(server: Server) -> list[str]:
    """Return the groups of all nodes: each lists those that it coordinates."""
    found: list[str] = []
    for node in server.target.nodes or {-1: server.target.address}:
        connection: CheckedConnection
        connection = await (server.node(node) if node >= 0 else server.connection())
        answer = await connection.ask(ListGroupsRequest())
        found += _ours(group.group_id for group in answer.groups)
    return found


def _ours(names: Iterable[str | None]) -> list[str]:
    return sorted(name for name in names if name is not None and name.startswith(PREFIX))
