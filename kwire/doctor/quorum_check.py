"""Two short questions about a quorum: does this controller take part, may that one be restarted.

Probes of controllers that only connect call one ready that follows nobody (strimzi 12760). The rule
for restarting is Strimzi's KafkaQuorumCheck: a majority of all voters stays caught up without it.
"""

from __future__ import annotations

from collections.abc import Iterator

from kwire.admin.quorum import QuorumInfo
from kwire.doctor.checks import quorum as quorum_subject
from kwire.doctor.evidence import Evidence, NodeEvidence, behind_ms, is_caught_up, seconds_text
from kwire.doctor.finding import Finding, FindingKind, FindingVerdict, fix
from kwire.doctor.unanswered import refused_fix, unreached_fix
from kwire.text.phrases import count

LEADS = FindingKind(
    id="check/leads",
    verdict=FindingVerdict.OK,
    meaning="The controller leads the quorum.",
)
LEADS_ALONE = FindingKind(
    id="check/leads-without-majority",
    verdict=FindingVerdict.PROBLEM,
    meaning="The controller leads, but no majority of the voters keeps up with it.",
    advice="start the other voters, and check that they reach it",
    source="KIP-595",
)
FOLLOWS = FindingKind(
    id="check/follows",
    verdict=FindingVerdict.OK,
    meaning="The controller follows a leader.",
    source="KIP-595",
)
FOLLOWS_NOBODY = FindingKind(
    id="check/follows-nobody",
    verdict=FindingVerdict.PROBLEM,
    meaning="The controller answers, and says that it follows nobody.",
    advice="if a majority of the voters runs, look at its log and at its way to the others",
    source="strimzi/strimzi-kafka-operator 12760",
)
LEADER_SILENT = FindingKind(
    id="check/leader-silent",
    verdict=FindingVerdict.UNKNOWN,
    meaning="The controller names a leader that does not answer from here. Without a majority a"
    " controller goes on naming its last leader (KIP-996).",
    advice="start the leader or the other voters; else check the endpoint that it advertises",
    source="KIP-996",
)
NOT_HEARD = FindingKind(
    id="check/not-heard",
    verdict=FindingVerdict.UNKNOWN,
    meaning="The controller names a leader, and it is not known if it follows: that leader has"
    " received no fetch from it, or was not reached while another controller leads. A controller"
    " that is cut off goes on naming its last leader (KIP-996).",
    advice="ask again in a moment; if it stays, check its way to the leader",
    source="KIP-996",
)
NO_ANSWER = FindingKind(
    id="check/no-answer",
    verdict=FindingVerdict.PROBLEM,
    meaning="No controller with this id answers at any address that is known.",
    advice="depending on the reason: start it, or correct the addresses, or TLS and SASL in the"
    " file of --command-config",
)
NOT_TOLD = FindingKind(
    id="check/not-told",
    verdict=FindingVerdict.UNKNOWN,
    meaning="The controller answers, but not whom it follows, or there is no leader to ask.",
    advice="depending on the reason: upgrade the controller, restart it, reduce its load, or with"
    " an authorizer allow CLUSTER_ACTION on the cluster",
)
SAFE = FindingKind(
    id="check/safe-to-restart",
    verdict=FindingVerdict.OK,
    meaning="Without this controller a majority of the voters is caught up.",
    source="strimzi/proposals 91",
)
UNSAFE = FindingKind(
    id="check/not-safe-to-restart",
    verdict=FindingVerdict.PROBLEM,
    meaning="Without this controller fewer than a majority of the voters would be caught up, and"
    " nobody could lead.",
    advice="wait until the others are caught up; with one or two voters a restart always"
    " interrupts the quorum",
    source="strimzi/proposals 91",
)
CHECK_KINDS = (
    LEADS,
    LEADS_ALONE,
    FOLLOWS,
    FOLLOWS_NOBODY,
    LEADER_SILENT,
    NOT_HEARD,
    NO_ANSWER,
    NOT_TOLD,
    SAFE,
    UNSAFE,
)


def takes_part(evidence: Evidence, node_id: int) -> Finding:
    """Report whether a controller leads or follows a leader, by its own answer."""
    node = evidence.controller(node_id)
    if node is None:
        return _no_answer(evidence, f"{node_id}: no controller of this id answers", node_id)
    quorum = evidence.quorum
    if node.quorum is not None:
        return _leads(evidence, node_id, node.quorum)
    if node.follows is None:
        reasons = tuple(node.refusals.values())
        text = f"{node_id}: answers, but does not say whom it follows"
        check = f"kwire quorum check --node {node_id}"
        return NOT_TOLD(text, *reasons, fixes=[refused_fix(evidence, [node], check, "Fetch")])
    # One that led before it was restarted names itself until the next election.
    if node.follows.leader_id in (None, node_id):
        text = f"{node_id}: answers, follows nobody in epoch {node.follows.epoch}"
        empty = "its log is empty: kwire doctor --only quorum/empty-log"
        advice = empty if node.has_empty_log else None
        return FOLLOWS_NOBODY(text, *_leader_elsewhere(quorum), advice=advice)
    return _follows(evidence, node_id, node)


