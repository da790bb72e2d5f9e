"""Check the registered controllers: each must take part, or it holds features back (KIP-919)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kwire.doctor.checks.brokers import fenced_fixes
from kwire.doctor.evidence import Evidence, is_caught_up
from kwire.doctor.finding import GONE, Finding, FindingKind, FindingVerdict, Fix, fix
from kwire.doctor.supported_features import feature_text, level_text, limits
from kwire.doctor.voter_fixes import OBSERVER_LIMIT_MS
from kwire.image import MetadataImage
from kwire.messages.a94_unregister_controller import UnregisterControllerRequest
from kwire.messages.metadata_versions import CONTROLLER_UNREGISTRATION, METADATA_VERSION
from kwire.net.negotiation import VersionRange
from kwire.text.phrases import listed

STALE = FindingKind(
    id="registrations/stale",
    verdict=FindingVerdict.WARNING,
    meaning="A controller is registered, but neither votes nor fetches from the leader: it was"
    " removed or is gone. Its registration stays for ever, with the features it supported then.",
    advice="if it is gone for good: from metadata.version "
    f"{CONTROLLER_UNREGISTRATION} on kwire quorum forget ID; before, nothing removes it, and"
    " kwire quorum forget ID --disarm has it hold no feature back",
    source="KAFKA-20395, KIP-1312",
)
BLOCKS = FindingKind(
    id="registrations/blocks-upgrade",
    verdict=FindingVerdict.WARNING,
    meaning="A controller or broker that is registered but takes no part supports less of a feature"
    " than all the others: the feature cannot be raised while it is registered.",
    advice="controllers: see registrations/stale; brokers: start them with the new version, or"
    " kwire brokers unregister ID",
    source="KAFKA-20395",
)
MISSING = FindingKind(
    id="registrations/missing",
    verdict=FindingVerdict.WARNING,
    meaning="A voter is not registered, though the metadata.version has registrations of"
    " controllers: its features and addresses are not known to the others.",
    advice="start it, or look in its log for the reason why registering fails",
    source="KIP-919",
)
FINE = FindingKind(
    id="registrations/ok",
    verdict=FindingVerdict.OK,
    meaning="Every registered controller takes part in the quorum.",
)
KINDS = (STALE, BLOCKS, MISSING, FINE)


def check(evidence: Evidence) -> Iterator[Finding]:
    """Report registered controllers that take no part, and what they hold back."""
    image, quorum = evidence.image, evidence.quorum
    if image is None or quorum is None:
        return
    voters = {voter.replica_id for voter in quorum.voters}
    fetching = {
        observer.replica_id
        for observer in quorum.observers
        if is_caught_up(quorum, observer, OBSERVER_LIMIT_MS)
    }
    registered = set(image.cluster.controllers)
    stale = registered - voters - fetching
    findings = [*_stale(evidence, image, stale), *_blocking(evidence, image, stale)]
    if image.features.metadata_version.supports_controller_registration:
        findings += [
            MISSING(f"voter {node_id} is not registered", fixes=_missing_fixes(evidence, node_id))
            for node_id in sorted(voters - registered)
        ]
    yield from findings
    if not findings and not registered:
        level = level_text(METADATA_VERSION, image.features.metadata_version.level)
        yield FINE(f"no controller is registered, and {METADATA_VERSION} {level} needs none to be")
    elif not findings:
        verb = "is registered, and votes" if len(registered) == 1 else "are registered, and vote"
        yield FINE(f"{listed(registered)} {verb} or follow{'s' * (len(registered) == 1)}")


def _stale(evidence: Evidence, image: MetadataImage, stale: set[int]) -> Iterator[Finding]:
    for node_id in sorted(stale):
        controller = image.cluster.controllers[node_id]
        reached = evidence.controller(node_id)
        answers = f"it answers at {reached.address}" if reached else "it does not answer from here"
        features = (feature_text(*item) for item in sorted(controller.features.items()))
        yield STALE(
            f"controller {node_id} is registered, but neither votes nor fetches",
            answers,
            f"it supports {', '.join(features)}",
            fixes=_stale_fixes(evidence, image, node_id),
        )


def _stale_fixes(evidence: Evidence, image: MetadataImage, node_id: int) -> list[Fix]:
    """Return the ways on: forget it where the cluster can, else have it hold nothing back."""
    if evidence.controller(node_id) is not None:
        look = f"read the log of controller {node_id}, which runs: it does not reach the leader"
        return [fix(look), fix(f"stop controller {node_id}", when="if it is not needed")]
    level = CONTROLLER_UNREGISTRATION
    forget = f"kwire quorum forget {node_id}"
    offered = any(
        UnregisterControllerRequest.key in node.api.api_versions
        for node in evidence.leaders
        if node.api
    )
    start = fix(f"start controller {node_id}")
    if image.features.metadata_version.supports_controller_unregistration and offered:
        return [start, fix(forget, when=GONE)]
    features = image.cluster.controllers[node_id].features
    voters = {voter.replica_id for voter in evidence.quorum.voters} if evidence.quorum else set()
    present = limits(c.features for c in image.cluster.controllers.values() if c.id in voters)
    blocks = any(top > limits([features]).get(name, 0) for name, top in present.items())
    disarm = f"{forget} --disarm" if blocks else ""
    if offered and present.get(METADATA_VERSION, 0) >= level:
        raised = f"kwire features upgrade {METADATA_VERSION}={level}"
        return [start, fix(disarm, raised, forget, when=GONE)]
    leave = (
        f"leave it: it holds no feature back{' any more' * blocks}, and goes only with"
        f" {METADATA_VERSION} {level} (Kafka 4.4)"
    )
    return [start, fix(disarm, leave, when=GONE)]


def _missing_fixes(evidence: Evidence, node_id: int) -> list[Fix]:
    check = f"kwire doctor --only {MISSING.id}"
    if evidence.controller(node_id) is None:
        return [fix(f"start controller {node_id}", check)]
    return [fix(f"look in the log of controller {node_id} why registering fails", check)]


def _blocking(evidence: Evidence, image: MetadataImage, stale: set[int]) -> Iterator[Finding]:
    """Compare what absent nodes support with what all that take part support."""
    absent: dict[str, tuple[Mapping[str, VersionRange], list[Fix]]] = {
        f"controller {node_id}": (
            image.cluster.controllers[node_id].features,
            _stale_fixes(evidence, image, node_id),
        )
        for node_id in sorted(stale)
    }
    absent |= {
        f"broker {broker.id}": (broker.features, fenced_fixes(evidence, image, broker.id))
        for broker in sorted(image.cluster.brokers.values(), key=lambda broker: broker.id)
        if broker.fenced
    }
    present = [
        *(c.features for c in image.cluster.controllers.values() if c.id not in stale),
        *(b.features for b in image.cluster.brokers.values() if not b.fenced),
    ]
    for name, highest in limits(present).items():
        for node, (features, fixes) in absent.items():
            own = features.get(name, VersionRange(0, 0)).max_version
            if own < highest:
                yield BLOCKS(
                    f"{name} cannot be finalized above {own}: {node} is registered and supports no"
                    f" more; all that take part support {highest}",
                    fixes=fixes,
                )
