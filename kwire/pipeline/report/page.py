"""The page: sections in their order, in one file that loads nothing from anywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jinja2 import Environment, PackageLoader
from plotly.offline import get_plotlyjs
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from kwire.pipeline.report.controller_load import controller_load_section
from kwire.pipeline.report.errors import errors_section
from kwire.pipeline.report.heartbeats import heartbeats_section
from kwire.pipeline.report.isr import isr_section
from kwire.pipeline.report.latencies import latencies_section
from kwire.pipeline.report.quorum import quorum_section
from kwire.pipeline.report.section import Section
from kwire.pipeline.report.span import ReportSpan, span_of, unrecorded
from kwire.pipeline.report.style import duration, many
from kwire.pipeline.report.verdicts import verdicts_section
from kwire.pipeline.report.versions import versions_section
from kwire.pipeline.schemas import TABLES

GAPS = 3
"""Gaps of the recording that the summary names at most."""

CONFIG = {"responsive": True, "displaylogo": False, "displayModeBar": False, "scrollZoom": False}


def sections(
    spark: SparkSession, opened: dict[str, DataFrame], on_step: Callable[[str], None]
) -> list[Section]:
    """Return all sections; one without its tables says that it has nothing to show.

    on_step: called with a sentence for each section.
    """
    tables = {
        name: opened.get(name, spark.createDataFrame([], schema)) for name, schema in TABLES.items()
    }
    calls, messages, frames = tables["calls"], tables["messages"], tables["frames"]
    span = span_of(calls, unrecorded(frames))
    makers: dict[str, Callable[[], Section]] = {
        "summary": lambda: _summary(calls, frames, span),
        "quorum": lambda: quorum_section(tables["quorum"], frames),
        "latency": lambda: latencies_section(calls, span),
        "errors": lambda: errors_section(calls, span),
        "versions": lambda: versions_section(calls, tables["records"]),
        "controller load": lambda: controller_load_section(calls, span),
        "in-sync replicas": lambda: isr_section(tables["partitions"], messages),
        "heartbeats": lambda: heartbeats_section(messages, frames, span),
        "verdicts": lambda: verdicts_section(tables["verdicts"]),
    }
    made = []
    for name, make in makers.items():
        on_step(f"drawing {name}")
        made.append(make())
    return made


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
    return page.render(title=title, sections=made, plotly=get_plotlyjs())


def _drawn(figure: Any) -> str:
    return str(figure.to_html(full_html=False, include_plotlyjs=False, config=CONFIG))
