"""The dashboard of the exporter: its queries ask for metrics and labels that there are."""

import json
import re
from importlib.resources import files
from typing import Any

import pytest

from tests.support.exporter.metric_names import served_families
from tests.support.exporter.watches import collector

OF_PROMETHEUS = {"instance", "job"}
"""Labels that Prometheus adds to what it scrapes."""


@pytest.fixture(scope="module")
def dashboard() -> Any:
    return json.loads((files("kwire.exporter") / "grafana-dashboard.json").read_text())


def targets_of(dashboard: Any) -> list[dict[str, str]]:
    """Return what the panels ask."""
    return [target for panel in dashboard["panels"] for target in panel["targets"]]


def kept_labels(query: str) -> set[str]:
    """Return the labels that a query groups by."""
    return {label for by in re.findall(r"by \(([^)]+)\)", query) for label in by.split(", ")}


def test_the_dashboard_shows_every_metric(dashboard: Any) -> None:
    targets = targets_of(dashboard)
    asked = {name for target in targets for name in re.findall(r"kafka_\w+", target["expr"])}
    assert asked == set(served_families(collector()))


def test_a_query_asks_for_a_metric_and_labels_that_there_are(
    dashboard: Any, subtests: pytest.Subtests
) -> None:
    families = served_families(collector())
    variables = [entry for entry in dashboard["templating"]["list"] if entry["type"] == "query"]
    names = {variable["name"] for variable in variables}
    queries = [target["expr"] for target in targets_of(dashboard)]
    for query in [*queries, *(variable["query"]["query"] for variable in variables)]:
        with subtests.test(query):
            (name,) = re.findall(r"kafka_\w+", query)
            asked = set(re.findall(r"(\w+)=~", query)) | kept_labels(query)
            asked |= set(re.findall(r"label_values\(.*, (\w+)\)", query))
            assert asked <= {*families[name], *OF_PROMETHEUS}
            assert query.count("(") == query.count(")")
            assert set(re.findall(r'"\$(\w+)"', query)) <= names


def test_a_legend_names_labels_that_its_query_keeps(dashboard: Any) -> None:
    assert not [
        target
        for target in targets_of(dashboard)
        if set(re.findall(r"{{(\w+)}}", target["legendFormat"])) - kept_labels(target["expr"])
    ]


def test_panels_do_not_lie_on_each_other(dashboard: Any) -> None:
    positions = [tuple(panel["gridPos"].values()) for panel in dashboard["panels"]]
    assert len(positions) == len(set(positions))
    assert [panel["id"] for panel in dashboard["panels"]] == [*range(1, len(positions) + 1)]
