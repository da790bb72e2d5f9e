"""Check the finalised features: those that could be higher, and nodes that do not support them."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.doctor.evidence import Evidence
from kwire.doctor.finding import Finding, FindingKind, FindingVerdict, fix
from kwire.doctor.supported_features import level_text, limits, upgrades_static_voters
from kwire.doctor.voter_fixes import UPGRADE_PLAN
from kwire.messages.metadata_versions import KRAFT_VERSION, METADATA_VERSION

RAISABLE = FindingKind(
    id="features/can-be-finalized",
    verdict=FindingVerdict.INFO,
    meaning="All registered nodes support a higher level of a feature than the finalised one.",
    advice="when the upgrade of all nodes has proved itself: kwire features upgrade NAME=LEVEL;"
    " some levels cannot be lowered again",
    source="KIP-584",
)
FINE = FindingKind(
    id="features/ok",
    verdict=FindingVerdict.OK,
    meaning="Every feature is at the highest level that all registered nodes support.",
)
KINDS = (RAISABLE, FINE)


def check(evidence: Evidence) -> Iterator[Finding]:
    """Compare the finalised levels with those that all registered nodes support."""
    image = evidence.image
    if image is None:
        return
    nodes = [
        *(controller.features for controller in image.cluster.controllers.values()),
        *(broker.features for broker in image.cluster.brokers.values()),
    ]
    if not nodes:
        return  # nobody has told what it supports
    finalized = dict(image.features.levels)
    raisable = limits(nodes)
    # It stands in the voter set, not among the features of the image.
    controllers = image.cluster.controllers.values()
    static_for_ever = not all(upgrades_static_voters(item.features) for item in controllers)
    if evidence.kraft_version is None or static_for_ever:
        raisable.pop(KRAFT_VERSION, None)  # see upgrades_static_voters
    else:
        finalized[KRAFT_VERSION] = evidence.kraft_version
    raisable = {name: level for name, level in raisable.items() if level > finalized.get(name, 0)}
    for name, highest in raisable.items():
        current = level_text(name, finalized.get(name, 0))
        proved = "when the upgrade of all nodes has proved itself"
        mend = fix(f"kwire features upgrade {name}={highest}", when=proved)
        if name == KRAFT_VERSION:
            mend = fix(UPGRADE_PLAN, when=proved)
        text = f"{name} is {current}; all nodes support {level_text(name, highest)}"
        yield RAISABLE(text, fixes=[mend])
    if not raisable:
        level = image.features.metadata_version.level
        yield FINE(
            f"{METADATA_VERSION} {level_text(METADATA_VERSION, level)}, all features at"
            " their highest level"
        )
