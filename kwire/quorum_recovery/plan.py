"""Decides how survivors make a quorum again; reads nothing, writes nothing.

The survivors become the voters. The most complete one gets the record that says so, at the end of
its log, and in an epoch in which nobody can have led: the others learn of it as followers do, and
vote for it since its log is ahead of theirs (KIP-853). Until a majority of the new voters runs,
nobody leads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kwire.errors import InvalidValue
from kwire.logdir.quorum_state import LAST_EPOCH
from kwire.messages.data.voters_record import Endpoint, KRaftVersionFeature, Voter, VotersRecord
from kwire.quorum_recovery.errors import RecoveryRefused
from kwire.quorum_recovery.survivor import Survivor
from kwire.text.ids import uuid_text
from kwire.text.phrases import ids_text, listed

EPOCHS_AHEAD = 1000
"""How far the new epoch is ahead of all that the survivors know of.

Voters that are lost may have led in later epochs. If one comes back, a record of its own must not
have the offset and the epoch of the new one: followers would take the two for the same.
"""

USUAL_VOTERS = 7
"""How many voters a round of epochs has turns for: 2 ** 7 turns of EPOCHS_AHEAD."""


class Relation(StrEnum):
    """The relation of a survivor's log to that of the most complete one."""

    CHOSEN = "chosen"
    SAME = "same"
    BEHIND = "behind"
    DIVERGED = "diverged"


@dataclass(frozen=True, slots=True, kw_only=True)
class SurvivorComparison:
    """common: the offset up to which both logs are the same. own: records that only this one has,
    which it drops when it follows. missing: records that it fetches."""

    survivor: Survivor
    relation: Relation
    common: int
    own: int
    missing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryPlan:
    """The survivors as voters, and what that takes.

    epoch: of the new record. lost_ids: of the voters before the recovery that are no survivors.
    is_done: the chosen survivor's log ends with this voter set already. static: the voters are
    named by controller.quorum.voters of every node, and no record can change them (kraft.version
    0).
    """

    cluster_id: str
    chosen: Survivor
    comparisons: tuple[SurvivorComparison, ...]
    voters: tuple[Voter, ...]
    epoch: int
    lost_ids: frozenset[int]
    is_done: bool
    static: bool

    @property
    def survivors(self) -> tuple[Survivor, ...]:
        """All of them; the chosen one comes first."""
        return tuple(comparison.survivor for comparison in self.comparisons)

    @property
    def record(self) -> VotersRecord:
        """The record of the new voters."""
        return VotersRecord(voters=list(self.voters))

    @property
    def intact_ids(self) -> frozenset[int]:
        """The voters in force that have all that they acknowledged: not those of older copies."""
        intact = {survivor.node_id for survivor in self.survivors if not survivor.is_copy}
        return self.chosen.voter_ids & intact

    @property
    def has_majority(self) -> bool:
        """True if the survivors are a majority of the voters in force, copies not counted."""
        return len(self.intact_ids) * 2 > len(self.chosen.voter_ids)


def plan_recovery(
    survivors: Sequence[Survivor], endpoints: Mapping[int, Sequence[Endpoint]] | None = None
) -> RecoveryPlan:
    """Decide how the survivors become a quorum.

    1. They are different controllers of one cluster.
    2. The most complete one is chosen as an election would: by the epoch of its last record, then
       by its end (KIP-595).
    3. Every survivor becomes a voter, reached at its new endpoints, else at those in the voter set
       in force, else at those that it registered.
    4. A majority that has its addresses needs no recovery. Static voters may not be able to elect
       another one than the most complete.

    endpoints: new ones by node id. Raises RecoveryRefused where the survivors make no quorum or
    need none, InvalidValue for endpoints that no survivor can get.
    """
    if not survivors:
        raise InvalidValue("give the directory of at least one controller")
    # 1.
    _check_together(survivors)
    # 2.
    ordered = sorted(survivors, key=lambda one: one.node_id)
    chosen = max(ordered, key=lambda one: one.end)
    others = [one for one in ordered if one is not chosen]
    comparisons = tuple(compare(one, chosen) for one in (chosen, *others))
    epoch = _new_epoch(survivors, chosen)
    # 3.
    changed = endpoints or {}
    static = not chosen.kraft_version
    voters = () if static else tuple(_voter(one, chosen, changed) for one in ordered)
    _check_named(changed, ordered)
    ids = frozenset(one.node_id for one in survivors)
    done = _is_done(chosen, voters, ordered)
    plan = RecoveryPlan(
        cluster_id=chosen.meta.cluster_id or "",
        chosen=chosen,
        comparisons=comparisons,
        voters=voters,
        epoch=epoch,
        lost_ids=_voter_ids_before(chosen, done=done) - ids,
        is_done=done,
        static=static,
    )
    # 4.
    if plan.has_majority and not changed and not plan.is_done:
        raise RecoveryRefused(_needless(sorted(plan.intact_ids), plan.chosen.voter_ids))
    _check_static_election(plan)
    return plan


