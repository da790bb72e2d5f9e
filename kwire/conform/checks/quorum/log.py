"""The metadata log as a whole: offsets, epochs, control records, records (KIP-595, KIP-853)."""

from __future__ import annotations

from kwire.batches.control_records import read_control_record
from kwire.batches.metadata_records import OpaqueRecord, read_metadata_record
from kwire.conform.check import CheckSection
from kwire.conform.expectation import expect, expect_equal
from kwire.conform.metadata_log import read_log
from kwire.conform.quorum import features_of
from kwire.conform.server import Server
from kwire.conform.vocabulary import Informed, ServerRole, Skipped, kip, schema
from kwire.messages.data.leader_change_message import LeaderChangeMessage
from kwire.messages.data.voters_record import VotersRecord

SECTION = CheckSection("quorum/kip-853/log", "The metadata log as a whole")

_CONTROLLER = ServerRole.CONTROLLER


@SECTION.check(1, kip(595, "Log Structure"), role=_CONTROLLER)
async def _(server: Server) -> None:
    """Offsets have no gap between batches, and epochs never go down."""
    log = await read_log(server)
    offset, epoch = log.start.offset, log.start.epoch
    for batch in log.batches:
        expect_equal("base offset", batch.base_offset, offset)
        expect(batch.partition_leader_epoch >= epoch, f"epoch {epoch} or later", batch)
        offset, epoch = batch.last_offset + 1, batch.partition_leader_epoch
    expect(epoch <= log.quorum.epoch, f"no epoch above the leader's {log.quorum.epoch}", epoch)


@SECTION.check(2, kip(631, "Metadata records"), role=_CONTROLLER)
async def _(server: Server) -> None:
    """Metadata records are written as their schemas say, byte by byte."""
    unknown = set()
    for batch in (await read_log(server)).batches:
        for record in [] if batch.is_control else batch.records():
            value = record.value or b""
            metadata = read_metadata_record(value)
            expect_equal(f"record at {record.offset}", metadata.encode().hex(), value.hex())
            if isinstance(metadata.record, OpaqueRecord):
                unknown.add(metadata.type)
    if unknown:
        raise Informed(f"the log has records of types {sorted(unknown)}, which kwire does not know")


@SECTION.check(3, kip(595, "Leader Progress"), role=_CONTROLLER)
async def _(server: Server) -> None:
    """A leader begins its epoch with a LeaderChangeMessage that names it."""
    log = await read_log(server)
    epoch = log.start.epoch
    if log.end.epoch == epoch:
        raise Skipped("no epoch begins in the log that is there")
    for batch in log.batches:
        if batch.partition_leader_epoch > epoch:
            epoch = batch.partition_leader_epoch
            expect(batch.is_control, f"a control batch at the beginning of epoch {epoch}", "none")
            message = read_control_record(next(batch.records())).message
            expect(isinstance(message, LeaderChangeMessage), "a LeaderChangeMessage", message)
            if isinstance(message, LeaderChangeMessage) and epoch == log.quorum.epoch:
                expect_equal("its leader", message.leader_id, log.quorum.leader_id)


@SECTION.check(4, kip(853, "VotersRecord"), role=_CONTROLLER)
async def _(server: Server) -> None:
    """At kraft.version 1 the last VotersRecord has the voters that DescribeQuorum has."""
    log = await read_log(server)
    await log.quorum.demand_kraft_version(1)
    voters = log.snapshot.voters if log.snapshot is not None else None
    for batch in log.batches:
        for record in batch.records() if batch.is_control else []:
            message = read_control_record(record).message
            voters = message if isinstance(message, VotersRecord) else voters
    written = {(v.voter_id, v.voter_directory_id) for v in voters.voters} if voters else set()
    described = {(id, v.replica_directory_id) for id, v in log.quorum.voters.items()}
    expect_equal("voters", written, described)


@SECTION.check(5, schema("FeatureLevelRecord"), role=_CONTROLLER)
async def _(server: Server) -> None:
    """The features that ApiVersions finalizes are those in the log."""
    log = await read_log(server)
    finalized = (await features_of(log.quorum.connection)).finalized_features
    # kraft.version stands in control records, not in the image.
    finalized_levels = {
        name: item.max_version for name, item in finalized.items() if name != "kraft.version"
    }
    written = dict(log.image.features.levels)
    expect_equal("levels", {k: v for k, v in finalized_levels.items() if v}, written)
