"""The ways on for voters: those that are silent, too few of them, a number that is even."""

from __future__ import annotations

from kwire.admin.quorum import QuorumInfo, ReplicaState
from kwire.doctor.evidence import FETCH_TIMEOUT_MS, Evidence, NodeEvidence, is_caught_up
from kwire.doctor.finding import GONE, Fix, fix
from kwire.doctor.unanswered import revival
from kwire.text.phrases import count

OBSERVER_LIMIT_MS = 10_000
"""Milliseconds that an observer may be behind; they fetch twice a second."""

UPGRADE_PLAN = "kwire quorum upgrade --plan"


def more_voters(evidence: Evidence, quorum: QuorumInfo, number: int) -> list[Fix]:
    """Return how to get more voters: controllers that follow already, else new ones."""
    if not evidence.voters_are_dynamic:
        return [fix(UPGRADE_PLAN)]
    following = observing_controllers(evidence, quorum)
    commands = [f"kwire quorum add-controller {node_id}" for node_id in following[:number]]
    if len(commands) < number:
        missing = count(number - len(commands), "controller")
        new = f"start {missing} formatted with --no-initial-controllers, and run kwire doctor again"
        return [fix(*commands, new)]
    return [fix(*commands)]


def odd_voters(evidence: Evidence, quorum: QuorumInfo, late: list[ReplicaState]) -> list[Fix]:
    """Return how to make the number of voters odd: one that follows votes, else one goes."""
    if not evidence.voters_are_dynamic or observing_controllers(evidence, quorum):
        return more_voters(evidence, quorum, 1)
    followers = [voter for voter in quorum.voters if voter.replica_id != quorum.leader_id]
    leaves = (late or followers)[-1].replica_id
    remove = fix(f"kwire quorum remove-controller {leaves}", when="if one less is enough")
    return [*more_voters(evidence, quorum, 1), remove]


def observing_controllers(evidence: Evidence, quorum: QuorumInfo) -> list[int]:
    """Return the ids of the controllers that follow the leader and do not vote."""
    voters = {voter.replica_id for voter in quorum.voters}
    return sorted(
        observer.replica_id
        for observer in quorum.observers
        if observer.replica_id in evidence.all_controllers - voters
        and is_caught_up(quorum, observer, OBSERVER_LIMIT_MS)
    )


def leader_at(quorum: QuorumInfo) -> str:
    node = quorum.nodes.get(quorum.leader_id)
    where = f" at {node.endpoints[0]}" if node and node.endpoints else ""
    return f"the leader {quorum.leader_id}{where}"


def silent_voter(
    evidence: Evidence, quorum: QuorumInfo, voter: ReplicaState, node: NodeEvidence | None
) -> list[Fix]:
    """Return the ways on for a voter that does not fetch; one that answers needs no start."""
    node_id = voter.replica_id
    check = f"kwire quorum check --node {node_id}"
    replaced = f"kwire quorum replace {node_id}"
    if fetches_with_new_disk(quorum, voter):
        return [fix(replaced)]
    if node is not None:
        mend = f"read the log of controller {node_id}; check that it reaches {leader_at(quorum)}"
        return [fix(mend, check)]
    start = fix(revival(evidence, node_id), check)
    if not evidence.voters_are_dynamic:
        # A static voter is an id and an address: a new disk, or another machine, takes its place.
        gone = f"start a controller of id {node_id} at the address that the others know"
        return [start, fix(gone, check, when=GONE)]
    new_disk = f"format controller {node_id} with --no-initial-controllers and start it"
    return [
        start,
        fix(new_disk, replaced, when="if its disk was lost"),
        fix(f"kwire quorum remove-controller {node_id}", when=GONE),
    ]


def fetches_with_new_disk(quorum: QuorumInfo, voter: ReplicaState) -> bool:
    """True if an observer with another directory id fetches under a voter's id."""
    return any(
        observer.replica_id == voter.replica_id
        and observer.replica_directory_id != voter.replica_directory_id
        and _is_newer(observer, voter)
        for observer in quorum.observers
    )


def _is_newer(observer: ReplicaState, voter: ReplicaState) -> bool:
    """True if the observer has fetched later than the voter, or as late; or the voter never.

    The leader lists an observer for minutes after its last fetch: one that was a voter with the old
    disk does not count.
    """
    last, others = observer.last_fetch_timestamp, voter.last_fetch_timestamp
    # Two processes of one id both fetch, several times in this long.
    return others is None or (last is not None and last > others - FETCH_TIMEOUT_MS)
