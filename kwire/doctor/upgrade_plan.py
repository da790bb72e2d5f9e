"""The steps from static voters to dynamic ones (KIP-853, "Upgrade"; KAFKA-16538), and what is done.

The order matters: a controller that loses controller.quorum.voters while kraft.version is 0 knows
no voters. Kafka 3.9 and 4.0 accept kraft.version=1 and stay static (KAFKA-18979), so that the
voters' directory ids, and not the level alone, say that the upgrade has happened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from kwire.admin.quorum import QuorumInfo
from kwire.doctor.checks.quorum import SERVERS_KEY
from kwire.doctor.checks.voters import VOTERS_KEY
from kwire.doctor.evidence import Evidence, NodeEvidence, is_caught_up
from kwire.doctor.quorum_check import without
from kwire.doctor.supported_features import FIRST_DYNAMIC, level_text
from kwire.messages.metadata_versions import KRAFT_VERSION, METADATA_VERSION
from kwire.net.negotiation import VersionRange
from kwire.text.phrases import listed

UPGRADE = "kwire features upgrade kraft.version=1"


class StepState(Enum):
    """The state of a step. UNKNOWN: it could not be looked at, so that it is no leave to go on."""

    DONE = "done"
    NEXT = "next"
    LATER = "later"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    """A step of the upgrade, of one node if node_id is not None.

    command: to do it, or to check before it is done; empty if there is none.
    """

    number: int
    state: StepState
    sentence: str
    node_id: int | None = None
    evidence: tuple[str, ...] = ()
    command: str = ""


def upgrade_plan(evidence: Evidence) -> tuple[PlanStep, ...]:
    """Return the steps in order: what is done, which one is next, which have to wait.

    1. All voters run Kafka 4.1 or later, all nodes support kraft.version 1.
    2. All voters are registered and caught up, and still have their static list.
    3. kraft.version is 1 and the voter set stands in the log.
    4. Each node names bootstrap servers instead of voters: controllers first, the leader last
       among them, then brokers.
    5. Voters may be added and removed.
    """
    if evidence.voters_are_dynamic:
        steps = [*_already(evidence), *_rolls(evidence), _afterwards(evidence)]
    else:
        steps = [_releases(evidence), _voters(evidence), _level(evidence)]
        steps += [*_rolls(evidence), _afterwards(evidence)]
    return tuple(_in_order(steps))


def _in_order(steps: list[PlanStep]) -> Iterator[PlanStep]:
    """Let only the first step that is not done be next; nodes unknown do not hold others up."""
    waiting = False
    for step in steps:
        if step.state is StepState.NEXT and waiting:
            yield replace(step, state=StepState.LATER)
            continue
        yield step
        waiting = waiting or (
            step.state is not StepState.DONE
            and (step.state is not StepState.UNKNOWN or step.node_id is None)
        )


def _already(evidence: Evidence) -> Iterator[PlanStep]:
    """Return the steps before the rolling ones, of a quorum whose voter set stands in the log."""
    assert evidence.quorum is not None
    ids = listed(voter.replica_id for voter in evidence.quorum.voters)
    sentences = (
        "the nodes support kraft.version 1: it is finalized",
        f"the leader knows the directory id of each voter: {ids}",
        f"{KRAFT_VERSION} is {evidence.kraft_version}: the voter set stands in the metadata log",
    )
    for number, sentence in enumerate(sentences, 1):
        yield PlanStep(number=number, state=StepState.DONE, sentence=sentence)


def _releases(evidence: Evidence) -> PlanStep:
    """Judge what nodes registered, and what controllers tell themselves; see FIRST_DYNAMIC.

    Any registration without kraft.version 1, also of a node that is gone, has the leader refuse.
    """
    controllers, brokers = _features(evidence)
    voters = _voter_ids(evidence)
    nodes = {f"controller {node_id}": item for node_id, item in sorted(controllers.items())}
    nodes |= {f"broker {node_id}": item for node_id, item in sorted(brokers.items())}
    old = [
        f"{name} does not support {KRAFT_VERSION} 1: older than Kafka 3.9"
        for name, features in nodes.items()
        if _highest(features, KRAFT_VERSION) < 1
    ]
    old += [
        f"voter {node_id} supports {METADATA_VERSION} up to"
        f" {level_text(METADATA_VERSION, highest)}: older than Kafka 4.1"
        for node_id in sorted(voters & set(controllers))
        if (highest := _highest(controllers[node_id], METADATA_VERSION)) < FIRST_DYNAMIC
    ]
    missing = sorted(voters - set(controllers))
    silent = [f"controller {node_id} is neither registered nor reached" for node_id in missing]
    if evidence.image is None:
        silent.append(f"the metadata log was not read: {evidence.no_image or 'nobody leads'}")
    if old:
        return PlanStep(
            number=1,
            state=StepState.NEXT,
            sentence="nodes are too old: upgrade their software, or if they are gone, forget their"
            " registrations",
            evidence=(*old, *silent),
            command="kwire doctor --only registrations,brokers",
        )
    if silent or not controllers:
        text = "not all nodes could be asked for what they support"
        return PlanStep(number=1, state=StepState.UNKNOWN, sentence=text, evidence=tuple(silent))
    text = "all voters run Kafka 4.1 or later, and all nodes support kraft.version 1"
    return PlanStep(number=1, state=StepState.DONE, sentence=text)


def _voters(evidence: Evidence) -> PlanStep:
    """Judge if each voter has registered, keeps up, and has the list that it still needs."""
    if evidence.quorum is None or not evidence.quorum.voters:
        text = "no leader answered: the voters cannot be looked at"
        command = "kwire doctor --only nodes,quorum"
        return PlanStep(number=2, state=StepState.UNKNOWN, sentence=text, command=command)
    problems = tuple(_problems_of_voters(evidence, evidence.quorum))
    if problems:
        return PlanStep(
            number=2,
            state=StepState.NEXT,
            sentence="not all voters take part as static voters do",
            evidence=problems,
            command="kwire doctor --only quorum,voters,registrations",
        )
    ids = _voter_ids(evidence)
    told = {node.node_id for node in evidence.controllers if node.configs}
    if untold := ids - told:
        text = f"the properties of {listed(untold)} are not known: look for {VOTERS_KEY} there"
        return PlanStep(number=2, state=StepState.UNKNOWN, sentence=text)
    text = f"{'voter' if len(ids) == 1 else 'voters'} {listed(ids)} can be upgraded from static"
    if evidence.image is not None:
        level = level_text(METADATA_VERSION, evidence.image.features.metadata_version.level)
        text += f"; {METADATA_VERSION} is {level}, any will do"
    return PlanStep(number=2, state=StepState.DONE, sentence=text)


def _problems_of_voters(evidence: Evidence, quorum: QuorumInfo) -> Iterator[str]:
    for node in evidence.controllers:
        if node.configs and not node.config(VOTERS_KEY):
            yield (
                f"controller {node.node_id} runs without {VOTERS_KEY}, though {KRAFT_VERSION} is 0:"
                " set it again and restart it"
            )
    image = evidence.image
    if image is not None and image.features.metadata_version.supports_controller_registration:
        for node_id in sorted(_voter_ids(evidence) - set(image.cluster.controllers)):
            yield f"controller {node_id} is not registered"
    for voter in quorum.voters:
        if not is_caught_up(quorum, voter, evidence.fetch_timeout_ms):
            yield f"controller {voter.replica_id} is not caught up"


def _level(evidence: Evidence) -> PlanStep:
    """Return the step of the feature; a level of 1 over voters without directory ids is no end."""
    if evidence.kraft_version is None or evidence.quorum is None:
        text = f"{KRAFT_VERSION} is not known: no leader told it"
        return PlanStep(number=3, state=StepState.UNKNOWN, sentence=text)
    if evidence.kraft_version:
        text = (
            f"{KRAFT_VERSION} is said to be {evidence.kraft_version}, yet the voters have no"
            " directory ids: Kafka 3.9 and 4.0 raise the level and stay static (KAFKA-18979);"
            " upgrade all controllers to 4.1 or later, then raise it again"
        )
        return PlanStep(number=3, state=StepState.NEXT, sentence=text, command=UPGRADE)
    return PlanStep(
        number=3,
        state=StepState.NEXT,
        sentence=f"raise {KRAFT_VERSION} to 1, first with --dry-run, for which the leader checks"
        " every voter, and refuses for the first seconds after its election; it cannot be lowered"
        " again",
        evidence=(f"{KRAFT_VERSION} is 0",),
        command=UPGRADE,
    )


def _rolls(evidence: Evidence) -> Iterator[PlanStep]:
    """Yield a step for each node whose properties are to change."""
    nodes = _nodes(evidence)
    servers = _bootstrap_servers(evidence)
    voters = _voter_ids(evidence)
    dynamic = bool(evidence.voters_are_dynamic)
    for node_id, node in nodes.items():
        kind = "controller" if node_id in voters or (node and node.is_controller) else "broker"
        name = f"{kind} {node_id}"
        if node is None or not node.configs:
            reason = node.failure or "; ".join(node.refusals.values()) if node else ""
            yield PlanStep(
                number=4,
                node_id=node_id,
                state=StepState.UNKNOWN,
                sentence=f"{name} does not tell its properties: look for {VOTERS_KEY} there",
                evidence=(reason,) if reason else (),
            )
            continue
        values = tuple(
            f"{key}={node.config(key)}" for key in (VOTERS_KEY, SERVERS_KEY) if node.config(key)
        )
        if dynamic and node.config(SERVERS_KEY) and not node.config(VOTERS_KEY):
            text = f"{name} finds the controllers by {SERVERS_KEY}"
            yield PlanStep(
                number=4, node_id=node_id, state=StepState.DONE, sentence=text, evidence=values
            )
            continue
        is_voter = node_id in voters
        leave = (without(evidence, node_id).sentence,) if is_voter and dynamic else ()
        yield PlanStep(
            number=4,
            node_id=node_id,
            state=StepState.NEXT,
            sentence=f"in the properties of {name} replace {VOTERS_KEY} by {SERVERS_KEY}={servers},"
            " and restart it",
            evidence=(*values, *leave),
            command=f"kwire quorum check --without {node_id}" if is_voter else "",
        )


def _afterwards(evidence: Evidence) -> PlanStep:
    """Return the last step: done as soon as the voter set can be changed."""
    state = StepState.DONE if evidence.voters_are_dynamic else StepState.NEXT
    text = "voters can be added and removed"
    return PlanStep(
        number=5,
        state=state,
        sentence=text if state is StepState.DONE else f"then {text}",
        command="kwire quorum add-controller ID",
    )


def _features(
    evidence: Evidence,
) -> tuple[dict[int, Mapping[str, VersionRange]], dict[int, Mapping[str, VersionRange]]]:
    """Return what controllers and brokers support, by id: as they answer, else as registered."""
    cluster = evidence.image.cluster if evidence.image else None
    controllers: dict[int, Mapping[str, VersionRange]] = {
        node.id: node.features for node in (cluster.controllers.values() if cluster else ())
    }
    controllers |= {
        node.node_id: node.api.supported_features
        for node in evidence.controllers
        if node.node_id is not None and node.api is not None
    }
    brokers: dict[int, Mapping[str, VersionRange]] = {
        node.id: node.features for node in (cluster.brokers.values() if cluster else ())
    }
    return controllers, brokers


def _highest(features: Mapping[str, VersionRange], name: str) -> int:
    return features[name].max_version if name in features else 0


def _voter_ids(evidence: Evidence) -> set[int]:
    """Return the voters by the leader's answer, else by the lists in the configurations."""
    quorum = evidence.quorum
    return (
        {voter.replica_id for voter in quorum.voters}
        if quorum
        else set(evidence.addresses_of_voters)
    )


def _nodes(evidence: Evidence) -> dict[int, NodeEvidence | None]:
    """Return every node in the order of restarts: a combined node counts as a controller.

    Controllers before brokers, the leader last among them: each restart of it is an election.
    """
    leader = evidence.quorum.leader_id if evidence.quorum else None
    image = evidence.image
    registered = set(image.cluster.controllers) if image else set()
    answered = {node.node_id for node in evidence.controllers if node.node_id is not None}
    controllers = (
        _voter_ids(evidence)
        | answered
        | {node_id for node_id in registered if evidence.controller(node_id)}
    )
    ordered = sorted(controllers, key=lambda node_id: (node_id == leader, node_id))
    nodes = {node_id: evidence.controller(node_id) for node_id in ordered}
    for node_id in sorted(image.cluster.brokers) if image else ():
        nodes.setdefault(node_id, evidence.brokers.get(node_id))
    return nodes


def _bootstrap_servers(evidence: Evidence) -> str:
    """Return the addresses of the voters, as a property has them."""
    addresses = [
        str(endpoints[0].address) for _, endpoints in sorted(evidence.addresses_of_voters.items())
    ]
    return ",".join(addresses) or "HOST:PORT,..."
