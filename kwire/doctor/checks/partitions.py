"""Check the partitions: without a leader, under min.insync.replicas, with replicas out of sync."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kwire.doctor.evidence import Evidence, count, examples, listed
from kwire.doctor.finding import Finding, FindingKind, FindingVerdict
from kwire.image import MetadataImage
from kwire.image.partition import NO_LEADER, PartitionRegistration
from kwire.image.topics import TopicImage
from kwire.messages.config_resource import ResourceType

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
FINE = FindingKind(
    id="partitions/ok",
    verdict=FindingVerdict.OK,
    meaning="Every partition has a leader, and all replicas are in sync.",
)
KINDS = (LEADERLESS, UNDER_MIN_ISR, UNDER_REPLICATED, FINE)


def check(evidence: Evidence) -> Iterator[Finding]:
    """Report partitions that cannot be used, or are about to be unusable."""
    image = evidence.image
    if image is None:
        return
    leaderless = image.topics.partitions(lambda partition: partition.leader == NO_LEADER)
    findings = []
    if leaderless:
        names = (f"{_name(topic, number)} ({_elr(part)})" for topic, number, part in leaderless)
        findings.append(
            LEADERLESS(f"{_are(len(leaderless), 'without a leader')}", *examples(names))
        )
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
    yield from findings
    total = sum(len(topic.partitions) for topic in image.topics.by_id.values())
    if not findings:
        yield FINE(f"{count(total, 'partition')}, each with a leader and all replicas in sync")


def _sized(
    kind: FindingKind,
    image: MetadataImage,
    state: str,
    condition: Callable[[TopicImage, PartitionRegistration], bool],
) -> Iterator[Finding]:
    names = [
        f"{_name(topic, number)} ({len(part.isr)} of {len(part.replicas)} in sync)"
        for topic, number, part in image.topics.partitions(lambda part: part.leader != NO_LEADER)
        if condition(topic, part)
    ]
    if names:
        yield kind(_are(len(names), state), *examples(names))


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
