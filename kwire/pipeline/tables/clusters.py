"""The cluster of a recording: the one that its frames name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from kwire.capture import RESPONSE

NamedClusters = Counter[tuple[str, str, bool]]
"""Frames by recording, the cluster that they name, and whether they are responses."""


def named_clusters(decoded: pa.RecordBatch) -> dict[tuple[str, str, bool], int]:
    """Count the clusters that rows of DECODED name; see NamedClusters."""
    columns = decoded.select(["capture", "named_cluster", "kind"])
    named = columns.filter(pc.is_valid(columns["named_cluster"]))
    if not named.num_rows:
        return {}
    answered = pc.equal(named["kind"], RESPONSE)
    rows = pa.table([named["capture"], named["named_cluster"], answered], ["c", "n", "r"])
    counted = rows.group_by(["c", "n", "r"]).aggregate([([], "count_all")]).to_pylist()
    return {(row["c"], row["n"], row["r"]): row["count_all"] for row in counted}


def clusters_of(named: Iterable[tuple[str, str, bool, int]]) -> dict[str, str]:
    """Return the cluster of each recording: the one that its nodes name most often.

    What requests name counts where no response names one: a client may be mistaken. named: what
    NamedClusters counts, with the count.
    """
    votes: dict[str, Counter[tuple[bool, str]]] = {}
    for capture, cluster, answered, count in named:
        votes.setdefault(capture, Counter())[answered, cluster] += count
    return {
        capture: max(found, key=lambda one: (one[0], found[one], one[1]))[1]
        for capture, found in votes.items()
    }
