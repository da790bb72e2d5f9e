"""Files of a log directory as text: DumpLogSegments with --cluster-metadata-decoder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kwire.batches import Batch, LegacyBatch, Record, RecordBatch, TimestampType
from kwire.batches.compression import Compression
from kwire.batches.control_records import ControlRecord, ControlRecordType, read_control_record
from kwire.batches.metadata_records import OpaqueRecord, read_metadata_record
from kwire.codec.declaration import Message
from kwire.codec.json_form import to_json
from kwire.errors import BatchError, DecodeError, FileError, WireError
from kwire.logdir.filesystem import DISK, FileSystem
from kwire.logdir.indexes import read_offset_index, read_time_index
from kwire.logdir.leader_epochs import parse_leader_epochs
from kwire.logdir.names import (
    BOOTSTRAP_CHECKPOINT,
    LEADER_EPOCH_CHECKPOINT,
    METADATA_FOLDER,
    OFFSET_INDEX_SUFFIX,
    PARTITION_METADATA,
    QUORUM_STATE,
    SEGMENT_SUFFIX,
    SNAPSHOT_SUFFIX,
    is_index,
    segment_offset,
    snapshot_id,
)
from kwire.logdir.quorum_state import VERSION_MEMBER, parse_quorum_state
from kwire.logdir.recovery import contradiction
from kwire.logdir.segment import batches_in

_TIMES = {
    TimestampType.NO_TIMESTAMP_TYPE: "NoTimestampType",
    TimestampType.CREATE_TIME: "CreateTime",
    TimestampType.LOG_APPEND_TIME: "LogAppendTime",
}
_CONTROL = {
    ControlRecordType.LEADER_CHANGE: "LeaderChange:",
    ControlRecordType.SNAPSHOT_HEADER: "SnapshotHeader",
    ControlRecordType.SNAPSHOT_FOOTER: "SnapshotFooter",
    ControlRecordType.KRAFT_VERSION: "KRaftVersion",
    ControlRecordType.KRAFT_VOTERS: "KRaftVoters",
}


def files_in(folder: Path, fs: FileSystem = DISK) -> list[Path]:
    """Return the known files of a partition's folder; of a node's those of the metadata log too."""
    names = fs.names(folder)
    files = [folder / name for name in names if _known(name)]
    if METADATA_FOLDER in names:
        files += files_in(folder / METADATA_FOLDER, fs)
    return files


@dataclass(slots=True, kw_only=True)
class Dump:
    """Dumps files one after the other.

    skip_record_metadata: values only; control records are then empty lines, as in Kafka.
    problems: a sentence for each thing that is wrong with what was dumped so far.
    """

    fs: FileSystem = DISK
    skip_record_metadata: bool = False
    problems: list[str] = field(default_factory=list)

    def lines(self, path: Path) -> Iterator[str]:
        """Yield a file line by line, by what its name says it is.

        Raises FileError if it cannot be read on.

        A folder stands for all files in it that are known.
        """
        if self.fs.is_folder(path):
            files = files_in(path, self.fs)
            if not files:
                self.problems.append(
                    f"{path} has no segments, snapshots or quorum-state: give the folder of a node"
                    " or of a partition, or a file of it"
                )
            for file in files:
                yield from self.lines(file)
            for folder in (path, path / METADATA_FOLDER):
                # A copy of some of the files is no folder of a node.
                is_log = folder.name == METADATA_FOLDER
                if is_log and self.fs.exists(folder / PARTITION_METADATA):
                    self._compare(folder)
            return
        self.fs.open(path).close()  # says that there is none before anything else is said
        yield f"Dumping {path}"
        if not _known(path.name):
            self.problems.append(f"Ignoring unknown file {path}")
        elif path.suffix in (SEGMENT_SUFFIX, SNAPSHOT_SUFFIX):
            yield from self._log(path)
        elif path.suffix == OFFSET_INDEX_SUFFIX:
            yield from self._offset_index(path)
        else:
            yield from _small_file(path, self.fs.read_file(path))

    def _compare(self, folder: Path) -> None:
        """Add what the files contradict each other in, unless it was seen in one of them."""
        problem = contradiction(self.fs, folder)
        if problem and problem.split(": ")[0] not in {
            seen.split(": ")[0] for seen in self.problems
        }:
            self.problems.append(problem)

    def _log(self, path: Path) -> Iterator[str]:
        yield _headline(path)
        file = self.fs.open(path)
        valid, last = 0, None
        try:
            for position, batch in batches_in(file, path, check_crc=False):
                yield batch_line(batch, position, self._is_valid(batch, path, position))
                for record in records_of(batch, path, position):
                    if last is not None and record.offset != last + 1:
                        self.problems.append(f"{path}: {last} is followed by {record.offset}")
                    last = record.offset
                    yield self._record_line(batch, record)
                valid = position + batch.size
            if file.size() > valid:
                more = f"Found {file.size() - valid} invalid bytes at the end of {path.name}"
                self.problems.append(f"{path}, byte {valid}: the batch is cut off")
                yield more
        finally:
            file.close()

    def _is_valid(self, batch: Batch, path: Path, position: int) -> bool:
        try:
            batch.check()
        except BatchError as error:
            self.problems.append(f"{path}, byte {position}: {error.reason}")
            return False
        return True

    def _record_line(self, batch: Batch, record: Record) -> str:
        parts = ["|"]
        if not self.skip_record_metadata:
            parts.append(_metadata_text(batch, record))
            if batch.is_control:
                parts.append(_control_text(record))
        if not batch.is_control:
            parts.append(f"payload: {payload_text(record)}")
        return " ".join(parts) if len(parts) > 1 else ""

    def _offset_index(self, path: Path) -> Iterator[str]:
        entries = list(read_offset_index(self.fs.read_file(path), int(path.name[:20])))
        if not entries:
            yield f"{path} is empty."
            return
        log = path.with_suffix(SEGMENT_SUFFIX)
        file = self.fs.open(log)
        try:
            for offset, position in entries:
                yield f"offset: {offset} position: {position}"
                positioned = next(batches_in(file, log, position, check_crc=False), None)
                if positioned is None or positioned[1].last_offset != offset:
                    there = positioned[1].last_offset if positioned else "no batch"
                    self.problems.append(f"{path}: offset {offset}, the log has {there} there")
        finally:
            file.close()


def batch_line(batch: Batch, position: int, is_valid: bool) -> str:
    """Return the line that DumpLogSegments prints for a batch."""
    compression = batch.compression
    name = compression.name.lower() if isinstance(compression, Compression) else str(compression)
    start = f"offset: {batch.last_offset}"
    if isinstance(batch, RecordBatch):
        horizon = batch.delete_horizon
        start = (
            f"baseOffset: {batch.base_offset} lastOffset: {batch.last_offset} count: {batch.count}"
            f" baseSequence: {batch.base_sequence} lastSequence: {batch.last_sequence}"
            f" producerId: {batch.producer_id} producerEpoch: {batch.producer_epoch}"
            f" partitionLeaderEpoch: {batch.partition_leader_epoch}"
            f" isTransactional: {_java(batch.is_transactional)}"
            f" isControl: {_java(batch.is_control)} deleteHorizonMs: "
            + ("OptionalLong.empty" if horizon is None else f"OptionalLong[{horizon}]")
        )
    return (
        f"{start} position: {position} {_TIMES[batch.timestamp_type]}: {batch.max_timestamp}"
        f" size: {batch.size} magic: {batch.magic} compresscodec: {name}"
        f" crc: {batch.crc} isvalid: {_java(is_valid)}"
    )


def payload_text(record: Record) -> str:
    """Return a metadata record as JSON; one that cannot be read, or is not known, says so."""
    try:
        read = read_metadata_record(record.value or b"")
    except DecodeError as error:
        return f"Error at {record.offset}, skipping. {error}"
    if isinstance(read.record, OpaqueRecord):
        kind = f"record type {read.type}, version {read.version}"
        return f"Error at {record.offset}, skipping. Unknown {kind}: {read.record.body.hex()}"
    return _json(
        {
            "type": record_type_name(type(read.record)),
            "version": read.version,
            "data": to_json(read.record, read.version),
        }
    )


def record_type_name(cls: type[Message]) -> str:
    """Kafka's name of a record type: FEATURE_LEVEL_RECORD."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).upper()


