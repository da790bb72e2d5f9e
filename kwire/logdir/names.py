"""The names of the files of a log directory: offsets of 20 digits, epochs of 10."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kwire.messages.metadata_topic import METADATA_PARTITION, METADATA_TOPIC

METADATA_FOLDER = f"{METADATA_TOPIC}-{METADATA_PARTITION}"
META_PROPERTIES = "meta.properties"
BOOTSTRAP_CHECKPOINT = "bootstrap.checkpoint"
QUORUM_STATE = "quorum-state"
LEADER_EPOCH_CHECKPOINT = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"

SEGMENT_SUFFIX, OFFSET_INDEX_SUFFIX, TIME_INDEX_SUFFIX = ".log", ".index", ".timeindex"
PRODUCER_SNAPSHOT_SUFFIX = ".snapshot"
SNAPSHOT_SUFFIX = ".checkpoint"

_SEGMENT = re.compile(r"(\d{20})\.log", re.ASCII)
_INDEX = re.compile(r"\d{20}\.(index|timeindex)", re.ASCII)
_SNAPSHOT = re.compile(r"(\d{20})-(\d{10})\.checkpoint", re.ASCII)
_LEFT_OVER = re.compile(
    r"\d{20}(-\d{10})?\.(log|index|timeindex|snapshot|checkpoint|txnindex)\.deleted"
    r"|\d{20}-\d{10}(-\d+)?\.checkpoint\.(part|tmp)"
    r"|[a-z.-]+\.tmp"
)


@dataclass(frozen=True, slots=True, order=True)
class OffsetAndEpoch:
    """A place in the log: the next offset, and the epoch of the record before it.

    As a snapshot's id: what the snapshot contains ends there. Ordered by epoch, then offset.
    """

    epoch: int = field(kw_only=True)
    offset: int = field(kw_only=True)

    def __str__(self) -> str:
        return f"offset {self.offset}, epoch {self.epoch}"


BOOTSTRAP_SNAPSHOT = OffsetAndEpoch(offset=0, epoch=0)
"""The snapshot that formatting writes; it never goes over the wire (KIP-853)."""


def segment_name(base_offset: int, suffix: str = SEGMENT_SUFFIX) -> str:
    """Return `00000000000000000116.log`."""
    return f"{base_offset:020d}{suffix}"


def snapshot_name(snapshot: OffsetAndEpoch) -> str:
    """Return `00000000000000000052-0000000001.checkpoint`."""
    return f"{snapshot.offset:020d}-{snapshot.epoch:010d}{SNAPSHOT_SUFFIX}"


def segment_offset(name: str) -> int | None:
    """Return the base offset of a segment's log file, None for another file."""
    match = _SEGMENT.fullmatch(name)
    return int(match[1]) if match else None


def is_index(name: str) -> bool:
    """True for the index of a segment, by offsets or by times."""
    return bool(_INDEX.fullmatch(name))


def snapshot_id(name: str) -> OffsetAndEpoch | None:
    """Return the id of a complete snapshot, None for another file."""
    match = _SNAPSHOT.fullmatch(name)
    return OffsetAndEpoch(offset=int(match[1]), epoch=int(match[2])) if match else None


def is_own(name: str) -> bool:
    """True for a file of a metadata folder; others may lie there, and are left alone."""
    small = (QUORUM_STATE, LEADER_EPOCH_CHECKPOINT, PARTITION_METADATA)
    parts = (_SEGMENT, _INDEX, _SNAPSHOT, _LEFT_OVER)
    return name in small or any(part.fullmatch(name) for part in parts)


def is_left_over(name: str) -> bool:
    """True for a file that Kafka, or kwire, was about to remove or never finished writing."""
    return bool(_LEFT_OVER.fullmatch(name))
