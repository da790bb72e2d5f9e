"""Check the quorum: somebody leads, a majority keeps up, every controller follows."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.admin.quorum import QuorumInfo, ReplicaState
from kwire.doctor.evidence import Evidence, NodeEvidence, behind_ms, is_caught_up, seconds_text
from kwire.doctor.finding import Finding, FindingKind, FindingVerdict, fix
from kwire.doctor.unanswered import refused_fix
from kwire.doctor.voter_fixes import (
    OBSERVER_LIMIT_MS,
    leader_at,
    more_voters,
    odd_voters,
    silent_voter,
)
from kwire.text.phrases import count, ids_text, listed

SERVERS_KEY = "controller.quorum.bootstrap.servers"
CHECK = "kwire quorum check"

NO_LEADER = FindingKind(
    id="quorum/no-leader",
    verdict=FindingVerdict.PROBLEM,
    meaning="Controllers answer, and none of them that tells knows a leader: nothing in the"
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
    meaning="No controller that was reached told whom it follows, or the one that they follow does"
    " not describe the quorum, so that it is not known if one leads.",
    advice="depending on the reason: upgrade the controllers, restart them, reduce their load, or"
    " with an authorizer allow CLUSTER_ACTION on the cluster",
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
    advice="start it; if its disk was lost, format it with --no-initial-controllers, start it and"
    " kwire quorum replace ID; if it is gone for good, kwire quorum remove-controller ID",
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
EMPTY_LOG = FindingKind(
    id="quorum/empty-log",
    verdict=FindingVerdict.PROBLEM,
    meaning="A controller answers, and its log is empty: since its disk was formatted it has found"
    " no leader, so that it knows no voters and refuses what needs metadata.",
    advice="correct controller.quorum.bootstrap.servers in its properties and restart it",
    source="KIP-853",
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
    EMPTY_LOG,
    FINE,
)


def check(evidence: Evidence) -> Iterator[Finding]:
    """Report a missing leader or majority, and replicas that do not keep up."""
    quorum = evidence.quorum
    if quorum is None:
        yield from _without_leader(evidence)
        return
    findings = [
        *_empty_logs(evidence),
        *_followers(evidence, quorum),
        *_voters(evidence, quorum),
        *_observers(quorum),
    ]
    yield from findings
    if quorum.voters and all(finding.verdict is FindingVerdict.INFO for finding in findings):
        yield _fine(quorum)


def _without_leader(evidence: Evidence) -> Iterator[Finding]:
    yield from _empty_logs(evidence)
    controllers = evidence.controllers
    if not controllers or all(node.has_empty_log for node in controllers):
        return
    sayings = tuple(map(_followed, controllers))
    # One that led before it was restarted names itself until the next election.
    named = {
        node.follows.leader_id
        for node in controllers
        if node.follows and node.follows.leader_id not in (None, node.node_id)
    }
    if not named and all(node.follows is None for node in controllers):
        fixes = [refused_fix(evidence, controllers, CHECK, "Fetch")]
        yield LEADER_UNKNOWN("it is not known if a controller leads", *sayings, fixes=fixes)
        return
    if leaders := evidence.leaders_without_quorum:
        fixes = [refused_fix(evidence, leaders, CHECK, "DescribeQuorum")]
        for node in leaders:
            text = f"{node.name} is named as leader, answers, and does not describe the quorum"
            yield LEADER_UNKNOWN(text, *sayings, fixes=fixes)
        return
    silent = _silent(evidence)
    start = f"start {ids_text('controller', silent)}" if silent else ""
    if named:
        ids = listed(leader for leader in named if leader is not None)
        fixes = [fix(start or f"check from here the endpoint that {ids} advertises", CHECK)]
        text = f"controllers name {ids} as leader, which was not reached"
        yield LEADER_UNREACHABLE(text, *sayings, fixes=fixes)
        return
    all_told = all(node.follows is not None for node in controllers)
    head = "nobody leads" if all_told else "no leader is known"
    text = f"{head}: {_ids(controllers)} answer" + ("s" if len(controllers) == 1 else "")
    if silent:
        text += f", {listed(silent)} {'does' if len(silent) == 1 else 'do'} not"
    fixes = [fix(f"{start}, until a majority of the voters runs", CHECK)] if silent else []
    yield NO_LEADER(text, *sayings, fixes=fixes)


def _silent(evidence: Evidence) -> set[int]:
    """Return the ids of the controllers that are known, and do not answer at any endpoint."""
    return {
        endpoint.node_id
        for endpoint in evidence.endpoints
        if endpoint.node_id is not None
        and (node := evidence.at(endpoint.address)) is not None
        and not node.answers
        and evidence.controller(endpoint.node_id) is None
    }


def _empty_logs(evidence: Evidence) -> Iterator[Finding]:
    servers = ",".join(map(str, evidence.bootstrap_servers))
    for node in evidence.controllers:
        if node.has_empty_log:
            mend = (
                f"in the properties of {node.name} set {SERVERS_KEY}={servers or 'HOST:PORT,...'}"
            )
            yield EMPTY_LOG(
                f"{node.name} answers with an empty log: it has not found a leader yet",
                f"{SERVERS_KEY}={node.config(SERVERS_KEY)}",
                fixes=[
                    fix(
                        f"{mend} if that is wrong, see that it reaches these, and restart it",
                        f"kwire quorum check --node {node.node_id}",
                    )
                ],
            )


def _ids(nodes: tuple[NodeEvidence, ...]) -> str:
    known = [node.node_id for node in nodes if node.node_id is not None]
    return listed(known) if len(known) == len(nodes) else count(len(nodes), "controller")


def _followed(node: NodeEvidence) -> str:
    unread = "; it has read no metadata since it started" if node.lacks_metadata else ""
    if node.follows is None:
        return f"{node.name} did not say whom it follows{unread}"
    if node.follows.leader_id is None:
        return f"{node.name} knows no leader in epoch {node.follows.epoch}{unread}"
    if node.follows.leader_id == node.node_id and node.quorum is None:
        return f"{node.name} led epoch {node.follows.epoch} and does not lead now{unread}"
    verb = "names" if node.lacks_metadata else "follows"
    return f"{node.name} {verb} {node.follows.leader_id} in epoch {node.follows.epoch}{unread}"


def _followers(evidence: Evidence, quorum: QuorumInfo) -> Iterator[Finding]:
    """Compare the leader that each controller knows with the one that answered."""
    leading = {(node.node_id, node.quorum.leader_epoch) for node in evidence.leaders if node.quorum}
    leading.add((quorum.leader_id, quorum.leader_epoch))
    for node in evidence.controllers:
        follows = node.follows
        if follows is None or node.quorum is not None or node.has_empty_log:
            continue
        check = f"kwire quorum check --node {node.node_id}"
        if follows.leader_id is None:
            text = f"{node.name} answers, but follows nobody; {quorum.leader_id} leads"
            mend = f"read the log of {node.name}; check that it reaches {leader_at(quorum)}"
            yield FOLLOWS_NOBODY(text, _followed(node), fixes=[fix(mend, check)])
        elif (follows.leader_id, follows.epoch) not in leading:
            stays = f"check that {node.name} reaches {leader_at(quorum)}"
            yield OTHER_LEADER(
                f"{_followed(node)}; {quorum.leader_id} leads in epoch {quorum.leader_epoch}",
                fixes=[fix(check), fix(stays, when="if that fails")],
            )


def _voters(evidence: Evidence, quorum: QuorumInfo) -> Iterator[Finding]:
    limit = evidence.fetch_timeout_ms
    late = [voter for voter in quorum.voters if not is_caught_up(quorum, voter, limit)]
    live = len(quorum.voters) - len(late)
    needed = len(quorum.voters) // 2 + 1
    if quorum.voters and live < needed:
        text = f"{quorum.leader_id} leads, but {live} of {len(quorum.voters)} voters keep up"
        fixes = [
            fix(f"start {ids_text('controller', [voter.replica_id for voter in late])}", CHECK)
        ]
        yield NO_MAJORITY(f"{text}; {needed} are needed", fixes=fixes)
    for voter in late:
        yield _late(evidence, quorum, voter, limit)
    if len(quorum.voters) == 1:
        text = f"controller {quorum.voters[0].replica_id} is the only voter"
        yield ONE_VOTER(text, fixes=more_voters(evidence, quorum, 2))
    elif live == needed:
        ids = ids_text("controller", [voter.replica_id for voter in late]) if late else ""
        mend = [fix(f"mend {ids} before you restart another", CHECK)] if late else []
        yield NO_SPARE(
            f"{live} of {len(quorum.voters)} voters keep up, and {needed} are needed: if one more"
            " stops, nobody leads",
            fixes=mend or more_voters(evidence, quorum, 1),
        )
    if len(quorum.voters) > 2 and len(quorum.voters) % 2 == 0:
        spare = len(quorum.voters) - needed
        yield EVEN_VOTERS(
            f"there are {len(quorum.voters)} voters: {spare} may fail, as with one voter less",
            fixes=odd_voters(evidence, quorum, late),
        )


def _late(evidence: Evidence, quorum: QuorumInfo, voter: ReplicaState, limit: int) -> Finding:
    name = f"voter {voter.replica_id}"
    node = evidence.controller(voter.replica_id)
    reached = f"it answers at {node.address}" if node else "it was not reached from here"
    silent = quorum.silent_ms(voter)
    if silent is None or silent >= limit:
        since = f"for {seconds_text(silent)}" if silent else f"since {quorum.leader_id} leads"
        fixes = silent_voter(evidence, quorum, voter, node)
        return VOTER_SILENT(f"{name} has not fetched {since}", reached, fixes=fixes)
    behind = behind_ms(quorum, voter)
    since = "since the election" if behind is None else f"for {seconds_text(behind)}"
    lag = quorum.lag(voter)
    records = "" if lag is None else f", {count(lag, 'record')} behind"
    check = f"kwire quorum check --node {voter.replica_id}"
    fixes = [fix("wait if it has just started", check)]
    fixes.append(fix(f"look at the disk and the log of {name}", when="if it stays behind"))
    text = f"{name} fetches, but has not been caught up {since}{records}"
    return VOTER_LAGS(text, reached, fixes=fixes)


def _observers(quorum: QuorumInfo) -> Iterator[Finding]:
    for observer in quorum.observers:
        silent, behind = quorum.silent_ms(observer), behind_ms(quorum, observer)
        fetches = silent is not None and silent < OBSERVER_LIMIT_MS
        if fetches and behind is not None and behind > OBSERVER_LIMIT_MS:
            lag = quorum.lag(observer)
            text = f"observer {observer.replica_id} is {seconds_text(behind)} behind"
            look = f"look at the disk, the network and the log of node {observer.replica_id}"
            yield OBSERVER_LAGS(
                text,
                *([f"{count(lag, 'record')} behind"] if lag else []),
                fixes=[fix("wait if it has just started"), fix(look, when="if it stays behind")],
            )


def _fine(quorum: QuorumInfo) -> Finding:
    behind = [behind_ms(quorum, voter) for voter in quorum.voters]
    worst = max((ms for ms in behind if ms is not None), default=0)
    number = len(quorum.voters)
    return FINE(
        f"{quorum.leader_id} leads in epoch {quorum.leader_epoch}; {number} of {number} voters"
        f" caught up (worst {seconds_text(worst)})",
        f"high watermark {quorum.high_watermark}",
    )