def _metadata_text(batch: Batch, record: Record) -> str:
    key, value = (-1 if part is None else len(part) for part in (record.key, record.value))
    text = (
        f"offset: {record.offset} {_TIMES[batch.timestamp_type]}: {record.timestamp}"
        f" keySize: {key} valueSize: {value}"
    )
    if isinstance(batch, LegacyBatch):
        return text
    keys = ",".join(header.key for header in record.headers)
    return f"{text} sequence: {record.sequence} headerKeys: [{keys}]"


def _control_text(record: Record) -> str:
    try:
        control = read_control_record(record)
    except WireError as error:
        return f"controlType: broken ({error})"
    if control.message is None:
        name = "UNKNOWN" if control.type not in set(ControlRecordType) else "UNKNOWN_VERSION"
        return f"controlType: {name}({control.type})"
    kind = ControlRecordType(control.type)
    if kind in _CONTROL:
        return f"{_CONTROL[kind]} {_json(to_json(control.message, control.version))}"
    return _marker_text(kind, control)


def _marker_text(kind: ControlRecordType, control: ControlRecord) -> str:
    epoch = getattr(control.message, "coordinator_epoch", -1)
    return f"endTxnMarker: {kind.name} coordinatorEpoch: {epoch}"


def records_of(batch: Batch, path: Path, position: int) -> Iterator[Record]:
    """Yield the records of a batch at a position of a file. Raises FileError."""
    try:
        yield from batch.records()
    except BatchError as error:
        raise FileError(error.reason, file=path, offset=position) from None


def _small_file(path: Path, data: bytes) -> Iterator[str]:
    if path.name == QUORUM_STATE:
        state = parse_quorum_state(data, path)
        yield _json(to_json(state.data, state.version) | {VERSION_MEMBER: state.version})
    elif path.name == LEADER_EPOCH_CHECKPOINT:
        for start in parse_leader_epochs(data, path).starts:
            yield f"epoch: {start.epoch} startOffset: {start.offset}"
    else:
        for timestamp, offset in read_time_index(data, int(path.name[:20])):
            yield f"timestamp: {timestamp} offset: {offset}"


def _headline(path: Path) -> str:
    if path.name == BOOTSTRAP_CHECKPOINT:
        return "KRaft bootstrap snapshot"
    snapshot = snapshot_id(path.name)
    if snapshot is not None:
        return f"Snapshot end offset: {snapshot.offset}, epoch: {snapshot.epoch}"
    return f"Log starting offset: {segment_offset(path.name)}"


def _known(name: str) -> bool:
    is_log = segment_offset(name) is not None or snapshot_id(name) is not None
    single = (BOOTSTRAP_CHECKPOINT, QUORUM_STATE, LEADER_EPOCH_CHECKPOINT)
    return is_log or is_index(name) or name in single


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _java(value: bool) -> str:
    return "true" if value else "false"
