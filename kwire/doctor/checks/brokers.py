"""Check the registered brokers: fenced ones, and directories that are offline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kwire.doctor.drain_steps import drained, gone_for_good
from kwire.doctor.evidence import Evidence
from kwire.doctor.finding import Finding, FindingKind, FindingVerdict, Fix, fix
from kwire.doctor.unanswered import START, remedy
from kwire.image import MetadataImage
from kwire.text.phrases import count

NONE = FindingKind(
    id="brokers/none",
    verdict=FindingVerdict.INFO,
    meaning="No broker is registered with the quorum.",
    advice="start brokers with this cluster's id and its controllers as bootstrap servers",
    source="KIP-631",
)
FENCED = FindingKind(
    id="brokers/fenced",
    verdict=FindingVerdict.WARNING,
    meaning="A broker is registered but fenced: its heartbeats do not reach the active controller."
    " It leads nothing and is in no ISR.",
    advice="if it is down, start it, or if it is gone for good, move its partitions away and"
    " kwire brokers unregister ID; if it answers, check its way to the controllers",
    source="KIP-631",
)
SHUTTING_DOWN = FindingKind(
    id="brokers/shutting-down",
    verdict=FindingVerdict.INFO,
    meaning="A broker is in controlled shutdown: it hands its leaderships over.",
    source="KIP-631",
)
OFFLINE = FindingKind(
    id="brokers/offline-directory",
    verdict=FindingVerdict.WARNING,
    meaning="Replicas lie in a log directory that their broker reports as offline, or no longer"
    " has.",
    advice="look at the broker's disk and its log; repair or replace it and restart the broker",
    source="KIP-858",
)
FINE = FindingKind(
    id="brokers/ok",
    verdict=FindingVerdict.OK,
    meaning="No broker is fenced, and no directory in use is offline.",
)
KINDS = (NONE, FENCED, SHUTTING_DOWN, OFFLINE, FINE)


def check(evidence: Evidence) -> Iterator[Finding]:
    """Report brokers that the active controller keeps away from clients."""
    image = evidence.image
    if image is None:
        return
    if not image.cluster.brokers:
        yield NONE("no broker is registered")
        return
    findings = [*_fenced(evidence, image), *_offline(image)]
    yield from findings
    if all(finding.verdict is FindingVerdict.INFO for finding in findings):
        number = len(image.cluster.brokers)
        yield FINE(f"{count(number, 'broker')}, none fenced")


def _fenced(evidence: Evidence, image: MetadataImage) -> Iterator[Finding]:
    listing = Counter(
        replica
        for topic in image.topics.by_id.values()
        for partition in topic.partitions.values()
        for replica in partition.replicas
    )
    for broker in sorted(image.cluster.brokers.values(), key=lambda broker: broker.id):
        if broker.fenced:
            number = listing[broker.id]
            verb = "lists" if number == 1 else "list"
            yield FENCED(
                f"broker {broker.id} is fenced; {count(number, 'partition')} {verb} it as replica",
                _reached(evidence, broker.id),
                fixes=fenced_fixes(evidence, image, broker.id),
            )
        elif broker.in_controlled_shutdown:
            yield SHUTTING_DOWN(f"broker {broker.id} is in controlled shutdown")


def fenced_fixes(evidence: Evidence, image: MetadataImage, broker_id: int) -> list[Fix]:
    """Return the ways on for a broker that is fenced."""
    node = evidence.brokers.get(broker_id)
    if node is not None and node.answers and node.node_id in (None, broker_id):
        return [fix(f"read the log of broker {broker_id}, and check its way to the controllers")]
    name = f"broker {broker_id}"
    mend = remedy(node.failure, name) if node and node.failure else START.format(who=name)
    return [fix(mend), gone_for_good(image, [broker_id])]


def _reached(evidence: Evidence, broker_id: int) -> str:
    node = evidence.brokers.get(broker_id)
    if node is None:
        return "it was not dialled: it has no endpoint of the protocol in use here"
    if not node.answers:
        return node.failure or "it does not answer"
    if node.node_id not in (None, broker_id):
        return f"node {node.node_id} answers at {node.address} in its place"
    return f"it answers at {node.address}: it runs, and does not reach the active controller"


def _offline(image: MetadataImage) -> Iterator[Finding]:
    lost = Counter(
        replica
        for topic in image.topics.by_id.values()
        for partition in topic.partitions.values()
        for replica, directory in zip(partition.replicas, partition.directories, strict=True)
        if replica in image.cluster.brokers
        and not image.cluster.has_online_directory(replica, directory)
    )
    for broker_id, number in sorted(lost.items()):
        mend = f"look at the disk of broker {broker_id} and at its log; repair it and restart it"
        # A broker that runs is not unregistered; its other directories go on.
        yield OFFLINE(
            f"{count(number, 'replica')} of broker {broker_id} lie in an offline directory",
            fixes=[fix(mend), fix(*drained(image, [broker_id]), when="if it cannot be repaired")],
        )