def _failures(evidence: Evidence) -> list[str]:
    return [node.failure for node in evidence.nodes if node.failure]


def _no_answer(evidence: Evidence, text: str, node_id: int | None = None) -> Finding:
    """Return the finding with what to do for the node of this id, or for all that are silent."""
    check = "kwire quorum check" if node_id is None else f"kwire quorum check --node {node_id}"
    silent = [node for node in evidence.nodes if node.failure]
    own = {endpoint.address for endpoint in evidence.endpoints if endpoint.node_id == node_id}
    if node_id is not None and (at_own := [node for node in silent if node.address in own]):
        silent = at_own
    if silent:
        fixes = [unreached_fix(silent, check)]
    elif node_id is None:
        fixes = [fix("kwire doctor")]
    else:
        # Who answers has another id.
        fixes = [fix(f"start controller {node_id}", check)]
        fixes.append(fix("kwire quorum status", when="if no controller has this id"))
    return NO_ANSWER(text, *_failures(evidence), fixes=fixes)


def _leader_elsewhere(quorum: QuorumInfo | None) -> list[str]:
    if quorum is None:
        return []
    return [f"{quorum.leader_id} leads in epoch {quorum.leader_epoch}"]


def _leads(evidence: Evidence, node_id: int, quorum: QuorumInfo) -> Finding:
    limit = evidence.fetch_timeout_ms
    live = sum(is_caught_up(quorum, voter, limit) for voter in quorum.voters)
    text = (
        f"{node_id}: leads in epoch {quorum.leader_epoch}, {live} of {len(quorum.voters)} voters"
        " caught up"
    )
    return LEADS(text) if live > len(quorum.voters) // 2 else LEADS_ALONE(text)


def _follows(evidence: Evidence, node_id: int, node: NodeEvidence) -> Finding:
    quorum, limit_ms = evidence.quorum, evidence.fetch_timeout_ms
    assert node.follows is not None
    text = f"{node_id}: follows {node.follows.leader_id} in epoch {node.follows.epoch}"
    replicas = (*quorum.voters, *quorum.observers) if quorum else ()
    replica = next((replica for replica in replicas if replica.replica_id == node_id), None)
    check = f"kwire quorum check --node {node_id}"
    if quorum is None and (leaders := evidence.leaders_without_quorum):
        fixes = [refused_fix(evidence, leaders, check, "DescribeQuorum")]
        reasons = [reason for leader in leaders for reason in leader.refusals.values()]
        return NOT_TOLD(f"{text}, which does not describe the quorum", *reasons, fixes=fixes)
    if quorum is None:
        unread = ["it has read no metadata since it started"] if node.lacks_metadata else []
        return LEADER_SILENT(f"{text}, which does not answer from here", *unread)
    if quorum.leader_id != node.follows.leader_id:
        return NOT_HEARD(f"{text}, which was not asked", *_leader_elsewhere(quorum))
    silent = None if replica is None else quorum.silent_ms(replica)
    if replica is None or silent is None:
        return NOT_HEARD(f"{text}, which has received no fetch from it")
    if silent >= limit_ms:
        return NOT_HEARD(f"{text}, which has received no fetch from it for {seconds_text(silent)}")
    lag, behind = quorum.lag(replica), behind_ms(quorum, replica)
    known = "" if lag is None else f", {count(max(lag, 0), 'record')} behind"
    times = [] if behind is None else [f"caught up {seconds_text(behind)} ago"]
    return FOLLOWS(f"{text}{known}", *times)


def works(evidence: Evidence) -> Iterator[Finding]:
    """Report whether somebody leads with a majority; problems of single voters are left out."""
    quorum = evidence.quorum
    if quorum is not None:
        yield _leads(evidence, quorum.leader_id, quorum)
    elif evidence.controllers:
        yield from quorum_subject.check(evidence)
    else:
        yield _no_answer(evidence, "no controller answers")


def without(evidence: Evidence, node_id: int) -> Finding:
    """Report whether a majority of the voters is caught up without this one."""
    quorum = evidence.quorum
    if quorum is None or not quorum.voters:
        text = f"without {node_id}: no leader told its voters: it is not known who is caught up"
        return NOT_TOLD(text, *_failures(evidence), fixes=[fix("kwire doctor --only quorum")])
    limit = evidence.fetch_timeout_ms
    voters = quorum.voters
    if all(voter.replica_id != node_id for voter in voters):
        return SAFE(f"without {node_id}: it does not vote: safe")
    others = [voter for voter in voters if voter.replica_id != node_id]
    ready = [voter for voter in others if is_caught_up(quorum, voter, limit)]
    needed = len(voters) // 2 + 1
    times = ", ".join(
        f"{voter.replica_id}: {seconds_text(behind)}"
        for voter in others
        if (behind := behind_ms(quorum, voter)) is not None
    )
    shown = f" ({times})" if times else ""
    text = f"without {node_id}: {len(ready)} of {len(voters)} voters caught up{shown}"
    elects = node_id == quorum.leader_id and bool(others)
    leads = [f"{node_id} leads: another voter is elected"] if elects else []
    if len(ready) >= needed:
        return SAFE(f"{text}: safe", *leads)
    return UNSAFE(f"{text}, {needed} are needed: not safe", *leads)
