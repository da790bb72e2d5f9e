"""Make records of topics, and count how many are decoded at a time, for the tests of replay."""

import asyncio
from uuid import UUID

import pytest

from kwire.batches.metadata_records import VersionedRecord, read_metadata_record
from kwire.controller.server.metadata import replay
from kwire.messages.records.topic import TopicRecord


def topics(first: int, count: int) -> list[VersionedRecord]:
    return [
        VersionedRecord(record=TopicRecord(name=f"t{n}", topic_id=UUID(int=n + 1)), version=0)
        for n in range(first, first + count)
    ]


class CountedDecoding:
    """Counts records as they are decoded, and forgets the count at every turn of the loop."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = self.most = self.total = 0
        read = read_metadata_record

        def counted(value: bytes) -> VersionedRecord:
            self.count += 1
            self.total += 1
            self.most = max(self.most, self.count)
            return read(value)

        monkeypatch.setattr(replay, "read_metadata_record", counted)

    async def turns(self) -> None:
        while True:
            self.count = 0
            await asyncio.sleep(0)
