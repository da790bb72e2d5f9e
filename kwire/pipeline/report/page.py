"""The page: sections in their order, in one file that loads nothing from anywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from jinja2 import Environment, PackageLoader
from plotly.offline import get_plotlyjs
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from kwire.pipeline.analyses.clusters import CLUSTER
from kwire.pipeline.analyses.period import ALWAYS, AnalysedPeriod
from kwire.pipeline.report.client_to_node import client_to_node_section
from kwire.pipeline.report.controller_load import controller_load_section
from kwire.pipeline.report.differences import difference_sections
from kwire.pipeline.report.errors import errors_section
from kwire.pipeline.report.facets import Facet, facets, name_of
from kwire.pipeline.report.heartbeats import heartbeats_section
from kwire.pipeline.report.isr import isr_section
from kwire.pipeline.report.latencies import latencies_section
from kwire.pipeline.report.nights import Night
from kwire.pipeline.report.quorum import quorum_section
from kwire.pipeline.report.rebalances import rebalances_section
from kwire.pipeline.report.section import Section
from kwire.pipeline.report.span import ReportSpan
from kwire.pipeline.report.style import IN_THE_DARK, duration, many, settle
from kwire.pipeline.report.throughput import throughput_section
from kwire.pipeline.report.topic_bytes import topic_bytes_section
from kwire.pipeline.report.transactions import transactions_section
from kwire.pipeline.report.verdicts import verdicts_section
from kwire.pipeline.report.versions import versions_section
from kwire.pipeline.schemas import TABLES
from kwire.pipeline.spark_columns import spark_schema

GAPS = 3
"""Gaps of the recording that the summary names at most."""

CONFIG = {"responsive": True, "displaylogo": False, "displayModeBar": False, "scrollZoom": False}


def sections(
    spark: SparkSession,
    opened: dict[str, DataFrame],
    on_step: Callable[[str], None],
    before: dict[str, DataFrame] | None = None,
    period: AnalysedPeriod = ALWAYS,
) -> list[Section]:
    """Return all sections, of each cluster its own; one without its tables says so.

    on_step: called with a sentence for each section. before: tables of an earlier night; with them
    the sections hold what has changed since. period: of both.
    """
    tables = _whole(spark, opened)
    earlier = None if before is None else _whole(spark, before)
    parts, left_out = facets(tables, earlier)
    made: list[Section] = []
    for part in parts:
        step = partial(_step, on_step, part)
        found = (
            _of_one(Night.of(part.tables, period), step)
            if part.before is None
            else difference_sections(
                Night.of(part.before, period), Night.of(part.tables, period), step
            )
        )
        found[0] = replace(found[0], reading=f"{found[0].reading} {part.sentence}".strip())
        made += [replace(section, cluster=part.title) for section in found]
    if left_out:
        made.append(Section(topic="Other clusters", finding=_left_out(left_out)))
    return made


def _step(on_step: Callable[[str], None], part: Facet, step: str) -> None:
    on_step(f"{step}, {part.title}" if part.title else step)


def _left_out(clusters: Sequence[str | None]) -> str:
    names = ", ".join(map(name_of, clusters))
    return f"Left out, with fewer rows than those before: {names}"


def _of_one(night: Night, on_step: Callable[[str], None]) -> list[Section]:
    """Return the sections of the tables of one cluster."""
    tables, span = night.tables, night.span
    calls, messages, frames = tables["calls"], tables["messages"], tables["frames"]
    sources = tables["sources"]
    makers: dict[str, Callable[[], Section]] = {
        "summary": lambda: _summary(calls, frames, span),
        "quorum": lambda: quorum_section(tables["quorum"], sources),
        "throughput": lambda: throughput_section(calls, span),
        "topics": lambda: topic_bytes_section(calls, *night.lookups),
        "clients and nodes": lambda: client_to_node_section(calls),
        "latency": lambda: latencies_section(calls, span),
        "errors": lambda: errors_section(calls, span),
        "versions": lambda: versions_section(calls, tables["records"]),
        "controller load": lambda: controller_load_section(calls, span),
        "in-sync replicas": lambda: isr_section(tables["partitions"], messages),
        "rebalances": lambda: rebalances_section(messages, span),
        "transactions": lambda: transactions_section(messages, span),
        "heartbeats": lambda: heartbeats_section(messages, sources, span),
        "verdicts": lambda: verdicts_section(tables["verdicts"]),
    }
    made = []
    for name, make in makers.items():
        on_step(f"drawing {name}")
        made.append(make())
    return made


def _whole(spark: SparkSession, opened: dict[str, DataFrame]) -> dict[str, DataFrame]:
    """Return all tables; those that are not there are empty."""
    unknown = f.lit(None).cast("string")
    return {
        # limit: tells the planner that there are no rows, which leaves out most of the queries.
        name: opened.get(
            name,
            spark.createDataFrame([], spark_schema(schema)).limit(0).withColumn(CLUSTER, unknown),
        )
        for name, schema in TABLES.items()
    }


def _summary(calls: DataFrame, frames: DataFrame, span: ReportSpan | None) -> Section:
    if span is None:
        return Section(topic="Summary", finding="No calls: these tables come from logs alone.")
    row = calls.agg(
        f.count(f.lit(1)).alias("calls"),
        f.count_distinct("client_id").alias("clients"),
        f.count_distinct("node_id").alias("nodes"),
    ).collect()[0]
    odd = frames.where("status in ('UNDECODABLE', 'CUT')").count()
    decoded = f"; {many(odd, 'frame')} could not be decoded" if odd else "; every frame decodes"
    return Section(
        topic="Summary",
        finding=f"{many(row.calls, 'call')} of {many(row.clients, 'client')} to"
        f" {many(row.nodes, 'node')}{decoded}",
        reading=f"Recorded from {span.begin:%d %B %Y %H:%M:%S} to"
        f" {span.end:%d %B %Y %H:%M:%S} UTC{_but(span)}.",
    )


def _but(span: ReportSpan) -> str:
    """Name the longest gaps of the recording."""
    gaps = sorted(span.unrecorded, key=lambda gap: -gap.milliseconds)
    if not gaps:
        return ""
    spent = duration(sum(gap.milliseconds for gap in gaps))
    times = [f"{gap.begin:%d %B %H:%M:%S} to {gap.end:%d %B %H:%M:%S}" for gap in gaps[:GAPS]]
    rest = f" and {many(len(gaps) - GAPS, 'shorter one')}" if len(gaps) > GAPS else ""
    return f", but for {spent} in {many(len(gaps), 'gap')}: {', '.join(times)}{rest}"


def render(made: Sequence[Section], title: str) -> str:
    """Return the page as HTML; text that came over the wire is escaped."""
    environment = Environment(loader=PackageLoader("kwire.pipeline.report", "."), autoescape=True)
    environment.filters["drawn"] = _drawn
    page = environment.get_template("page.html")
    return page.render(title=title, sections=made, plotly=get_plotlyjs(), dark=_dark())


def _dark() -> dict[str, str]:
    """Return the colours that a dark page replaces, as browsers write them, by their successors."""
    return {
        f"rgb({', '.join(str(int(light[at : at + 2], 16)) for at in (1, 3, 5))})": dark
        for light, dark in IN_THE_DARK.items()
    }


def _drawn(figure: Any) -> str:
    return str(settle(figure).to_html(full_html=False, include_plotlyjs=False, config=CONFIG))
