"""Throttle times (KIP-219): a node that asks for rest is left alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kwire.codec.declaration import Request
from kwire.conform.clients.case import ClientCase, ClientSection, ClientTask
from kwire.conform.clients.judges import demand_recovery
from kwire.conform.clients.play import Play
from kwire.conform.clients.script import changed, once, without_records
from kwire.conform.vocabulary import Deviation, Skipped, kip
from kwire.messages.registry import api_key, request

SECTION = ClientSection("client/throttling", "Throttle times are kept")

_SECONDS = 1.0
_EARLY = 0.1
"""Seconds that a request may come too early: clocks and time-outs are rough."""


def _rest(answer: Any) -> None:
    answer.throttle_time_ms = round(_SECONDS * 1000)
    # A broker answers a Fetch that it throttles at once, and without records.
    without_records(answer)


def _rests(api: type[Request], first: int, then: Sequence[type[Request]]) -> Callable[[Play], None]:
    def judge(play: Play) -> None:
        rests = {
            later.at - (asked.answered or asked.at): later.name
            for asked in play.scripted(api)
            for later in play.after(asked, *then)
            if asked.version >= first and later.connection == asked.connection
        }
        shortest = min(rests, default=_SECONDS)
        if shortest < _SECONDS - _EARLY:
            came = f"{rests[shortest]} after {shortest:.2f} s"
            raise Deviation(f"nothing for {_SECONDS:g} s", came)
        demand_recovery(play, "a throttle time")
        if not rests:
            raise Skipped(f"nothing came over the same connection after it, of v{first} or later")

    return judge


_THROTTLED = (
    (1, "Produce", 6, "produce", "Produce"),
    (2, "InitProducerId", 1, "produce", "Produce"),
    (3, "ApiVersions", 2, "produce", "Metadata"),
    (4, "Metadata", 6, "admin", "DescribeCluster DeleteTopics"),
    (5, "Fetch", 8, "consume", "Fetch"),
    (6, "ListOffsets", 3, "consume", "Fetch"),
    (7, "JoinGroup", 3, "group", "JoinGroup SyncGroup"),
    (8, "SyncGroup", 2, "group", "OffsetFetch Heartbeat"),
    (9, "OffsetFetch", 4, "group", "OffsetCommit"),
    (10, "AddPartitionsToTxn", 1, "transaction", "EndTxn Produce"),
    (11, "InitProducerId", 1, "transaction", "AddPartitionsToTxn"),
    (12, "ConsumerGroupHeartbeat", 0, "group-consumer", "ConsumerGroupHeartbeat"),
    (13, "CreateTopics", 3, "admin", "DescribeCluster DeleteTopics"),
    (14, "DescribeCluster", 0, "admin", "DeleteTopics"),
)
"""APIs with the first versions that KIP-219 is for, and those that come only behind the answer."""
for number, name, first, task, then in _THROTTLED:
    api = request(api_key(name))
    SECTION[number] = ClientCase(
        sentence=f"After {name} in the task {task} a client leaves the node alone for the throttle "
        "time.",
        source=kip(219, "Proposed Changes"),
        task=ClientTask(task),
        may_fail=True,
        rules=once(api, changed(_rest), times=None if name == "Metadata" else 1),
        judge=_rests(api, first, [request(api_key(word)) for word in then.split()]),
    )
