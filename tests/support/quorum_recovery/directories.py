"""Directories of controllers, written by kwire, for the tests of recoveries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from kwire.batches import Record, build_batch
from kwire.batches.control_records import QuorumMessage, quorum_record
from kwire.batches.metadata_records import VersionedRecord
from kwire.codec.declaration import MetadataRecord
from kwire.logdir.filesystem import DISK, FileSystem
from kwire.logdir.log import LogConfig, MetadataLog
from kwire.logdir.meta_properties import MetaProperties, write_meta_properties
from kwire.logdir.names import METADATA_FOLDER
from kwire.logdir.quorum_state import QuorumState, write_quorum_state
from kwire.messages.data.k_raft_version_record import KRaftVersionRecord
from kwire.messages.data.leader_change_message import LeaderChangeMessage
from kwire.messages.data.leader_change_message import Voter as ChangeVoter
from kwire.messages.data.quorum_state_data import QuorumStateData
from kwire.messages.data.voters_record import (
    Endpoint,
    KRaftVersionFeature,
    Voter,
    VotersRecord,
)
from kwire.messages.records.no_op import NoOpRecord

CLUSTER = "4L6g3nShT-eMCtK--X86sw"
WRITTEN = datetime(2026, 11, 27, 12, tzinfo=UTC)
SEGMENTS = LogConfig(segment_bytes=2000)


def voter(node_id: int, port: int = 1) -> Voter:
    """Return a voter whose address nobody listens at."""
    return Voter(
        voter_id=node_id,
        voter_directory_id=UUID(int=1000 + node_id),
        endpoints=[Endpoint(name="CONTROLLER", host="127.0.0.1", port=port)],
        k_raft_version_feature=KRaftVersionFeature(
            min_supported_version=0, max_supported_version=1
        ),
    )


def make_controller(
    folder: Path,
    node_id: int,
    *,
    voters: Sequence[int] = (1, 2, 3),
    epochs: Mapping[int, int] | None = None,
    cluster_id: str = CLUSTER,
    record: MetadataRecord | None = None,
    times: Mapping[int, datetime] | None = None,
    fs: FileSystem = DISK,
) -> Path:
    """Write the directory of a controller; return it.

    epochs: how many records each epoch has after that of its leader, voter 1; the first epoch
    begins with the voters. record: in all of them. times: of an epoch's batches.
    """
    meta = MetaProperties(
        cluster_id=cluster_id, node_id=node_id, directory_id=UUID(int=1000 + node_id)
    )
    fs.make_folder(folder / METADATA_FOLDER)
    write_meta_properties(folder, meta, WRITTEN, fs)
    epochs = epochs or {1: 10}
    data = QuorumStateData(leader_id=1, leader_epoch=max(epochs), voted_id=-1)
    write_quorum_state(folder / METADATA_FOLDER, QuorumState(data=data, version=1), fs)
    with MetadataLog.open(folder / METADATA_FOLDER, fs, SEGMENTS) as log:
        for epoch, length in epochs.items():
            time = int((times or {}).get(epoch, WRITTEN).timestamp() * 1000)
            leader = LeaderChangeMessage(
                leader_id=1, voters=[ChangeVoter(voter_id=node) for node in voters]
            )
            messages: list[QuorumMessage] = [leader]
            if not log.end_offset:
                messages.append(KRaftVersionRecord(k_raft_version=1))
                messages.append(VotersRecord(voters=[voter(node) for node in voters]))
            _append(log, [quorum_record(item, timestamp=time) for item in messages], epoch)
            value = VersionedRecord(record=record or NoOpRecord(), version=0).encode()
            for _ in range(length):
                _append(log, [Record(value=value, timestamp=time)], epoch, is_control=False)
    return folder


def _append(
    log: MetadataLog, records: Sequence[Record], epoch: int, *, is_control: bool = True
) -> None:
    log.append(
        build_batch(
            records,
            base_offset=log.end_offset,
            partition_leader_epoch=epoch,
            is_control=is_control,
        )
    )


def contents(folder: Path) -> dict[Path, bytes]:
    """Return the files below a folder."""
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
