"""The page that `kwire pipeline report` writes, looked at in a real browser."""

from pathlib import Path

import plotly.graph_objects as go
from pyspark.sql import SparkSession
from selenium.webdriver import Chrome
from selenium.webdriver.support.ui import WebDriverWait

from kwire.pipeline.report import render, sections
from kwire.pipeline.report.quorum_timeline import QuorumTimeline
from kwire.pipeline.report.section import Grid, Section
from kwire.pipeline.report.style import duration, figure, label
from tests.support.browser import chromium
from tests.support.cli.command import Command
from tests.support.pipeline.recorded_history import History
from tests.support.pipeline.tables import Tables

__all__ = ["chromium"]

TOPICS = [
    *("Summary", "Metadata quorum", "Throughput", "Topics", "Clients and nodes", "Latency"),
    *("Errors", "Versions", "Controller load", "In-sync replicas", "Rebalances", "Transactions"),
    *("Heartbeats", "Verdicts"),
]
EVIL = "<script>window.evil = 1</script><img src=x onerror='window.evil = 2'>"


WIDTH = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
"""Pixels that a reader would have to scroll sideways."""


def until(chromium: Chrome, holds: str) -> None:
    """Wait for an expression of JavaScript to hold."""
    WebDriverWait(chromium, 90).until(lambda _: chromium.execute_script(f"return {holds}"), holds)


def look(chromium: Chrome, page: Path, plots: int) -> None:
    """Open a page, and wait for its plots; nothing may be wrong on the console."""
    chromium.get(page.as_uri())
    until(chromium, f"document.querySelectorAll('figure .main-svg .subplot').length >= {plots}")
    assert chromium.get_log("browser") == []  # type: ignore[no-untyped-call]


def count(chromium: Chrome, selector: str) -> int:
    return len(chromium.find_elements("css selector", selector))


def test_a_browser_shows_the_night(
    kwire: Command,
    tables: Tables,
    timeline: QuorumTimeline,
    history: History,
    chromium: Chrome,
    tmp_path: Path,
) -> None:
    page = tmp_path / "report.html"
    done = kwire("pipeline", "report", str(tables.folder), "-o", str(page), "--title", "The night")
    assert done.code == 0, done.err
    look(chromium, page, plots=10)
    text = chromium.find_element("tag name", "body").text
    assert [topic for topic in TOPICS if topic.upper() in text] == TOPICS
    longest = max(timeline.gaps, key=lambda gap: gap.milliseconds)
    assert (
        f"node {longest.next_epoch.leader_id} took over after {duration(longest.milliseconds)}"
        in text
    )
    # A label that does not fit into its bar is left out.
    eighth = (timeline.end - timeline.begin) / 8
    wide = [term for term in timeline.epochs if term.end - max(term.begin, timeline.begin) > eighth]
    assert wide
    assert {f"epoch {term.epoch}" for term in wide} <= set(text.splitlines())
    for part in ("no leader", f"node {history.leaders[0]}", "node 3003", "Everything holds"):
        assert part in text
    assert "No transaction in these tables" in text
    quorum = "#metadata-quorum"
    assert count(chromium, f"{quorum} .barlayer .trace:last-child .point") == len(timeline.epochs)
    assert count(chromium, f"{quorum} .shapelayer path") == len(timeline.gaps)
    assert count(chromium, f"{quorum} .scatterlayer .points path") >= len(timeline.votes) + 2
    assert count(chromium, "#latency .heatmaplayer image") == 2
    assert count(chromium, "#controller-load .heatmaplayer image") >= 2
    assert count(chromium, "#in-sync-replicas .barlayer .point") >= 12
    assert count(chromium, "#heartbeats .scatterlayer .points path") > 10
    for width in (1500, 900):
        chromium.set_window_size(width, 900)
        until(chromium, f"{WIDTH} === 0")  # plotly draws anew for the new width


def test_a_page_of_empty_tables_says_so(spark: SparkSession) -> None:
    told: list[str] = []
    made = sections(spark, {}, told.append)
    assert [one.topic for one in made] == TOPICS
    assert not any(one.figures or one.grids for one in made)
    assert "No two heartbeats of a broker in these tables." in render(made, "Nothing")
    assert told[0] == "drawing summary"


def test_names_from_the_wire_stay_text(chromium: Chrome, tmp_path: Path) -> None:
    bars = go.Bar(x=[1], y=[label(EVIL, 100)], orientation="h", name=label(EVIL, 100))
    drawn = figure([bars], height=200, legend=True)
    section = Section(
        topic="Names",
        finding=EVIL,
        figures=[drawn],
        grids=[Grid(EVIL, [EVIL], [[EVIL]])],
    )
    page = tmp_path / "report.html"
    page.write_text(render([section], EVIL))
    look(chromium, page, plots=1)
    assert chromium.execute_script("return window.evil") is None
    assert chromium.find_element("tag name", "h2").text == EVIL
    assert EVIL in chromium.find_element("css selector", "figure").text
