"""The counts of a copy, for the log (org.apache.kafka.metadata.migration.MigrationManifest)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from kwire.batches.metadata_records import VersionedRecord

_WORD = re.compile("(?<=[a-z])(?=[A-Z])")


@dataclass(slots=True)
class MigrationManifest:
    """Batches and their records by type; waited_ms: for batches to be committed."""

    batches: int = 0
    waited_ms: int = 0
    counts: Counter[int] = field(default_factory=Counter)
    names: dict[int, str] = field(default_factory=dict)

    def add(self, batch: Sequence[VersionedRecord], waited_ms: int) -> None:
        """Count a batch that was committed."""
        self.batches += 1
        self.waited_ms += waited_ms
        for record in batch:
            self.counts[record.type] += 1
            self.names[record.type] = type(record.record).__name__

    @property
    def records(self) -> int:
        """The records of all batches."""
        return self.counts.total()

    def text(self, duration_ms: int) -> str:
        """Return the sentences that Kafka logs; duration_ms: since the copy began."""
        average = self.waited_ms / self.batches if self.batches else -1.0
        types = (f"{_enum_name(self.names[key])}={self.counts[key]}" for key in sorted(self.counts))
        return (
            f"{self.records} records were generated in {duration_ms} ms across"
            f" {self.batches} batches. The average time spent waiting on a batch was"
            f" {average:.2f} ms. The record types were {{{', '.join(types)}}}"
        )


def _enum_name(record: str) -> str:
    """Return the name in MetadataRecordType: TOPIC_RECORD for TopicRecord."""
    return _WORD.sub("_", record).upper()
