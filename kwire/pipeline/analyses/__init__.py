"""Analyses, each a transformation of one table, some with the help of others.

Each keeps clusters apart: the first column of its rows is `cluster_id`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame

from kwire.pipeline.analyses.alter_partitions import alter_partitions
from kwire.pipeline.analyses.client_to_node import client_to_node
from kwire.pipeline.analyses.comparison import comparison
from kwire.pipeline.analyses.controller_load import controller_load
from kwire.pipeline.analyses.elections import elections
from kwire.pipeline.analyses.errors import errors
from kwire.pipeline.analyses.heartbeats import heartbeats
from kwire.pipeline.analyses.isr import isr_churn
from kwire.pipeline.analyses.latencies import LEAST_CALLS, latencies
from kwire.pipeline.analyses.period import ALWAYS, AnalysedPeriod
from kwire.pipeline.analyses.rebalances import rebalances
from kwire.pipeline.analyses.throughput import throughput
from kwire.pipeline.analyses.topic_bytes import topic_bytes
from kwire.pipeline.analyses.transactions import transactions
from kwire.pipeline.analyses.verdicts import checks
from kwire.pipeline.analyses.versions import features, versions
from kwire.pipeline.analyses.voter_changes import voter_changes


@dataclass(frozen=True, slots=True)
class Analysis:
    """An analysis. table: the one that it reads. make: gives its rows, in order.

    purpose: a line of help. others: tables that `make` takes as well, None for a missing one.
    lookups: others still, for names alone, so that they are needed whole.
    """

    table: str
    make: Callable[..., DataFrame]
    purpose: str
    others: tuple[str, ...] = ()
    lookups: tuple[str, ...] = ()

    def rows(self, tables: Mapping[str, DataFrame], period: AnalysedPeriod = ALWAYS) -> DataFrame:
        """Return the rows, of tables by name, among them its own; of a period."""
        inside = period.of(tables)
        others = [inside.get(name) for name in self.others]
        return self.make(inside[self.table], *others, *(tables.get(name) for name in self.lookups))


ANALYSES = {
    "latencies": Analysis(
        "calls",
        latencies,
        f"how long calls took, long polls apart; behind: those of fewer than {LEAST_CALLS} calls",
    ),
    "errors": Analysis("calls", errors, "which calls failed, how often, and how"),
    "versions": Analysis(
        "calls", versions, "versions that clients use, and those that block Kafka 4"
    ),
    "features": Analysis("records", features, "levels that features were set to"),
    "elections": Analysis(
        "quorum",
        elections,
        "leaders and candidates, and the time without a leader",
        others=("sources",),
    ),
    "voter-changes": Analysis("quorum", voter_changes, "from the request to the commit"),
    "isr": Analysis("partitions", isr_churn, "how restless in-sync replicas were"),
    "alter-partitions": Analysis("messages", alter_partitions, "what became of ISR changes"),
    "controller-load": Analysis("calls", controller_load, "what controllers are busy with"),
    "heartbeats": Analysis(
        "messages", heartbeats, "how near brokers came to being fenced", others=("sources",)
    ),
    "throughput": Analysis("calls", throughput, "calls and bytes by API and client"),
    "topic-bytes": Analysis(
        "calls",
        topic_bytes,
        "record batches by topic and client, in and out",
        lookups=("messages", "partitions"),
    ),
    "client-to-node": Analysis("calls", client_to_node, "which clients talk to which nodes"),
    "rebalances": Analysis("messages", rebalances, "how restless groups were, and why"),
    "transactions": Analysis("messages", transactions, "what became of them, by transactional id"),
    "checks": Analysis("verdicts", checks, "what was checked, and what does not hold"),
}
"""Each by the name that `kwire pipeline analyse` takes."""

__all__ = ["ANALYSES", "AnalysedPeriod", "Analysis", "comparison"]
