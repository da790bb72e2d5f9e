"""The versions that clients use, and those that Kafka 4 no longer answers (KIP-896)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kwire.capture.record import NOTICE, CaptureRecord
from kwire.messages.registry import api_key, api_name

SINCE_KAFKA_4 = {
    api_key(name): version
    for name, version in {
        "Produce": 3,
        "Fetch": 4,
        "ListOffsets": 1,
        "OffsetCommit": 2,
        "OffsetFetch": 1,
        "CreateTopics": 2,
        "DeleteTopics": 1,
        "OffsetForLeaderEpoch": 2,
        "WriteTxnMarkers": 1,
        "DescribeAcls": 1,
        "CreateAcls": 1,
        "DeleteAcls": 1,
        "DescribeConfigs": 1,
        "AlterReplicaLogDirs": 1,
        "DescribeLogDirs": 1,
        "CreateDelegationToken": 1,
        "RenewDelegationToken": 1,
        "ExpireDelegationToken": 1,
        "DescribeDelegationToken": 1,
        "AlterPartition": 2,
    }.items()
}
"""The lowest version that nodes of Kafka 4 answer, by API key, where it is not 0."""

_PORT = re.compile(r":\d+$")


@dataclass(slots=True, kw_only=True)
class UsedVersions:
    """The versions of an API that a client asked for.

    needed: the lowest that Kafka 4 answers. blocked: calls below that, which fail after an upgrade.
    hosts: the addresses that it came from.
    """

    client_id: str | None
    api: str
    lowest: int
    highest: int
    needed: int
    blocked: int = 0
    calls: int = 0
    hosts: set[str] = field(default_factory=set)

    def add(self, version: int, client: str) -> None:
        """Count a call."""
        self.lowest = min(self.lowest, version)
        self.highest = max(self.highest, version)
        self.blocked += version < self.needed
        self.calls += 1
        self.hosts.add(_PORT.sub("", client))


def used_versions(events: Iterable[list[CaptureRecord]]) -> list[UsedVersions]:
    """Return an entry for every API that a client used, those with blocked calls first.

    events: the records of each event (`kwire.capture.editing.events_of`).
    """
    found: dict[tuple[str | None, int], UsedVersions] = {}
    for call, key, version in _calls(events):
        used = found.get((call.client_id, key))
        if used is None:
            used = found[call.client_id, key] = UsedVersions(
                client_id=call.client_id,
                api=api_name(key),
                lowest=version,
                highest=version,
                needed=SINCE_KAFKA_4.get(key, 0),
            )
        used.add(version, call.client)
    return sorted(found.values(), key=_order)


def _calls(events: Iterable[list[CaptureRecord]]) -> Iterator[tuple[CaptureRecord, int, int]]:
    """Yield the first record of every call with its API key and version."""
    for first, *_ in events:
        if first.kind != NOTICE and first.api_key is not None and first.api_version is not None:
            yield first, first.api_key, first.api_version


def _order(used: UsedVersions) -> tuple[int, bool, str, str]:
    return -used.blocked, used.client_id is not None, used.client_id or "", used.api
