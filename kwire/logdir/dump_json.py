"""The batches of a segment or snapshot as JSON values, for scripts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kwire.batches import Batch, Record
from kwire.batches.control_records import ControlRecordType, read_control_record
from kwire.batches.metadata_records import OpaqueRecord, read_metadata_record
from kwire.codec.declaration import MetadataRecord
from kwire.codec.json_form import to_json
from kwire.errors import InvalidValue, WireError
from kwire.logdir.dump import files_in, record_type_name, records_of
from kwire.logdir.filesystem import DISK, FileSystem
from kwire.logdir.names import BOOTSTRAP_CHECKPOINT, segment_offset, snapshot_id
from kwire.logdir.segment import batches_in
from kwire.messages.records.zk_migration_state import ZkMigrationStateRecord
from kwire.messages.zk_migration_state import migration_state_name


def records_as_json(path: Path, fs: FileSystem = DISK) -> Iterator[dict[str, Any]]:
    """Yield a value for each record, with its offset, epoch, type, version and data; the state of a
    migration from ZooKeeper by name, too.

    A folder stands for its segments and snapshots.

    Raises InvalidValue for a file that has no records, FileError where one cannot be read on. A
    record whose value is broken has an `error` in place of its `data`.
    """
    if fs.is_folder(path):
        for each in filter(_has_records, files_in(path, fs)):
            yield from records_as_json(each, fs)
        return
    if not _has_records(path):
        raise InvalidValue(f"{path} is no segment and no snapshot: only these have records")
    file = fs.open(path)
    try:
        for position, batch in batches_in(file, path):
            location = {"file": str(path), "position": position}
            for record in records_of(batch, path, position):
                yield location | _head(batch, record) | _content(batch, record)
    finally:
        file.close()


def _has_records(path: Path) -> bool:
    name = path.name
    return (
        segment_offset(name) is not None
        or snapshot_id(name) is not None
        or name == BOOTSTRAP_CHECKPOINT
    )


def _head(batch: Batch, record: Record) -> dict[str, Any]:
    return {
        "offset": record.offset,
        "epoch": batch.partition_leader_epoch,
        "timestamp": record.timestamp,
        "control": batch.is_control,
    }


def _content(batch: Batch, record: Record) -> dict[str, Any]:
    try:
        return _control(record) if batch.is_control else _metadata(record)
    except WireError as error:
        return {"error": str(error)}


def _control(record: Record) -> dict[str, Any]:
    control = read_control_record(record)
    known = control.type in set(ControlRecordType)
    kind = ControlRecordType(control.type).name if known else control.type
    if control.message is None:
        return {"type": kind, "value": (record.value or b"").hex()}
    data = to_json(control.message, control.version)
    return {"type": kind, "version": control.version, "data": data}


def _metadata(record: Record) -> dict[str, Any]:
    read = read_metadata_record(record.value or b"")
    if isinstance(read.record, OpaqueRecord):
        return {"type": read.type, "version": read.version, "value": read.record.body.hex()}
    data = to_json(read.record, read.version)
    content = {"type": record_type_name(type(read.record)), "version": read.version, "data": data}
    return content | _names(read.record)


def _names(record: MetadataRecord) -> dict[str, Any]:
    """Return the name of a migration's state: the number 2 comes before 1 in a log (KIP-866)."""
    if not isinstance(record, ZkMigrationStateRecord):
        return {}
    name = migration_state_name(record.zk_migration_state)
    return {} if name is None else {"state": name}
