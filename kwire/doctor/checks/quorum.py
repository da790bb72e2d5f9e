"""Check the quorum: somebody leads, a majority keeps up, every controller follows."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.admin.quorum import QuorumInfo, ReplicaState
from kwire.doctor.evidence import (
    Evidence,
    NodeEvidence,
    behind_ms,
    count,
    is_caught_up,
    listed,
    seconds_text,
)
from kwire.doctor.finding import Finding, FindingKind, FindingVerdict

OBSERVER_LIMIT_MS = 10_000
"""Milliseconds that an observer may be behind; they fetch twice a second."""

NO_LEADER = FindingKind(
    id="quorum/no-leader",
    verdict=FindingVerdict.PROBLEM,
    meaning="Controllers answer, and each of them says that it knows no leader: nothing in the"
    " cluster's metadata can change.",
    advice="start controllers until a majority of the voters runs and they reach each other",
    source="KIP-595",
    unasked=True,
)
LEADER_UNREACHABLE = FindingKind(
    id="quorum/leader-unreachable",
    verdict=FindingVerdict.PROBLEM,
    meaning="Controllers name a leader that was not reached from here. Without a majority they go"
    " on naming the last one (KIP-996).",
    advice="start the leader if it is down; else check from here the endpoint that it advertises",
    source="KIP-919, KIP-996",
    unasked=True,
)
LEADER_UNKNOWN = FindingKind(
    id="quorum/leader-unknown",
    verdict=FindingVerdict.UNKNOWN,
    meaning="No controller that was reached told whom it follows, so that it is not known if one"
    " leads.",
    advice="with an authorizer, allow CLUSTER_ACTION on the cluster; see nodes/refused",
    source="KIP-595",
    unasked=True,
)
NO_MAJORITY = FindingKind(
    id="quorum/no-majority",
    verdict=FindingVerdict.PROBLEM,
    meaning="A controller leads, but fewer than a majority of the voters keep up with it: it can"
    " commit nothing, and will resign.",
    advice="start the voters that do not fetch",
    source="KIP-595",
)
FOLLOWS_NOBODY = FindingKind(
    id="quorum/follows-nobody",
    verdict=FindingVerdict.PROBLEM,
    meaning="A controller answers but follows no leader, while another controller leads. Probes"
    " that only connect call it ready.",
    advice="read its log; check that it reaches the leader's endpoint, and that its directory id"
    " is the one in the voter set",
    source="strimzi/strimzi-kafka-operator 12760",
)
OTHER_LEADER = FindingKind(
    id="quorum/other-leader",
    verdict=FindingVerdict.WARNING,
    meaning="A controller follows another leader, or another epoch, than the leader that answered."
    " That is so for a moment during an election.",
    advice="run kwire doctor again; if it stays, that controller does not reach the leader",
    source="KIP-595",
)
VOTER_SILENT = FindingKind(
    id="quorum/voter-silent",
    verdict=FindingVerdict.WARNING,
    meaning="The leader has received no fetch of a voter for longer than"
    " controller.quorum.fetch.timeout.ms.",
    advice="start it; if it is gone for good, kwire quorum remove-controller ID",
    source="KIP-836",
)
VOTER_LAGS = FindingKind(
    id="quorum/voter-lags",
    verdict=FindingVerdict.WARNING,
    meaning="A voter fetches, but has not been caught up for longer than"
    " controller.quorum.fetch.timeout.ms.",
    advice="wait if it has just started; else look at its disk and its log",
    source="KIP-836",
)
NO_SPARE = FindingKind(
    id="quorum/no-spare",
    verdict=FindingVerdict.WARNING,
    meaning="Exactly a majority of the voters keeps up: if one more stops, nobody leads.",
    advice="bring another voter up before you restart any",
    source="KIP-853",
)
ONE_VOTER = FindingKind(
    id="quorum/one-voter",
    verdict=FindingVerdict.INFO,
    meaning="The quorum has a single voter, which may not fail.",
    advice="for production add two: start them with --no-initial-controllers, then kwire quorum"
    " add-controller ID",
    source="KIP-853",
)
EVEN_VOTERS = FindingKind(
    id="quorum/even-voters",
    verdict=FindingVerdict.INFO,
    meaning="The number of voters is even: one less would bear as many failures.",
    advice="add or remove one",
    source="KIP-853",
)
OBSERVER_LAGS = FindingKind(
    id="quorum/observer-lags",
    verdict=FindingVerdict.WARNING,
    meaning=f"A broker or another observer fetches, but is more than"
    f" {OBSERVER_LIMIT_MS // 1000} s behind: it works with old metadata.",
    advice="wait if it has just started; else look at its disk, its network and its log",
    source="KIP-836",
)
FINE = FindingKind(
    id="quorum/ok",
    verdict=FindingVerdict.OK,
    meaning="A controller leads, and all voters keep up with it.",
)
KINDS = (
    NO_LEADER,
    LEADER_UNREACHABLE,
    LEADER_UNKNOWN,
    NO_MAJORITY,
    FOLLOWS_NOBODY,
    OTHER_LEADER,
    VOTER_SILENT,
    VOTER_LAGS,
    NO_SPARE,
    ONE_VOTER,
    EVEN_VOTERS,
    OBSERVER_LAGS,
    FINE,
)


def check(evidence: Evidence) -> Iterator[Finding]:
    """Report a missing leader or majority, and replicas that do not keep up."""
    quorum = evidence.quorum
    if quorum is None:
        yield from _without_leader(evidence)
        return
    findings = [
        *_followers(evidence, quorum),
        *_voters(evidence, quorum),
        *_observers(quorum),
    ]
    yield from findings
    if quorum.voters and all(finding.verdict is FindingVerdict.INFO for finding in findings):
        yield _fine(quorum)


def _without_leader(evidence: Evidence) -> Iterator[Finding]:
    controllers = evidence.controllers
    if not controllers:
        return
    sayings = tuple(map(_followed, controllers))
    named = {node.follows.leader_id for node in controllers if node.follows} - {None}
    if named:
        ids = listed(leader for leader in named if leader is not None)
        yield LEADER_UNREACHABLE(
            f"controllers name {ids} as leader, which was not reached", *sayings
        )
        return
    if all(node.follows is None for node in controllers):
        yield LEADER_UNKNOWN("it is not known if a controller leads", *sayings)
        return
    silent = {
        endpoint.node_id
        for endpoint in evidence.endpoints
        if endpoint.node_id is not None
        and (node := evidence.at(endpoint.address)) is not None
        and not node.answers
    }
    text = f"nobody leads: {_ids(controllers)} answer" + ("s" if len(controllers) == 1 else "")
    if silent:
        text += f", {listed(silent)} {'does' if len(silent) == 1 else 'do'} not"
    yield NO_LEADER(text, *sayings)


def _ids(nodes: tuple[NodeEvidence, ...]) -> str:
    known = [node.node_id for node in nodes if node.node_id is not None]
    return listed(known) if len(known) == len(nodes) else count(len(nodes), "controller")


def _followed(node: NodeEvidence) -> str:
    if node.follows is None:
        return f"{node.name} did not say whom it follows"
    if node.follows.leader_id is None:
        return f"{node.name} knows no leader in epoch {node.follows.epoch}"
    return f"{node.name} follows {node.follows.leader_id} in epoch {node.follows.epoch}"


def _followers(evidence: Evidence, quorum: QuorumInfo) -> Iterator[Finding]:
    """Compare the leader that each controller knows with the one that answered."""
    leading = {(node.node_id, node.quorum.leader_epoch) for node in evidence.leaders if node.quorum}
    leading.add((quorum.leader_id, quorum.leader_epoch))
    for node in evidence.controllers:
        follows = node.follows
        if follows is None or node.quorum is not None:
            continue
        if follows.leader_id is None:
            text = f"{node.name} answers, but follows nobody; {quorum.leader_id} leads"
            yield FOLLOWS_NOBODY(text, _followed(node))
        elif (follows.leader_id, follows.epoch) not in leading:
            yield OTHER_LEADER(
                f"{_followed(node)}; {quorum.leader_id} leads in epoch {quorum.leader_epoch}"
            )


def _voters(evidence: Evidence, quorum: QuorumInfo) -> Iterator[Finding]:
    limit = evidence.fetch_timeout_ms
    late = [voter for voter in quorum.voters if not is_caught_up(quorum, voter, limit)]
    live = len(quorum.voters) - len(late)
    needed = len(quorum.voters) // 2 + 1
    if quorum.voters and live < needed:
        text = f"{quorum.leader_id} leads, but {live} of {len(quorum.voters)} voters keep up"
        yield NO_MAJORITY(f"{text}; {needed} are needed")
    for voter in late:
        yield _late(evidence, quorum, voter, limit)
    if len(quorum.voters) == 1:
        yield ONE_VOTER(f"controller {quorum.voters[0].replica_id} is the only voter")
    elif live == needed:
        yield NO_SPARE(
            f"{live} of {len(quorum.voters)} voters keep up, and {needed} are needed: if one more"
            " stops, nobody leads"
        )
    if len(quorum.voters) > 2 and len(quorum.voters) % 2 == 0:
        spare = len(quorum.voters) - needed
        yield EVEN_VOTERS(
            f"there are {len(quorum.voters)} voters: {spare} may fail, as with one voter less"
        )


def _late(evidence: Evidence, quorum: QuorumInfo, voter: ReplicaState, limit: int) -> Finding:
    name = f"voter {voter.replica_id}"
    node = evidence.controller(voter.replica_id)
    reached = f"it answers at {node.address}" if node else "it was not reached from here"
    silent = silent_ms(quorum, voter)
    if silent is None:
        return VOTER_SILENT(f"{name} has not fetched since {quorum.leader_id} leads", reached)
    if silent >= limit:
        return VOTER_SILENT(f"{name} has not fetched for {seconds_text(silent)}", reached)
    behind = behind_ms(quorum, voter)
    since = "since the election" if behind is None else f"for {seconds_text(behind)}"
    lag = quorum.lag(voter)
    records = "" if lag is None else f", {count(lag, 'record')} behind"
    return VOTER_LAGS(f"{name} fetches, but has not been caught up {since}{records}", reached)


def silent_ms(quorum: QuorumInfo, replica: ReplicaState) -> int | None:
    """Return for how long the leader has had no fetch of a replica; None for never."""
    leader = quorum.leader
    if leader is None or leader.last_fetch_timestamp is None or replica is leader:
        return 0
    last = replica.last_fetch_timestamp
    return None if last is None else leader.last_fetch_timestamp - last


def _observers(quorum: QuorumInfo) -> Iterator[Finding]:
    for observer in quorum.observers:
        silent, behind = silent_ms(quorum, observer), behind_ms(quorum, observer)
        fetches = silent is not None and silent < OBSERVER_LIMIT_MS
        if fetches and behind is not None and behind > OBSERVER_LIMIT_MS:
            lag = quorum.lag(observer)
            text = f"observer {observer.replica_id} is {seconds_text(behind)} behind"
            yield OBSERVER_LAGS(text, *([f"{count(lag, 'record')} behind"] if lag else []))


def _fine(quorum: QuorumInfo) -> Finding:
    behind = [behind_ms(quorum, voter) for voter in quorum.voters]
    worst = max((ms for ms in behind if ms is not None), default=0)
    number = len(quorum.voters)
    return FINE(
        f"{quorum.leader_id} leads in epoch {quorum.leader_epoch}; {number} of {number} voters"
        f" caught up (worst {seconds_text(worst)})",
        f"high watermark {quorum.high_watermark}",
    )
