"""Runs the checks over the evidence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import MappingProxyType

from kwire.doctor.checks import (
    brokers,
    endpoints,
    features,
    identity,
    migration,
    nodes,
    partitions,
    quorum,
    registrations,
    security,
    voters,
)
from kwire.doctor.evidence import Evidence
from kwire.doctor.finding import Finding, FindingKind, FindingVerdict, fix
from kwire.errors import InvalidValue

EvidenceCheck = Callable[[Evidence], Iterator[Finding]]

CHECKS: Mapping[str, EvidenceCheck] = MappingProxyType(
    {
        "nodes": nodes.check,
        "quorum": quorum.check,
        "identity": identity.check,
        "endpoints": endpoints.check,
        "voters": voters.check,
        "registrations": registrations.check,
        "features": features.check,
        "brokers": brokers.check,
        "partitions": partitions.check,
        "security": security.check,
        "migration": migration.check,
    }
)
"""The check of each subject, in the order of the report."""

NEED_METADATA = frozenset(
    {"nodes", "endpoints", "registrations", "features", "brokers", "partitions", "migration"}
)
"""The subjects that are incomplete without the metadata log; the others do without reading it."""

KINDS: tuple[FindingKind, ...] = (
    *nodes.KINDS,
    *quorum.KINDS,
    *identity.KINDS,
    *endpoints.KINDS,
    *voters.KINDS,
    *registrations.KINDS,
    *features.KINDS,
    *brokers.KINDS,
    *partitions.KINDS,
    *security.KINDS,
    *migration.KINDS,
)
"""Every kind of finding, in the same order."""


def examine(evidence: Evidence, only: Collection[str] = ()) -> tuple[Finding, ...]:
    """Run the checks and return their findings, in the order of the subjects.

    only: subjects, or ids of findings; empty for all. Raises InvalidValue for an unknown one.

    1. Every check runs: what could not be asked is reported whatever is selected.
    2. A selected subject whose check reports nothing had no evidence: that is NOT_CHECKED.
    """
    selected = tuple(select(only))
    # 1.
    reported = {subject: tuple(check(evidence)) for subject, check in CHECKS.items()}
    subjects = dict.fromkeys(kind.id.partition("/")[0] for kind in selected)
    unasked = {kind.id for kind in KINDS if kind.unasked}
    ids = {kind.id for kind in selected} | unasked
    findings = [
        finding
        for subject, some in reported.items()
        for finding in some
        if finding.id in ids or (finding.verdict is FindingVerdict.UNKNOWN and subject in subjects)
    ]
    # 2.
    if silent := [subject for subject in subjects if not reported[subject]]:
        reasons = dict.fromkeys(finding.id for finding in findings if finding.id in unasked)
        mend = f"mend {' and '.join(reasons)}" if reasons else ""
        findings.append(
            nodes.NOT_CHECKED(
                f"not checked for want of answers: {', '.join(silent)}",
                fixes=[fix(mend, f"kwire doctor --only {','.join(silent)}")],
            )
        )
    return tuple(findings)


def needs_metadata(only: Iterable[str]) -> bool:
    """True if a check among these reads the metadata log. Raises InvalidValue as `select`."""
    return any(kind.id.partition("/")[0] in NEED_METADATA for kind in select(only))


def select(only: Iterable[str] = ()) -> Iterator[FindingKind]:
    """Yield the kinds of these subjects and ids, or all. Raises InvalidValue for an unknown one."""
    names = set(only)
    known = set(CHECKS) | {kind.id for kind in KINDS}
    if unknown := sorted(names - known):
        subjects = ", ".join(CHECKS)
        raise InvalidValue(
            f"{unknown[0]!r} is no check: name one of {subjects}, or an id that"
            " `kwire doctor --list` prints"
        )
    for kind in KINDS:
        if not names or {kind.id, kind.id.partition("/")[0]} & names:
            yield kind


def worst(findings: Iterable[Finding]) -> FindingVerdict:
    """Return the heaviest verdict; OK if there is no finding."""
    verdicts = [finding.verdict for finding in findings]
    return max(verdicts, key=lambda verdict: verdict.rank, default=FindingVerdict.OK)
