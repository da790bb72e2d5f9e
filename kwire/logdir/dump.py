"""Files of a log directory as text: DumpLogSegments with --cluster-metadata-decoder."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from kwire.batches import Batch, LegacyBatch, Record, RecordBatch, TimestampType
from kwire.batches.compression import Compression
from kwire.batches.control_records import ControlRecord, ControlRecordType, read_control_record
from kwire.batches.metadata_records import OpaqueRecord, read_metadata_record
from kwire.codec.declaration import Message, MetadataRecord
from kwire.codec.json_form import to_json
from kwire.codec.json_writing import message_writer
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
from kwire.messages.records.client_quota import ClientQuotaRecord

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
        size, valid, last = file.size(), 0, None  # a node may append meanwhile
        try:
            for position, batch in batches_in(file, path, check_crc=False):
                yield batch_line(batch, position, self._is_valid(batch, path, position))
                line = self._line(batch)
                for record in records_of(batch, path, position):
                    if last is not None and record.offset != last + 1:
                        self.problems.append(f"{path}: {last} is followed by {record.offset}")
                    last = record.offset
                    yield line(record)
                valid = position + batch.size
            if size > valid:
                more = f"Found {size - valid} invalid bytes at the end of {path.name}"
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

    def _line(self, batch: Batch) -> Callable[[Record], str]:
        """Return the function that makes the line of each record of a batch."""
        time, is_legacy = _TIMES[batch.timestamp_type], isinstance(batch, LegacyBatch)
        if self.skip_record_metadata:
            if batch.is_control:
                return lambda record: ""
            return lambda record: f"| payload: {payload_text(record)}"

        content, label = (_control_text, "") if batch.is_control else (payload_text, "payload: ")

        def line(record: Record) -> str:
            key = -1 if record.key is None else len(record.key)
            value = -1 if record.value is None else len(record.value)
            more = "" if is_legacy else _more_text(record)
            return (
                f"| offset: {record.offset} {time}: {record.timestamp} keySize: {key}"
                f" valueSize: {value}{more} {label}{content(record)}"
            )

        return line

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
    return _payload_writer(type(read.record), read.version)(read.record)


@cache
def _payload_writer(cls: type[MetadataRecord], version: int) -> Callable[[MetadataRecord], str]:
    head = f'{{"type":"{record_type_name(cls)}","version":{version},"data":'
    text = _json_with_floats if cls is ClientQuotaRecord else _json
    write = message_writer(cls, version, exact=True)
    return lambda record: f"{head}{text(write(record))}}}"


@cache
def record_type_name(cls: type[Message]) -> str:
    """Kafka's name of a record type: FEATURE_LEVEL_RECORD."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).upper()


def _more_text(record: Record) -> str:
    keys = ",".join([header.key for header in record.headers]) if record.headers else ""
    return f" sequence: {record.sequence} headerKeys: [{keys}]"


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
    """Return what json.dumps prints; value: has no number with a fraction."""
    try:
        return _encode_json(value).decode()  # in a tenth of the time
    except UnicodeEncodeError:  # bytes that were no UTF-8
        return _json_with_floats(value)


_encode_json = msgspec.json.Encoder().encode


def _json_with_floats(value: Any) -> str:
    # msgspec prints 1e16 where Python prints 1e+16.
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _java(value: bool) -> str:
    return "true" if value else "false"
