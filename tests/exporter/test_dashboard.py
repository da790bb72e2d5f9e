"""The dashboard of the exporter: its queries ask for metrics and labels that there are."""

import json
import re

import pytest

from tests.support.exporter.metric_names import served_families
from tests.support.exporter.watches import collector
from tests.support.paths import DOCS

DASHBOARD = json.loads((DOCS / "service" / "grafana-dashboard-quorum.json").read_text())
TARGETS = [target for panel in DASHBOARD["panels"] for target in panel["targets"]]
VARIABLES = [entry for entry in DASHBOARD["templating"]["list"] if entry["type"] == "query"]
QUERIES = [
    *(target["expr"] for target in TARGETS),
    *(variable["query"]["query"] for variable in VARIABLES),
]
OF_PROMETHEUS = {"instance", "job"}
"""Labels that Prometheus adds to what it scrapes."""


def kept_labels(query: str) -> set[str]:
    """Return the labels that a query groups by."""
    return {label for by in re.findall(r"by \(([^)]+)\)", query) for label in by.split(", ")}


def test_the_dashboard_shows_every_metric() -> None:
    asked = {name for target in TARGETS for name in re.findall(r"kafka_\w+", target["expr"])}
    assert asked == set(served_families(collector()))


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_asks_for_a_metric_and_labels_that_there_are(query: str) -> None:
    (name,) = re.findall(r"kafka_\w+", query)
    labels = {*served_families(collector())[name], *OF_PROMETHEUS}
    asked = set(re.findall(r"(\w+)=~", query)) | kept_labels(query)
    asked |= set(re.findall(r"label_values\(.*, (\w+)\)", query))
    assert asked <= labels
    assert query.count("(") == query.count(")")
    assert set(re.findall(r'"\$(\w+)"', query)) <= {variable["name"] for variable in VARIABLES}


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target["expr"])
def test_a_legend_names_labels_that_its_query_keeps(target: dict[str, str]) -> None:
    named = set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
    assert named <= kept_labels(target["expr"])


def test_panels_do_not_lie_on_each_other() -> None:
    positions = [tuple(panel["gridPos"].values()) for panel in DASHBOARD["panels"]]
    assert len(positions) == len(set(positions))
    assert [panel["id"] for panel in DASHBOARD["panels"]] == [*range(1, len(positions) + 1)]
