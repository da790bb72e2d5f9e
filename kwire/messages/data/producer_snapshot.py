"""ProducerSnapshot."""

from __future__ import annotations

from kwire.codec.declaration import Data, Group
from kwire.codec.notation import array, int16, int32, int64, uint32


class ProducerEntry(Group):
    producer_id: int = int64
    epoch: int = int16
    last_sequence: int = int32
    last_offset: int = int64
    offset_delta: int = int32
    timestamp: int = int64
    coordinator_epoch: int = int32
    current_txn_first_offset: int = int64


class ProducerSnapshot(Data, versions="1"):
    """A broker remembers the producers of a partition across restarts (KIP-98)."""

    crc: int = uint32
    producer_entries: list[ProducerEntry] = array(ProducerEntry)
