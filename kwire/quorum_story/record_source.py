"""A metadata log or checkpoint as a source: leaders and voters, as its control records have them.

Nothing is written, so that the folder of a node that runs can be read, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from kwire.batches import Batch, Record
from kwire.batches.control_records import read_control_record
from kwire.errors import KwireError
from kwire.logdir.dump import files_in, records_of
from kwire.logdir.filesystem import DISK, FileSystem
from kwire.logdir.names import METADATA_FOLDER, segment_offset, snapshot_id
from kwire.logdir.recovery import contradiction
from kwire.logdir.segment import batches_in
from kwire.messages.data.leader_change_message import LeaderChangeMessage
from kwire.messages.data.voters_record import VotersRecord
from kwire.quorum_story.causes import BY_ID
from kwire.quorum_story.event_list import EventList
from kwire.quorum_story.story import StoryEvent, StoryKind, StorySource


def metadata_folder(path: Path, fs: FileSystem = DISK) -> StorySource:
    """Return what the metadata log of a folder tells, or one segment or checkpoint of it.

    What cannot be read is the source's problem, with what was read before it.
    """
    kept = EventList()
    times: list[int] = []
    problem = ""
    files = [path]
    try:
        if fs.is_folder(path):
            files = [file for file in files_in(path, fs) if _has_records(file)]
            problem = _folder_problem(path, files, fs)
        elif _is_empty(path, fs):
            problem = f"{path} is empty."
        for file in files:
            for event in _events(file, str(path), fs):
                times += [event.time] if event.time is not None else []
                kept.keep(event)
    except (KwireError, OSError) as error:
        problem = problem or f"{path} cannot be read to its end: {error}"
    return StorySource(
        name=str(path),
        events=tuple(kept.events),
        first_time=min(times, default=None),
        last_time=max(times, default=None),
        is_log_file=False,
        problem=problem,
    )


def _folder_problem(path: Path, files: Sequence[Path], fs: FileSystem) -> str:
    if not files:
        return f"{path} has no metadata log: give the folder {METADATA_FOLDER}."
    # A tail that is cut off is no wonder, a hole before it is.
    wrong = contradiction(fs, files[0].parent)
    return f"{path} is damaged, and read as far as it is whole: {wrong}." if wrong else ""


def _is_empty(path: Path, fs: FileSystem) -> bool:
    with closing(fs.open(path)) as file:
        return not file.size()


def _has_records(file: Path) -> bool:
    return segment_offset(file.name) is not None or snapshot_id(file.name) is not None


def _events(path: Path, source: str, fs: FileSystem) -> Iterator[StoryEvent]:
    file = fs.open(path)
    epoch: int | None = None
    try:
        for position, batch in batches_in(file, path):
            begins = epoch is not None and batch.partition_leader_epoch > epoch
            epoch = batch.partition_leader_epoch
            if batch.is_control:
                for record in records_of(batch, path, position):
                    for event in _control(batch, record, path, source):
                        yield event
                        if begins and event.kind is StoryKind.VOTERS:
                            yield _recovered(event)
    finally:
        file.close()


def _recovered(voters: StoryEvent) -> StoryEvent:
    """Return the cause that a voter set shows which begins an epoch: leaders begin theirs."""
    ids = voters.text.partition(": ")[2]
    return replace(
        voters, kind=StoryKind.CAUSE, cause=BY_ID["voters.recovered"], details={"voters": ids}
    )


def _control(batch: Batch, record: Record, path: Path, source: str) -> Iterator[StoryEvent]:
    message = read_control_record(record).message
    epoch, place = batch.partition_leader_epoch, f"{path.name} offset {record.offset}"
    # A checkpoint's records have the time at which it was written, or none.
    time = record.timestamp if record.timestamp > 0 else None
    if isinstance(message, LeaderChangeMessage):
        granted = ", ".join(str(voter.voter_id) for voter in message.granting_voters)
        yield StoryEvent(
            kind=StoryKind.LEADS,
            source=source,
            place=place,
            sentence=f"leads in epoch {epoch}, by the votes of {granted or 'nobody'}",
            time=time,
            node_id=message.leader_id,
            epoch=epoch,
            leader_id=message.leader_id,
            text=f"LeaderChangeMessage: {message.leader_id}",
        )
    elif isinstance(message, VotersRecord):
        names = ", ".join(str(voter.voter_id) for voter in message.voters)
        yield StoryEvent(
            kind=StoryKind.VOTERS,
            source=source,
            place=place,
            sentence=f"the voters are {names}",
            time=time,
            text=f"VotersRecord: {names}",
        )
