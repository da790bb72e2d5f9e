"""Check the partitions: without a leader, under min.insync.replicas, out of sync, stuck moves."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kwire.admin.reassignment.moving_cluster import has_copied
from kwire.doctor.drain_steps import LOSES, drained, gone_for_good, partition_text, target
from kwire.doctor.evidence import Evidence
from kwire.doctor.finding import GONE, Finding, FindingKind, FindingVerdict, fix
from kwire.image import MetadataImage
from kwire.image.partition import NO_LEADER, PartitionRegistration
from kwire.image.topics import TopicImage
from kwire.messages.config_resource import ResourceType
from kwire.text.phrases import count, examples, ids_text, listed

MIN_ISR_KEY = "min.insync.replicas"

LEADERLESS = FindingKind(
    id="partitions/no-leader",
    verdict=FindingVerdict.PROBLEM,
    meaning="Partitions have no leader: nobody can read or write them. The next leader is one of"
    " the eligible leader replicas (ELR), which miss nothing that was committed; if there are none,"
    " the last known ELR may have lost something.",
    advice="start one of the brokers of the ELR, or if it is empty, of the last known ELR; only if"
    " none of them comes back, kwire partitions elect"
    " --unclean, which loses records",
    source="KIP-966",
)
UNDER_MIN_ISR = FindingKind(
    id="partitions/under-min-isr",
    verdict=FindingVerdict.WARNING,
    meaning="Partitions have fewer replicas in sync than min.insync.replicas: producers with"
    " acks=all are refused.",
    advice="start the brokers that are missing",
    source="KIP-966",
)
UNDER_REPLICATED = FindingKind(
    id="partitions/under-replicated",
    verdict=FindingVerdict.WARNING,
    meaning="Partitions have replicas that are not in sync.",
    advice="start the brokers that are missing; if all run, look for slow disks or networks",
    source="KIP-966",
)
MOVE_STUCK = FindingKind(
    id="partitions/move-stuck",
    verdict=FindingVerdict.WARNING,
    meaning="Partitions move and never arrive: a broker that is to have a replica is fenced, or all"
    " replicas are in sync and nothing ends the move. Kafka ends a move with a change of the ISR,"
    " and after an unclean election none comes if the old replicas are gone.",
    advice="start the brokers that are to have replicas; if they are gone, or none is missing,"
    " kwire partitions reassign plan --drain ID, and apply the plan with --additional",
    source="KIP-455",
)
FINE = FindingKind(
    id="partitions/ok",
    verdict=FindingVerdict.OK,
    meaning="Every partition has a leader, all replicas are in sync, and moves go on.",
)
KINDS = (LEADERLESS, UNDER_MIN_ISR, UNDER_REPLICATED, MOVE_STUCK, FINE)


def check(evidence: Evidence) -> Iterator[Finding]:
    """Report partitions that cannot be used, or are about to be unusable."""
    image = evidence.image
    if image is None:
        return
    findings = [*_leaderless(image)]
    default = max(
        (
            int(text)
            for node in evidence.controllers
            if (text := node.config(MIN_ISR_KEY)).isdecimal()
        ),
        default=1,
    )
    findings += _sized(
        UNDER_MIN_ISR,
        image,
        f"under {MIN_ISR_KEY}",
        lambda topic, part: (
            len(part.isr) < min(_min_isr(image, topic.name, default), len(part.replicas))
        ),
    )
    findings += _sized(
        UNDER_REPLICATED,
        image,
        "under-replicated",
        lambda topic, part: len(part.isr) < len(part.replicas) and not part.is_reassigning,
    )
    findings += _stuck(image)
    yield from findings
    total = sum(len(topic.partitions) for topic in image.topics.by_id.values())
    if not findings:
        yield FINE(f"{count(total, 'partition')}, each with a leader and all replicas in sync")


def _leaderless(image: MetadataImage) -> Iterator[Finding]:
    """Report partitions without a leader: start a broker that may lead, or lose records."""
    leaderless = image.topics.partitions(lambda partition: partition.leader == NO_LEADER)
    if not leaderless:
        return
    names = (f"{_name(topic, number)} ({_elr(part)})" for topic, number, part in leaderless)
    may_lead = {
        broker
        for _, _, part in leaderless
        for broker in part.isr or part.elr or part.last_known_elr or part.replicas
    }
    # An unclean election takes a live replica; a partition that has none must get one first.
    electable = [
        partition_text(topic.name, number)
        for topic, number, part in leaderless
        if any(image.cluster.is_active(broker) for broker in part.replicas)
    ]
    elect = f"kwire partitions elect {' '.join(electable)} --unclean"
    down = {broker for broker in may_lead if not image.cluster.is_active(broker)}
    fixes = [fix(f"start {ids_text('broker', down)}" if down else elect.removesuffix(" --unclean"))]
    if len(electable) < len(leaderless):
        fixes.append(gone_for_good(image, down or may_lead))
    else:
        fixes.append(fix(elect, when=GONE + LOSES))
    yield LEADERLESS(_are(len(leaderless), "without a leader"), *examples(names), fixes=fixes)


def _stuck(image: MetadataImage) -> Iterator[Finding]:
    """Report moves that wait for a broker that is fenced, or for nothing at all."""
    waiting: dict[str, set[int]] = {}
    leaving: set[int] = set()
    for topic, number, part in image.topics.partitions(lambda part: part.is_reassigning):
        absent = {broker for broker in target(part) if not image.cluster.is_active(broker)}
        if part.leader != NO_LEADER and (absent or has_copied(target(part), part.isr)):
            waiting[_name(topic, number)] = absent
            leaving |= absent or set(part.removing_replicas)
    if not waiting:
        return
    absent = set().union(*waiting.values())
    plan = drained(image, leaving, "--additional")
    fixes = [fix(*plan)]
    if absent:
        fixes = [fix(f"start {ids_text('broker', absent)}"), fix(*plan, when=GONE)]
    reasons = (
        f"{name} (waits for {listed(ids)})" if ids else f"{name} (all in sync)"
        for name, ids in waiting.items()
    )
    number = len(waiting)
    text = f"{count(number, 'partition')} {'moves' if number == 1 else 'move'} without an end"
    yield MOVE_STUCK(text, *examples(reasons), fixes=fixes)


def _sized(
    kind: FindingKind,
    image: MetadataImage,
    state: str,
    condition: Callable[[TopicImage, PartitionRegistration], bool],
) -> Iterator[Finding]:
    found = [
        (topic, number, part)
        for topic, number, part in image.topics.partitions(lambda part: part.leader != NO_LEADER)
        if condition(topic, part)
    ]
    if not found:
        return
    names = (
        f"{_name(topic, number)} ({len(part.isr)} of {len(part.replicas)} in sync)"
        for topic, number, part in found
    )
    missing = {broker for _, _, part in found for broker in part.replicas if broker not in part.isr}
    down = {broker for broker in missing if not image.cluster.is_active(broker)}
    fixes = [fix("look for slow disks or networks of " + ids_text("broker", missing))]
    if down:
        fixes = [fix(f"start {ids_text('broker', down)}"), gone_for_good(image, down)]
    yield kind(_are(len(found), state), *examples(names), fixes=fixes)


def _min_isr(image: MetadataImage, topic: str, default: int) -> int:
    """Return min.insync.replicas of a topic, else of all brokers, else the default."""
    values = (
        image.configs.of(ResourceType.TOPIC, topic).get(MIN_ISR_KEY),
        image.configs.of(ResourceType.BROKER, "").get(MIN_ISR_KEY),
    )
    return next((int(text) for text in values if text and text.isdecimal()), default)


def _name(topic: TopicImage, number: int) -> str:
    return f"{topic.name}-{number}"


def _elr(partition: PartitionRegistration) -> str:
    if partition.elr:
        return f"ELR {listed(partition.elr)}"
    known = listed(partition.last_known_elr) if partition.last_known_elr else "empty"
    return f"ELR empty, last known ELR {known}"


def _are(number: int, state: str) -> str:
    return f"{count(number, 'partition')} {'is' if number == 1 else 'are'} {state}"
