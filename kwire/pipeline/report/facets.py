"""The facets of a report: the clusters in its tables, each of which has all sections of its own.

Node ids, client ids and topics of two clusters are not the same: a sum over both says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from kwire.pipeline.analyses.clusters import CLUSTER, of_cluster

MOST = 8
"""Clusters that a report has at most, those with most rows."""


@dataclass(frozen=True, slots=True)
class Facet:
    """The tables of one cluster. title: its name; empty if it is the only one of the report.

    sentence: the same in any case, for the reader. before: its tables of an earlier night.
    """

    title: str
    sentence: str
    tables: dict[str, DataFrame]
    before: dict[str, DataFrame] | None = None


def facets(
    tables: dict[str, DataFrame], before: dict[str, DataFrame] | None = None
) -> tuple[list[Facet], list[str | None]]:
    """Return a facet for each cluster, and the clusters that are left out.

    A cluster is compared with itself. If each night has one cluster only, these two are compared.
    """
    ours = clusters_in(tables)
    theirs = [] if before is None else clusters_in(before)
    if len(ours) <= 1 and len(theirs) <= 1:
        names = [name_of(cluster) for cluster in dict.fromkeys((*ours, *theirs))]
        sentence = f"All of it is of {names[0]}." if names else ""
        if len(names) > 1:
            sentence = f"After: {names[0]}. Before: {names[1]}."
        return [Facet("", sentence, tables, before)], []
    order = list(dict.fromkeys((*ours, *theirs)))
    found = [
        Facet(
            name_of(cluster),
            f"One of {len(order)} clusters in these tables.",
            _only(tables, cluster),
            None if before is None else _only(before, cluster),
        )
        for cluster in order[:MOST]
    ]
    return found, order[MOST:]


def clusters_in(tables: Mapping[str, DataFrame]) -> list[str | None]:
    """Return the clusters of all recordings and logs, those with most rows first."""
    sources = tables["sources"].where("kind in ('CAPTURE', 'LOG')")
    counted = sources.groupBy(CLUSTER).agg(f.sum("rows").alias("rows"))
    return [row[CLUSTER] for row in counted.orderBy(f.desc("rows"), CLUSTER).collect()]


def name_of(cluster: str | None) -> str:
    """Return the name of a cluster for people."""
    return "a cluster that nothing names" if cluster is None else f"cluster {cluster}"


def _only(tables: Mapping[str, DataFrame], cluster: str | None) -> dict[str, DataFrame]:
    return {name: of_cluster(table, cluster) for name, table in tables.items()}
