"""Check the registered controllers: each must take part, or it holds features back (KIP-919)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kwire.doctor.checks.quorum import OBSERVER_LIMIT_MS
from kwire.doctor.evidence import Evidence, is_caught_up, listed
from kwire.doctor.finding import Finding, FindingKind, FindingVerdict
from kwire.doctor.supported_features import feature_text, level_text, limits
from kwire.image import MetadataImage
from kwire.messages.a94_unregister_controller import UnregisterControllerRequest
from kwire.messages.metadata_versions import METADATA_VERSION
from kwire.net.negotiation import VersionRange

STALE = FindingKind(
    id="registrations/stale",
    verdict=FindingVerdict.WARNING,
    meaning="A controller is registered, but neither votes nor fetches from the leader: it was"
    " removed or is gone. Its registration stays for ever, with the features it supported then.",
    advice="if it is gone for good: from metadata.version 33 on kwire quorum forget ID; before,"
    " nothing removes it but starting a controller of that id, which registers anew",
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
    findings = [*_stale(evidence, image, stale), *_blocking(image, stale)]
    if image.features.metadata_version.supports_controller_registration:
        findings += [
            MISSING(f"voter {node_id} is not registered") for node_id in sorted(voters - registered)
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
            advice=_forget(evidence, image, node_id),
        )


def _forget(evidence: Evidence, image: MetadataImage, node_id: int) -> str:
    offered = any(
        UnregisterControllerRequest.key in node.api.api_versions
        for node in evidence.leaders
        if node.api
    )
    if offered and image.features.metadata_version.supports_controller_unregistration:
        return f"if it is gone for good: kwire quorum forget {node_id}"
    return STALE.advice


def _blocking(image: MetadataImage, stale: set[int]) -> Iterator[Finding]:
    """Compare what absent nodes support with what all that take part support."""
    absent: dict[str, Mapping[str, VersionRange]] = {
        f"controller {node_id}": image.cluster.controllers[node_id].features
        for node_id in sorted(stale)
    }
    absent |= {
        f"broker {broker.id}": broker.features
        for broker in sorted(image.cluster.brokers.values(), key=lambda broker: broker.id)
        if broker.fenced
    }
    present = [
        *(c.features for c in image.cluster.controllers.values() if c.id not in stale),
        *(b.features for b in image.cluster.brokers.values() if not b.fenced),
    ]
    for name, highest in limits(present).items():
        for node, features in absent.items():
            own = features.get(name, VersionRange(0, 0)).max_version
            if own < highest:
                yield BLOCKS(
                    f"{name} cannot be finalized above {own}: {node} is registered and supports no"
                    f" more; all that take part support {highest}",
                )
