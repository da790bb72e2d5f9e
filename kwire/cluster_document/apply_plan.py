"""Plans how a cluster becomes as a document says: ordered steps out of the differences.

Nothing is taken away: what the cluster has and the document has not is not managed, and is left
alone. Steps depend on each other in their order only, and a step whose differences are gone is
none: a plan that was carried out in part is resumed by making it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import Any

from kwire.cluster_document.apply_step import ORDER, ApplyStep, NotApplied, Planned
from kwire.cluster_document.comparison import Change, Difference, compare
from kwire.cluster_document.document import ClusterDocument, DocumentSection
from kwire.cluster_document.entry_steps import (
    acl_steps,
    credential_steps,
    feature_steps,
    quota_steps,
    resource_steps,
)
from kwire.cluster_document.topic_steps import topic_steps


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyPlan:
    """The steps in their order, and the differences that remain with their reasons.

    not_managed: the entries and keys by section that the cluster has and the document has not.
    not_compared: what both have, and the cluster does not show; it is left as it is. sections:
    those that the document has.
    """

    steps: tuple[ApplyStep, ...]
    not_applied: tuple[NotApplied, ...]
    not_managed: Mapping[str, int]
    not_compared: tuple[str, ...]
    sections: tuple[DocumentSection, ...]

    @property
    def differs(self) -> bool:
        """True if the cluster does not have all of the document."""
        return bool(self.steps or self.not_applied)


def plan_application(
    cluster: ClusterDocument,
    document: ClusterDocument,
    only: Collection[DocumentSection] = (),
    *,
    set_features: bool = False,
) -> ApplyPlan:
    """Return the plan that gives a cluster what a document has.

    cluster: what it has now, with replicas if the document has some. only: the sections to look at;
    none stands for all. set_features: raise levels of features, too.
    """
    comparison = compare(cluster, document, only, ignore_ids=True)
    planned: list[Planned] = []
    not_managed: Counter[str] = Counter()
    entries = {section: _entries(document, section) for section in comparison.compared}
    for (section, name), group in groupby(comparison.differences, lambda d: (d.section, d.name)):
        managed = []
        for difference in group:
            if difference.change is not Change.REMOVED:
                managed.append(difference)
            elif not difference.field.startswith("assignments."):  # those of partitions too many
                not_managed[f"keys of {section}" if difference.field else section.value] += 1
        if managed:
            planned += _steps(section, entries[section][name], managed, set_features)
    steps = [step for step in planned if isinstance(step, ApplyStep)]
    return ApplyPlan(
        steps=tuple(sorted(steps, key=lambda step: ORDER.index(step.operation))),
        not_applied=tuple(rest for rest in planned if isinstance(rest, NotApplied)),
        not_managed=not_managed,
        not_compared=tuple(
            unseen
            for section in comparison.compared
            for unseen in _not_compared(section, _entries(cluster, section), entries[section])
        ),
        sections=comparison.compared,
    )


def _entries(document: ClusterDocument, section: DocumentSection) -> Mapping[str, Any]:
    """Return what a document says of each thing in a section, by its title."""
    if section is DocumentSection.FEATURES:
        return document.features or {}
    return {entry.title: entry for entry in document.section(section) or ()}


def _not_compared(
    section: DocumentSection, current: Mapping[str, Any], wanted: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what a document has of the entries of a section, and the cluster does not show."""
    for title in sorted(current.keys() & wanted.keys()):
        now, then = current[title], wanted[title]
        if section is DocumentSection.SCRAM:
            if then.fingerprint and not now.fingerprint and now.iterations == then.iterations:
                yield f"{section} {title} saltedPassword"
        elif section in (DocumentSection.TOPICS, DocumentSection.CONFIGS):
            for key, value in sorted((then.configs or {}).items()):
                if value is not None and (now.configs or {}).get(key, "") is None:
                    yield f"{section} {title} {key}"


def _steps(
    section: DocumentSection, entry: Any, differences: list[Difference], set_features: bool
) -> Iterator[Planned]:
    if section is DocumentSection.FEATURES:
        return feature_steps(entry, differences, allowed=set_features)
    return _STEPS[section](entry, differences)


_STEPS: Mapping[DocumentSection, Callable[[Any, list[Difference]], Iterator[Planned]]] = (
    MappingProxyType(
        {
            DocumentSection.TOPICS: topic_steps,
            DocumentSection.CONFIGS: resource_steps,
            DocumentSection.QUOTAS: quota_steps,
            DocumentSection.SCRAM: credential_steps,
            DocumentSection.ACLS: acl_steps,
        }
    )
)
