"""Check who votes and who could: static voters, joining by itself, two disks of one node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kwire.admin.quorum import ReplicaState
from kwire.doctor.checks.quorum import SERVERS_KEY
from kwire.doctor.evidence import FETCH_TIMEOUT_MS, Evidence, NodeEvidence
from kwire.doctor.finding import Finding, FindingKind, FindingVerdict, fix
from kwire.doctor.voter_fixes import UPGRADE_PLAN, fetches_with_new_disk, observing_controllers
from kwire.messages.metadata_versions import KRAFT_VERSION
from kwire.text.ids import uuid_text
from kwire.text.phrases import listed

VOTERS_KEY = "controller.quorum.voters"
AUTO_JOIN_KEY = "controller.quorum.auto.join.enable"

TWO_DIRECTORIES = FindingKind(
    id="voters/two-directories",
    verdict=FindingVerdict.PROBLEM,
    meaning="A node votes with one directory id and fetches with another: its disk was replaced or"
    " formatted anew, and the voter of the old disk is gone.",
    advice="kwire quorum replace ID; if two processes of this id run, stop one of them before",
    source="KIP-853",
)
STATIC_DIFFER = FindingKind(
    id="voters/static-lists-differ",
    verdict=FindingVerdict.PROBLEM,
    meaning="The voters are static, and not all controllers have the same controller.quorum.voters:"
    " they may elect two leaders.",
    advice="set the same value on all nodes and restart them one by one",
    source="KIP-595",
)
STATIC_LEFT = FindingKind(
    id="voters/static-left-over",
    verdict=FindingVerdict.WARNING,
    meaning="kraft.version is 1, yet controller.quorum.voters is still set on a controller: the"
    " list is ignored, misleads, and comes into force again on a disk without a log.",
    advice="on each node replace controller.quorum.voters by controller.quorum.bootstrap.servers,"
    " and restart them one by one",
    source="KIP-853, KAFKA-16538",
)
STILL_STATIC = FindingKind(
    id="voters/still-static",
    verdict=FindingVerdict.WARNING,
    meaning="kraft.version is finalised as 1, yet the voters are static and have no directory ids:"
    " Kafka 3.9 and 4.0 accept the level without upgrading the quorum.",
    advice="leave controller.quorum.voters on every node: without it they know no voters; kwire"
    " quorum upgrade --plan names the steps",
    source="KAFKA-18979",
)
STATIC = FindingKind(
    id="voters/static",
    verdict=FindingVerdict.INFO,
    meaning="The voters are static, set by controller.quorum.voters: none can be added or removed"
    " while the cluster runs.",
    advice="kwire quorum upgrade --plan names the steps to voters that can be changed",
    source="KIP-853, KAFKA-16538",
)
COULD_VOTE = FindingKind(
    id="voters/observer-could-vote",
    verdict=FindingVerdict.WARNING,
    meaning="A controller follows the quorum and does not vote: it was removed and still runs, or"
    " it was never added.",
    advice="kwire quorum add-controller ID, or stop it",
    source="KIP-853",
)
JOINS = FindingKind(
    id="voters/auto-join-waits",
    verdict=FindingVerdict.WARNING,
    meaning="A controller with controller.quorum.auto.join.enable=true does not vote yet. It asks"
    " to by itself: one that was removed on purpose will be back.",
    advice="if it was removed on purpose, stop it, or set the property to false and restart it;"
    " else wait, and read its log if it does not join",
    source="KAFKA-19850",
)
REJOINS = FindingKind(
    id="voters/auto-join",
    verdict=FindingVerdict.INFO,
    meaning="A voter has controller.quorum.auto.join.enable=true: removed while it runs, it joins"
    " again by itself.",
    advice="before kwire quorum remove-controller, stop it or set the property to false",
    source="KAFKA-19850",
)
NOT_TOLD = FindingKind(
    id="voters/level-unknown",
    verdict=FindingVerdict.UNKNOWN,
    meaning="No controller that was reached told kraft.version: it is not known if the voters are"
    " static.",
    advice="run kwire doctor with the addresses of controllers",
    source="KIP-853",
)
FINE = FindingKind(
    id="voters/ok",
    verdict=FindingVerdict.OK,
    meaning="Every controller votes, and the voter set is that of the metadata log.",
)
KINDS = (
    TWO_DIRECTORIES,
    STATIC_DIFFER,
    STATIC_LEFT,
    STILL_STATIC,
    STATIC,
    COULD_VOTE,
    JOINS,
    REJOINS,
    NOT_TOLD,
    FINE,
)


def check(evidence: Evidence) -> Iterator[Finding]:
    """Report controllers that vote twice, do not vote, or are configured with other voters."""
    findings = [
        *_two_directories(evidence),
        *_static_lists(evidence),
        *_observers(evidence),
        *_rejoining(evidence),
    ]
    yield from findings
    quorum = evidence.quorum
    serious = any(finding.verdict is not FindingVerdict.INFO for finding in findings)
    if quorum is not None and quorum.voters and not serious:
        verb = "votes" if len(quorum.voters) == 1 else "vote"
        yield FINE(f"{listed(voter.replica_id for voter in quorum.voters)} {verb}")


def _two_directories(evidence: Evidence) -> Iterator[Finding]:
    quorum = evidence.quorum
    for voter in quorum.voters if quorum else ():
        assert quorum is not None
        if not fetches_with_new_disk(quorum, voter):
            continue
        observers = [other for other in quorum.observers if other.replica_id == voter.replica_id]
        newest = max(observers, key=lambda other: other.last_fetch_timestamp or 0)
        node_id, old, new = voter.replica_id, _directory(voter), _directory(newest)
        silent = quorum.silent_ms(voter)
        twice = silent is not None and silent < FETCH_TIMEOUT_MS
        text = f"node {node_id} votes with directory id {old} and fetches with {new}"
        stop = f"stop the process with directory id {old} in its meta.properties" if twice else ""
        yield TWO_DIRECTORIES(
            f"{text}: {'two of it run' if twice else 'its disk was replaced'}",
            fixes=[fix(stop, f"kwire quorum replace {node_id}")],
        )


def _directory(replica: ReplicaState) -> str:
    return uuid_text(replica.replica_directory_id) if replica.replica_directory_id else "none"


def _static_lists(evidence: Evidence) -> Iterator[Finding]:
    lists = {node: text for node in evidence.controllers if (text := node.config(VOTERS_KEY))}
    kraft_version = evidence.kraft_version
    if kraft_version is None and evidence.quorum is not None:
        # A controller tells it once it has read the log; a broker does not name its controllers'.
        controllers = f"--bootstrap-controller {','.join(map(str, evidence.bootstrap_servers))}"
        mend = "kwire doctor --only voters"
        if not evidence.controllers:
            mend = f"see that controllers answer: kwire doctor {controllers}"
        text = f"{KRAFT_VERSION} is not known: no controller told it"
        yield NOT_TOLD(text, fixes=[fix(mend)])
    if kraft_version and evidence.voters_are_dynamic is False:
        yield STILL_STATIC(
            f"{KRAFT_VERSION} is said to be {kraft_version}, yet the voters are static",
            "DescribeQuorum: voters without directory ids",
            *(f"{node.name}: {VOTERS_KEY}={text}" for node, text in lists.items()),
            fixes=[fix(f"leave {VOTERS_KEY} on every node", UPGRADE_PLAN)],
        )
        return
    if kraft_version:
        yield from _left_over(evidence, lists)
        return
    if len({frozenset(text.replace(" ", "").split(",")) for text in lists.values()}) > 1:
        yield _different(lists)
    elif kraft_version == 0:
        able = all(_supports_dynamic(node) for node in evidence.controllers)
        yield STATIC(
            f"the voters are static: {KRAFT_VERSION} is 0",
            *(f"{VOTERS_KEY}={text}" for text in list(lists.values())[:1]),
            "all controllers that answer support kraft.version 1"
            if able
            else "not all controllers support kraft.version 1",
            fixes=[fix(UPGRADE_PLAN)],
        )


def _left_over(evidence: Evidence, lists: dict[NodeEvidence, str]) -> Iterator[Finding]:
    servers = ",".join(map(str, evidence.bootstrap_servers))
    for node, text in lists.items():
        yield STATIC_LEFT(
            f"{node.name} still has {VOTERS_KEY}, though {KRAFT_VERSION} is"
            f" {evidence.kraft_version}",
            f"{VOTERS_KEY}={text}",
            fixes=[
                fix(
                    f"kwire quorum check --without {node.node_id}",
                    f"in the properties of {node.name} replace {VOTERS_KEY} by"
                    f" {SERVERS_KEY}={servers} and restart it",
                )
            ],
        )


def _different(lists: dict[NodeEvidence, str]) -> Finding:
    """Return the finding of lists that differ: most of the controllers are right."""
    most = Counter(lists.values()).most_common(1)[0][0]
    restarts = (
        step
        for node, text in lists.items()
        if text != most
        for step in (
            f"kwire quorum check --without {node.node_id}",
            f"in the properties of {node.name} set {VOTERS_KEY}={most} and restart it",
        )
    )
    values = (f"{node.name}: {text}" for node, text in lists.items())
    return STATIC_DIFFER(
        f"the controllers have different {VOTERS_KEY}", *values, fixes=[fix(*restarts)]
    )


def _supports_dynamic(node: NodeEvidence) -> bool:
    levels = node.api.supported_features.get(KRAFT_VERSION) if node.api else None
    return levels is not None and 1 in levels


def _observers(evidence: Evidence) -> Iterator[Finding]:
    """Report observers that are controllers; static voter sets have none to add."""
    quorum = evidence.quorum
    if quorum is None or not evidence.voters_are_dynamic:
        return
    for node_id in observing_controllers(evidence, quorum):
        observer = next(other for other in quorum.observers if other.replica_id == node_id)
        node = evidence.controller(node_id)
        directory = f"directory id {_directory(observer)}"
        stays_out = fix(f"stop controller {node_id}", when="if it is not to vote")
        add = f"kwire quorum add-controller {node_id}"
        if node is not None and node.config(AUTO_JOIN_KEY) == "true":
            text = f"controller {node_id} does not vote and will ask to: {AUTO_JOIN_KEY} is true"
            late = fix(f"read the log of controller {node_id}", add, when="if it does not join")
            yield JOINS(text, directory, fixes=[fix("wait"), stays_out, late])
        else:
            text = f"controller {node_id} follows the leader and does not vote"
            voters = len(quorum.voters)
            may_fail = f"{voters} voters bear {_failures(voters)} failed, {voters + 1} would bear"
            added = f"{may_fail} {_failures(voters + 1)}"
            yield COULD_VOTE(text, directory, added, fixes=[fix(add), stays_out])


def _failures(voters: int) -> int:
    return (voters - 1) // 2


def _rejoining(evidence: Evidence) -> Iterator[Finding]:
    quorum = evidence.quorum
    voters = {voter.replica_id for voter in quorum.voters} if quorum else set()
    ids = {
        node.node_id
        for node in evidence.controllers
        if node.node_id in voters and node.config(AUTO_JOIN_KEY) == "true"
    }
    known = sorted(node_id for node_id in ids if node_id is not None)
    if known:
        joins = "joins" if len(known) == 1 else "join"
        before = f"before kwire quorum remove-controller, stop it or set {AUTO_JOIN_KEY}=false"
        text = f"{listed(known)} {joins} again if removed while running"
        yield REJOINS(text, fixes=[fix(before)])
