"""Formats the directories of a node (KIP-631), with the first voters of a dynamic quorum (KIP-853).

As kafka-storage does; `plan` decides everything and touches nothing, `write` does it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from uuid import UUID, uuid4

from kwire.batches.metadata_records import VersionedRecord
from kwire.errors import InvalidValue
from kwire.logdir.bootstrap import write_bootstrap
from kwire.logdir.features import bootstrap_records, effective_levels, effective_metadata_version
from kwire.logdir.filesystem import DISK, FileSystem
from kwire.logdir.lock import LOCK_FILE
from kwire.logdir.meta_properties import (
    MetaProperties,
    read_beside_log,
    write_meta_properties,
)
from kwire.logdir.names import BOOTSTRAP_SNAPSHOT, METADATA_FOLDER
from kwire.logdir.scram import FirstCredential
from kwire.logdir.server_properties import StorageProperties
from kwire.logdir.snapshots import build_snapshot, write_snapshot
from kwire.logdir.voters import InitialVoter, voters_record
from kwire.messages.metadata_versions import KRAFT_VERSION, METADATA_VERSION, MetadataVersion
from kwire.text.ids import uuid_text


class DirectoryKind(StrEnum):
    """The kind of a directory, in the words of kafka-storage."""

    DATA = "data directory"
    METADATA = "metadata directory"
    NON_VOTER = "dynamic metadata non-voter directory"
    VOTER = "dynamic metadata voter directory"


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatOptions:
    """The flags of kafka-storage format.

    At most one of standalone, initial_controllers and no_initial_controllers. scram: credentials
    with which the cluster begins.
    """

    cluster_id: str
    standalone: bool = False
    initial_controllers: tuple[InitialVoter, ...] = ()
    no_initial_controllers: bool = False
    release_version: str | None = None
    features: Mapping[str, int] = field(default_factory=dict)
    scram: tuple[FirstCredential, ...] = ()
    ignore_formatted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FormatPlan:
    """The directories to write, with their kind; each gets the same records."""

    properties: StorageProperties
    cluster_id: str
    metadata_version: MetadataVersion
    kraft_version: int
    records: tuple[VersionedRecord, ...]
    voters: tuple[InitialVoter, ...]
    directories: tuple[tuple[Path, DirectoryKind, UUID], ...]


def random_uuid(new: Callable[[], UUID] = uuid4) -> UUID:
    """Return an id whose text no command takes for an option: it does not begin with a dash."""
    while uuid_text(candidate := new()).startswith("-"):
        pass
    return candidate


def plan(
    properties: StorageProperties,
    options: FormatOptions,
    new_id: Callable[[], UUID] = random_uuid,
    fs: FileSystem = DISK,
) -> FormatPlan:
    """Decide what to write.

    1. Flags and roles go together.
    2. Release and features give metadata.version and all other levels.
    3. Directories that are formatted belong to this cluster and node; they are left as they are,
       which ignore_formatted must allow.
    4. The voter's metadata directory gets the id that the voters were told of.

    Raises InvalidValue with what to do; FileError for a meta.properties that is broken, or
    is not there beside a log.
    """
    # 1.
    voters = _initial_voters(properties, options, new_id)
    unstable = properties.unstable_features
    # 2.
    release = options.release_version
    if release is None and METADATA_VERSION not in options.features:
        release = properties.release or None
    version = effective_metadata_version(release, options.features, unstable=unstable)
    dynamic = not properties.static_voters
    levels = effective_levels(version, options.features, dynamic_quorum=dynamic)
    if options.scram and not version.supports_scram:
        text = f"{version.name} has no SCRAM credentials: choose 3.5 or later"
        raise InvalidValue(text)
    directories = []
    # 3.
    for folder in _unformatted(properties, options, fs):
        kind = _kind(folder, properties, voters)
        # 4.
        own = {voter.node_id: voter.directory_id for voter in voters}
        voter = kind is DirectoryKind.VOTER
        directories.append((folder, kind, own[properties.node_id] if voter else new_id()))
    return FormatPlan(
        properties=properties,
        cluster_id=options.cluster_id,
        metadata_version=version,
        kraft_version=levels[KRAFT_VERSION],
        records=(
            *bootstrap_records(version, levels),
            *(credential.record() for credential in options.scram),
        ),
        voters=voters,
        directories=tuple(directories),
    )


def write(plan: FormatPlan, now: datetime, fs: FileSystem = DISK) -> None:
    """Write the directories. meta.properties comes last: what has none is not formatted."""
    millis = int(now.timestamp() * 1000)
    listener = plan.properties.controller_listener
    for folder, kind, directory_id in plan.directories:
        fs.make_folder(folder)
        # Left by a node whose directory was emptied: the new one has not run yet.
        fs.remove(folder / LOCK_FILE)
        write_bootstrap(folder, plan.records, millis, fs)
        if kind in (DirectoryKind.VOTER, DirectoryKind.NON_VOTER):
            batches = build_snapshot(
                (),
                epoch=BOOTSTRAP_SNAPSHOT.epoch,
                now=millis,
                last_contained_log_timestamp=millis,
                kraft_version=plan.kraft_version,
                voters=voters_record(plan.voters, listener),
            )
            write_snapshot(folder / METADATA_FOLDER, BOOTSTRAP_SNAPSHOT, batches, fs)
        meta = MetaProperties(
            cluster_id=plan.cluster_id,
            node_id=plan.properties.node_id,
            directory_id=directory_id,
        )
        # Last: a crash before leaves a directory that counts as unformatted and is formatted again.
        write_meta_properties(folder, meta, now, fs)


def _initial_voters(
    properties: StorageProperties, options: FormatOptions, new_id: Callable[[], UUID]
) -> tuple[InitialVoter, ...]:
    flags = (options.standalone, options.initial_controllers, options.no_initial_controllers)
    if sum(map(bool, flags)) > 1:
        raise InvalidValue(
            "give one of `standalone`, `initial_controllers` and `no_initial_controllers`"
        )
    if properties.static_voters and (options.standalone or options.initial_controllers):
        raise InvalidValue(
            "controller.quorum.voters makes a static quorum: for a dynamic one remove it"
            " and set controller.quorum.bootstrap.servers"
        )
    if options.standalone:
        return (_standalone(properties, new_id()),)
    if properties.is_controller and not properties.static_voters and not any(flags):
        raise InvalidValue(
            "this controller has no controller.quorum.voters: give `standalone`,"
            " `initial_controllers` or `no_initial_controllers`"
        )
    return options.initial_controllers


def _standalone(properties: StorageProperties, directory_id: UUID) -> InitialVoter:
    if not properties.is_controller:
        raise InvalidValue("`standalone` is for a controller; process.roles has none")
    if properties.controller_endpoint is None:
        raise InvalidValue(f"listeners has no {properties.controller_listener}")
    host, port = properties.controller_endpoint
    return InitialVoter(node_id=properties.node_id, host=host, port=port, directory_id=directory_id)


def _unformatted(
    properties: StorageProperties, options: FormatOptions, fs: FileSystem
) -> list[Path]:
    fresh = []
    for folder in properties.directories:
        meta = read_beside_log(folder, properties.node_id, fs)
        if meta is None:
            fresh.append(folder)
            continue
        _check_owner(folder, meta, properties.node_id, options.cluster_id)
        if not options.ignore_formatted:
            raise InvalidValue(
                f"{folder} is already formatted; `ignore_formatted=True` leaves it as it is"
                " and formats the others"
            )
    return fresh


def _check_owner(folder: Path, meta: MetaProperties, node_id: int, cluster_id: str) -> None:
    if meta.cluster_id != cluster_id:
        raise InvalidValue(f"{folder} belongs to cluster {meta.cluster_id}, not {cluster_id}")
    if meta.node_id != node_id:
        raise InvalidValue(f"{folder} belongs to node {meta.node_id}, not {node_id}")


def _kind(
    folder: Path, properties: StorageProperties, voters: tuple[InitialVoter, ...]
) -> DirectoryKind:
    if folder != properties.metadata_log_dir:
        return DirectoryKind.DATA
    if not voters:
        return DirectoryKind.METADATA
    if properties.node_id in {voter.node_id for voter in voters}:
        return DirectoryKind.VOTER
    return DirectoryKind.NON_VOTER
