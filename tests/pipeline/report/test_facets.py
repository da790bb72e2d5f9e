"""Each cluster has sections of its own: no sum of a page is over two of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from selenium.webdriver import Chrome
from selenium.webdriver.support.ui import WebDriverWait

from kwire.pipeline.analyses.period import AnalysedPeriod
from kwire.pipeline.report import render, sections
from kwire.pipeline.report.client_to_node import client_to_node_section
from kwire.pipeline.report.facets import MOST, facets
from kwire.pipeline.report.nights import Night
from kwire.pipeline.report.section import Section
from kwire.pipeline.schemas import TABLES
from tests.support.browser import chromium
from tests.support.pipeline.analyses.table_rows import rows, second, stretch

__all__ = ["chromium"]

WHOLE = {name: " ".join(TABLES[name].names) for name in TABLES}

DRAWN = "return document.querySelectorAll('figure .main-svg').length >= 4"
CUT = (
    "return [...document.querySelectorAll('figure')]"
    ".filter(one => one.scrollWidth > one.clientWidth + 1)"
    ".map(one => [one.scrollWidth, one.clientWidth, one.ariaLabel])"
)
"""Figures of which a reader sees a part only, and would have to scroll."""


def tables_of(spark: SparkSession, *clusters: str | None) -> dict[str, DataFrame]:
    """Calls of one client at one node, so many as the place of its cluster, from 1 on."""
    calls: list[dict[str, Any]] = []
    sources: list[dict[str, Any]] = []
    for number, cluster in enumerate(clusters, start=1):
        of = {"cluster_id": cluster, "capture": f"{cluster}"}
        sources.append(stretch(f"{cluster}", 0, 9) | of | {"rows": 100 - number})
        call = {"node_id": 1, "client_id": "till", "api": "Vote", "api_key": 52, "api_version": 2}
        call |= {"outcome": "ANSWERED", "latency_ms": 5.0, "request_size": 8, "response_size": 9}
        call |= {"date": second(0).date(), "hour": 3}
        calls += [of | call | {"at": second(event), "event": event} for event in range(number)]
    found = {"calls": calls, "sources": sources}
    return {name: rows(spark, name, *found[name], columns=WHOLE[name]) for name in found}


@pytest.mark.parametrize(
    ("clusters", "before", "titles", "sentence"),
    [
        ((), None, [""], ""),
        (("x",), None, [""], "All of it is of cluster x."),
        (("x",), ("y",), [""], "After: cluster x. Before: cluster y."),
        (("x",), ("x",), [""], "All of it is of cluster x."),
        (("x", None), None, ["cluster x", "a cluster that nothing names"], "One of 2 clusters"),
        (("x",), ("y", "x"), ["cluster x", "cluster y"], "One of 2 clusters"),
    ],
)
def test_a_cluster_is_a_facet(
    spark: SparkSession,
    clusters: tuple[str | None, ...],
    before: tuple[str, ...] | None,
    titles: list[str],
    sentence: str,
) -> None:
    earlier = None if before is None else tables_of(spark, *before)
    found, left_out = facets(tables_of(spark, *clusters), earlier)
    assert ([one.title for one in found], left_out) == (titles, [])
    assert found[0].sentence.startswith(sentence)
    if len(found) > 1:
        sizes = [one.tables["calls"].count() for one in found]
        assert sizes == [1, 2 if len(clusters) > 1 else 0]


def test_those_with_fewest_rows_are_left_out_by_name(spark: SparkSession) -> None:
    found, left_out = facets(tables_of(spark, *map(str, range(MOST + 2))))
    assert [one.title for one in found] == [f"cluster {number}" for number in range(MOST)]
    assert left_out == ["8", "9"]


def some_sections(night: Night, on_step: Callable[[str], None]) -> list[Section]:
    """Two of the sections: all of them take minutes for two clusters."""
    on_step("drawing summary")
    calls = night.tables["calls"]
    summary = Section(topic="Summary", finding=f"{calls.count()} calls")
    return [summary, client_to_node_section(calls)]


def test_the_page_names_clusters_and_adds_nothing_up(
    spark: SparkSession, chromium: Chrome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kwire.pipeline.report.page._of_one", some_sections)
    told: list[str] = []
    made = sections(spark, tables_of(spark, "x", "y"), told.append)
    by_cluster = {
        name: [one for one in made if one.cluster == f"cluster {name}"] for name in ("x", "y")
    }
    assert len({one.anchor for one in made}) == len(made) == 2 * len(by_cluster["x"])
    for calls, name in enumerate(("x", "y"), start=1):
        (matrix,) = (one for one in by_cluster[name] if one.topic == "Clients and nodes")
        assert matrix.finding.endswith(f"most calls: till to node 1 ({calls})")
        assert by_cluster[name][0].finding.startswith(f"{calls} call")
    assert told[0] == "drawing summary, cluster x"
    page = tmp_path / "report.html"
    page.write_text(render(made, "Two clusters"))
    chromium.set_window_size(500, 900)
    chromium.get(page.as_uri())
    WebDriverWait(chromium, 90).until(lambda _: chromium.execute_script(DRAWN))
    assert chromium.execute_script(CUT) == []
    for width in (1400, 650, 320):
        chromium.set_window_size(width, 900)  # plotly draws anew
        WebDriverWait(chromium, 90).until(lambda _: chromium.execute_script(CUT) == [])
    links = [one.text for one in chromium.find_elements("css selector", "nav a")]
    assert links == ["cluster x", "cluster y"]


def test_a_period_has_its_rows_and_the_names_of_all_time(spark: SparkSession) -> None:
    tables = tables_of(spark, "x", "y")
    inside = AnalysedPeriod(second(1), second(5)).of(tables)
    assert inside["calls"].count() == 1
    clipped = inside["sources"].select("begin", "end").distinct().collect()
    assert [tuple(at.timestamp() for at in row) for row in clipped] == [
        (second(1).timestamp(), second(5).timestamp())
    ]
    assert AnalysedPeriod(second(9.5)).of(tables)["sources"].count() == 0
    assert AnalysedPeriod(end=second(0)).of(tables)["sources"].count() == 0
    assert AnalysedPeriod().of(tables)["calls"] is tables["calls"]