def _voter_ids_before(chosen: Survivor, *, done: bool) -> frozenset[int]:
    """Return the voters before the recovery, as far as the log still has them."""
    if done and len(chosen.voter_sets) > 1:
        return chosen.voter_sets[-2].ids
    return chosen.voter_ids


def _new_epoch(survivors: Sequence[Survivor], chosen: Survivor) -> int:
    """Return an epoch in which nobody can have led, and which no other survivors would get.

    Two operators may recover different survivors of one quorum and not know of each other. Both
    begin from the same logs: in one epoch, brokers that go from one quorum to the other would take
    their records for the same, and each leader for the other. So a recovery takes the next round of
    epochs, and in it the turn of its survivors.
    """
    latest = max(one.last_known_epoch for one in survivors)
    ids = {one.node_id for one in survivors}
    known = [*sorted(chosen.voter_ids), *sorted(ids - chosen.voter_ids)]
    turn = sum(1 << known.index(node_id) for node_id in ids)
    a_round = EPOCHS_AHEAD << max(len(known), USUAL_VOTERS)
    epoch = (latest // a_round + 1) * a_round + turn * EPOCHS_AHEAD
    if epoch >= LAST_EPOCH:
        raise RecoveryRefused(f"no epoch is left for a recovery after epoch {latest}")
    return epoch


def _needless(here: Sequence[int], voters: frozenset[int]) -> str:
    if len(voters) == 1:
        return (
            f"controller {here[0]} is the only voter: start it, and it leads; if its address"
            " changed, give the new one"
        )
    return (
        f"{ids_text('controller', here)} of the voters {listed(voters)} are a majority: start them,"
        " and they elect a leader; if their addresses changed, give the new ones"
    )


def _check_static_election(plan: RecoveryPlan) -> None:
    """Raise RecoveryRefused if static voters could elect one that lacks what another has committed.

    Two need each other's votes. Of three, two whose logs are behind elect one of themselves while
    the third is still starting; no record keeps them from it.
    """
    behind = [one for one in plan.comparisons if one.missing]
    if plan.static and not plan.has_majority and len(plan.survivors) > 2 and behind:
        ids = {one.survivor.node_id for one in behind}
        raise RecoveryRefused(
            f"{ids_text('controller', ids)} could elect a leader that lacks what controller"
            f" {plan.chosen.node_id} has, since the voters are static: give controller"
            f" {plan.chosen.node_id} and one other; the rest can be formatted anew"
        )


def _check_together(survivors: Sequence[Survivor]) -> None:
    by_id: dict[int, Survivor] = {}
    for one in survivors:
        first = survivors[0]
        if one.meta.cluster_id != first.meta.cluster_id:
            raise RecoveryRefused(
                f"{one.folder} is of cluster {one.meta.cluster_id}, {first.folder} of"
                f" {first.meta.cluster_id}: survivors are of one cluster"
            )
        if not one.is_controller:
            raise RecoveryRefused(
                f"{one.folder} is of node {one.node_id}, which is no controller: its copy of the"
                " metadata log makes no voter; give the directory of a controller"
            )
        other = by_id.setdefault(one.node_id, one)
        if other is not one:
            raise RecoveryRefused(
                f"{other.folder} and {one.folder} are both of controller {one.node_id}: give one"
            )
    if len({bool(one.kraft_version) for one in survivors}) > 1:
        static = [one.node_id for one in survivors if not one.kraft_version]
        raise RecoveryRefused(
            f"the log of {ids_text('controller', static)} ends before kraft.version 1, which the"
            " others have: leave out what is behind; it can be formatted anew and added later"
        )


def _check_named(changed: Mapping[int, object], survivors: Iterable[Survivor]) -> None:
    unknown = sorted(set(changed) - {one.node_id for one in survivors})
    if unknown:
        raise InvalidValue(
            f"endpoints are given for {ids_text('controller', unknown)}, whose directory is not:"
            " every voter of the new quorum is a survivor; others are added once it leads"
        )


def compare(one: Survivor, chosen: Survivor) -> SurvivorComparison:
    """Compare as a follower and its leader do, by the ends of epochs (KIP-595)."""
    if one is chosen:
        return SurvivorComparison(
            survivor=one, relation=Relation.CHOSEN, common=one.end.offset, own=0, missing=0
        )
    common = _common_end(one, chosen)
    own, missing = one.end.offset - common, chosen.end.offset - common
    relation = Relation.DIVERGED if own else Relation.BEHIND if missing else Relation.SAME
    return SurvivorComparison(
        survivor=one, relation=relation, common=common, own=own, missing=missing
    )


def _common_end(one: Survivor, other: Survivor) -> int:
    """Return the offset up to which two logs have the same records: those of the same epochs."""
    mine, theirs = _epoch_ends(one), _epoch_ends(other)
    shared = [min(mine[epoch], theirs[epoch]) for epoch in mine.keys() & theirs.keys()]
    # What is in a checkpoint was committed: every log of the cluster has it, or will.
    proved = min(max(one.committed.offset, one.start), max(other.committed.offset, other.start))
    return max([*shared, proved])


def _epoch_ends(one: Survivor) -> dict[int, int]:
    starts = one.epochs
    ends = [start.offset for start in starts[1:]] + [one.end.offset]
    # A log that a checkpoint has replaced has no epochs.
    found = {start.epoch: end for start, end in zip(starts, ends, strict=False)}
    return {one.end.epoch: one.end.offset} | found


def _voter(one: Survivor, chosen: Survivor, changed: Mapping[int, Sequence[Endpoint]]) -> Voter:
    if one.meta.directory_id is None:
        raise RecoveryRefused(
            f"{one.folder} has no directory.id: start the node once, and it writes one"
        )
    former = next((voter for voter in chosen.voters if voter.voter_id == one.node_id), None)
    feature = KRaftVersionFeature(
        min_supported_version=0, max_supported_version=chosen.kraft_version
    )
    if former is not None:
        feature = former.k_raft_version_feature
    return Voter(
        voter_id=one.node_id,
        voter_directory_id=one.meta.directory_id,
        endpoints=_endpoints(one, chosen, former, changed.get(one.node_id, ())),
        k_raft_version_feature=feature,
    )


def _endpoints(
    one: Survivor, chosen: Survivor, former: Voter | None, given: Sequence[Endpoint]
) -> list[Endpoint]:
    known = list(former.endpoints) if former else []
    if not known and (registration := chosen.image.cluster.controllers.get(one.node_id)):
        listeners = {endpoint.name for voter in chosen.voters for endpoint in voter.endpoints}
        known = [
            Endpoint(name=endpoint.name, host=endpoint.host, port=endpoint.port)
            for endpoint in registration.endpoints
            if not listeners or endpoint.name in listeners
        ]
    names = [endpoint.name for endpoint in known]
    # An address without a listener is for the only one, or the first, that there is.
    named = [
        Endpoint(name=item.name or (names[0] if names else ""), host=item.host, port=item.port)
        for item in given
    ]
    given_names = [item.name for item in named]
    if double := next((name for name in given_names if given_names.count(name) > 1), ""):
        raise InvalidValue(
            f"two addresses are given for {double} of controller {one.node_id}: give one"
        )
    if "" in given_names:
        raise InvalidValue(
            f"no listener of controller {one.node_id} is known: write LISTENER://HOST:PORT"
        )
    fresh = {item.name: item for item in known} | {item.name: item for item in named}
    if not fresh:
        raise InvalidValue(
            f"the log has no address of controller {one.node_id}: give it, LISTENER://HOST:PORT"
        )
    return list(fresh.values())


def _is_done(chosen: Survivor, voters: tuple[Voter, ...], survivors: Sequence[Survivor]) -> bool:
    """Return True if the voters are those of an earlier recovery.

    A leader begins its epoch with a LeaderChangeMessage; only a recovery begins one with voters. A
    copy from before it knows nothing of that epoch.
    """
    if not voters:
        ids = frozenset(one.node_id for one in survivors)
        ahead = chosen.state.data.leader_epoch - chosen.end.epoch
        return chosen.voter_ids == ids and ahead >= EPOCHS_AHEAD
    last = chosen.voter_sets[-1] if chosen.voter_sets else None
    if last is None or last.voters != voters or last.position not in chosen.epochs:
        return False
    return all(one.last_known_epoch >= last.position.epoch for one in survivors)


def voter_text(voter: Voter) -> str:
    """Return `3001@CONTROLLER://host:9093 (directory …)`."""
    endpoints = ",".join(f"{item.name}://{item.host}:{item.port}" for item in voter.endpoints)
    return f"{voter.voter_id}@{endpoints} (directory {uuid_text(voter.voter_directory_id)})"
