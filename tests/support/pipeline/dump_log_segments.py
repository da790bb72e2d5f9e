"""A parser of what Java's DumpLogSegments prints."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from kwire.messages.index import METADATA_RECORDS
from kwire.pipeline.typed import snake

_RECORD = re.compile(r"\| offset: (\d+) CreateTime: (\d+) .*? headerKeys: \[\] (.*)")
_BATCH = re.compile(r"baseOffset: (\d+) lastOffset: (\d+) .*partitionLeaderEpoch: (\d+)")
_CONTROL = {
    "LeaderChange:": "LeaderChangeMessage",
    "KRaftVersion": "KRaftVersionRecord",
    "KRaftVoters": "VotersRecord",
    "SnapshotHeader": "SnapshotHeaderRecord",
    "SnapshotFooter": "SnapshotFooterRecord",
}
_NAMES = {snake(name).upper(): name for name in METADATA_RECORDS.values()}


@dataclass(frozen=True, slots=True)
class DumpedRecord:
    """A record as Java printed it: data in Kafka's JSON, at milliseconds since 1970."""

    offset: int
    epoch: int
    at: int
    name: str
    version: int
    data: dict[str, Any]


def dumped_records(lines: Iterable[str]) -> Iterator[DumpedRecord]:
    """Every record in the lines for one file."""
    epoch = -1
    for line in lines:
        if found := _BATCH.match(line):
            epoch = int(found[3])
        elif found := _RECORD.match(line):
            offset, at, said = int(found[1]), int(found[2]), found[3]
            word, _, value = said.partition(" ")
            data = json.loads(value)
            if word == "payload:":
                name, version = _NAMES[data["type"]], data["version"]
                data = data["data"]
            else:
                name, version = _CONTROL[word], data["version"]
            yield DumpedRecord(offset, epoch, at, name, version, data)
