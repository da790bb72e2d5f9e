"""The files of each survivor, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.logdir.names import BOOTSTRAP_SNAPSHOT, OffsetAndEpoch
from kwire.messages.data.voters_record import Voter
from kwire.quorum_recovery.plan import Relation, SurvivorComparison, voter_text
from kwire.quorum_recovery.survivor import DamagedLog, KnownVoters
from kwire.text.ids import uuid_text
from kwire.text.phrases import count, listed


def voter_document(voter: Voter) -> dict[str, object]:
    """Return a new voter as a JSON object."""
    return {
        "controllerId": voter.voter_id,
        "directoryId": uuid_text(voter.voter_directory_id),
        "endpoints": [
            {"name": item.name, "host": item.host, "port": item.port} for item in voter.endpoints
        ],
    }


def survivor_document(comparison: SurvivorComparison) -> dict[str, object]:
    """Return a survivor as a JSON object."""
    one = comparison.survivor
    voted = one.state.data.voted_id
    return {
        "controllerId": one.node_id,
        "directory": str(one.folder),
        "metaProperties": one.meta.as_properties(),
        "quorumState": {
            "version": one.state.version,
            "leaderEpoch": one.state.data.leader_epoch,
            "leaderId": one.state.data.leader_id if one.state.data.leader_id >= 0 else None,
            "votedId": voted if voted >= 0 else None,
        },
        "logStartOffset": one.start,
        "logEndOffset": one.end.offset,
        "lastEpoch": one.end.epoch,
        "lastLeaderId": one.last_leader,
        "checkpoint": None if one.committed == BOOTSTRAP_SNAPSHOT else _position(one.committed),
        "highWatermarkAtLeast": one.committed.offset,
        "kraftVersion": one.kraft_version,
        "voterIds": sorted(one.voter_ids),
        "voterSets": [_voter_set_document(item) for item in one.voter_sets],
        "comparison": comparison.relation.value,
        "commonOffset": comparison.common,
        "ownRecords": comparison.own,
        "missingRecords": comparison.missing,
        "tornBytes": one.torn.size if one.torn else 0,
    }


def _voter_set_document(voter_set: KnownVoters) -> dict[str, object]:
    return {
        **_position(voter_set.position),
        "voters": [voter_document(voter) for voter in voter_set.voters],
    }


def _position(position: OffsetAndEpoch) -> dict[str, object]:
    return {"offset": position.offset, "epoch": position.epoch}


def damage_document(damage: DamagedLog) -> dict[str, object]:
    """Return a directory that no node starts with as a JSON object."""
    return {
        "directory": str(damage.folder),
        "error": str(damage.error),
        "wholeUpTo": None if damage.left is None else _position(damage.left),
    }


def damage_text(damage: DamagedLog) -> str:
    """Return what is broken and what would be left."""
    left = "no whole batch is"
    if damage.left is not None:
        left = f"offsets up to {damage.left.offset - 1}, of epoch {damage.left.epoch}, are"
    return f"{damage.error}; {left} whole before the damage"


def details(comparison: SurvivorComparison) -> Iterator[tuple[str, str]]:
    """Yield what the files of a survivor say, by the file or the thing."""
    one = comparison.survivor
    state = one.state.data
    properties = one.meta.as_properties()
    yield "meta.properties", ", ".join(f"{name}={value}" for name, value in properties.items())
    leader = f"leader {state.leader_id}" if state.leader_id >= 0 else "no leader"
    vote = f"voted for {state.voted_id}" if state.voted_id >= 0 else "no vote"
    yield "quorum-state", f"epoch {state.leader_epoch}, {leader}, {vote}"
    last_leader = "" if one.last_leader is None else f", last led by {one.last_leader}"
    yield "log", f"from offset {one.start} to {one.end.offset}, epoch {one.end.epoch}{last_leader}"
    if one.torn:
        bytes_ = count(one.torn.size, "byte")
        yield "torn end", f"{one.torn.file.name}, byte {one.torn.position}: {bytes_} are cut off"
    if one.committed == BOOTSTRAP_SNAPSHOT:
        yield "checkpoint", "none: nothing proves a high watermark"
    else:
        proved = f"the high watermark was at least {one.committed.offset}"
        yield "checkpoint", f"{one.committed}: {proved}"
    yield "kraft.version", str(one.kraft_version)
    if not one.voter_sets:
        yield "voters", f"{listed(one.voter_ids)}, by quorum-state"
    names = ("voters", "before that", "before that")
    for name, voter_set in zip(names, reversed(one.voter_sets), strict=False):
        voters = ", ".join(map(voter_text, voter_set.voters))
        yield name, f"{voters}, since {voter_set.position}"


def relation_text(comparison: SurvivorComparison) -> str:
    """Return how a log compares to the most complete one."""
    match comparison.relation:
        case Relation.CHOSEN:
            return "most complete"
        case Relation.SAME:
            return "the same"
        case Relation.BEHIND:
            return f"{comparison.missing} behind"
        case _:
            return f"differs from offset {comparison.common} on"
