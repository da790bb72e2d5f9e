"""The files of docs/service, and the dashboard: queries, keys, paths and ports are the proxy's."""

import json
import re
from configparser import ConfigParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from kwire.net.address import is_loopback
from kwire.proxy import Proxy, Tap
from kwire.proxy.service.config import read_config
from kwire.proxy.service.metrics import Metrics
from kwire.proxy.service.metrics_families import MeteredProxy, ProxyCollector
from tests.support.paths import DOCS

FOLDER = DOCS / "service"
CONTAINER = "Containerfile"

SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}


@pytest.fixture(scope="module")
def dashboard() -> Any:
    return json.loads((files("kwire.proxy.service") / "grafana-dashboard.json").read_text())


def targets_of(dashboard: Any) -> list[dict[str, str]]:
    """Return what the panels ask."""
    return [target for panel in dashboard["panels"] for target in panel["targets"]]


def kept_labels(query: str) -> set[str]:
    """Return the labels that a query groups by."""
    return {label for by in re.findall(r"by \(([^)]+)\)", query) for label in by.split(", ")}


def labels_of() -> dict[str, set[str]]:
    """The labels of every sample that the proxy can serve, by the sample's name."""
    metrics = Metrics()
    metered = MeteredProxy(metrics=metrics, proxy=Proxy(), tap=Tap(metrics.see))
    return {
        family.name + suffix: {
            *vars(family)["_labelnames"],
            *({"le"} if suffix == "_bucket" else set()),
        }
        for family in ProxyCollector(lambda: [metered]).collect()
        for suffix in SUFFIXES[family.type]
    }


def test_the_dashboard_has_a_panel_for_every_metric(dashboard: Any) -> None:
    queries = [target["expr"] for target in targets_of(dashboard)]
    asked = {name for query in queries for name in re.findall(r"kwire_proxy_\w+", query)}
    served = {re.sub(r"_(bucket|sum|count)$", "", name) for name in labels_of()}
    assert {re.sub(r"_bucket$", "", name) for name in asked} == served


def test_a_query_asks_for_a_metric_and_labels_that_there_are(
    dashboard: Any, subtests: pytest.Subtests
) -> None:
    labels = labels_of()
    variables = [entry for entry in dashboard["templating"]["list"] if entry["type"] == "query"]
    names = {variable["name"] for variable in variables}
    queries = [target["expr"] for target in targets_of(dashboard)]
    for query in [*queries, *(variable["query"]["query"] for variable in variables)]:
        with subtests.test(query):
            (name,) = re.findall(r"kwire_proxy_\w+", query)
            asked = set(re.findall(r"(\w+)=~", query)) | kept_labels(query)
            asked |= set(re.findall(r"label_values\(.*, (\w+)\)", query))
            assert asked <= labels[name]
            assert query.count("(") == query.count(")")
            assert set(re.findall(r'"\$(\w+)"', query)) <= names


def test_legends_name_labels_that_their_query_keeps(dashboard: Any) -> None:
    assert not [
        target
        for target in targets_of(dashboard)
        if set(re.findall(r"{{(\w+)}}", target["legendFormat"])) - kept_labels(target["expr"])
    ]


def test_the_example_is_a_configuration_and_the_others_run_it() -> None:
    config = read_config(FOLDER / "kwire-proxy.yaml")
    assert [cluster.name for cluster in config.clusters] == ["orders", "payments"]
    assert config.metrics is not None
    unit = ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str  # type: ignore[method-assign, assignment]
    unit.read(FOLDER / "kwire-proxy.service")
    assert unit["Service"]["ExecStart"].endswith(" proxy --config /etc/kwire/kwire-proxy.yaml")
    assert int(unit["Service"]["TimeoutStopSec"]) > config.drain
    container = (FOLDER / "Containerfile").read_text()
    assert 'CMD ["proxy", "--config", "/etc/kwire/kwire-proxy.yaml"]' in container
    record = config.clusters[0].record
    assert record is not None
    assert record.path is not None
    assert f"VOLUME {record.path}" in container
    assert f"StateDirectory={record.path.name}" in (FOLDER / "kwire-proxy.service").read_text()


def test_nobody_but_this_machine_and_user_gets_metrics_and_recordings() -> None:
    config = read_config(FOLDER / "kwire-proxy.yaml")
    assert config.metrics is not None
    assert is_loopback(config.metrics.host)
    unit, container = ((FOLDER / name).read_text() for name in ("kwire-proxy.service", CONTAINER))
    assert "StateDirectoryMode=0700\nUMask=0077\n" in unit
    assert "--mode=0700 /var/lib/kwire" in container
    assert not re.search(r"^(EXPOSE|# podman run .* -p (0\.0\.0\.0:)?9464)", container, re.M)
    for page in FOLDER.parent.rglob("*.md"):
        assert not re.search(r"metrics:? 0\.0\.0\.0", page.read_text()), page


def test_the_example_of_the_guide_is_a_configuration(tmp_path: Path) -> None:
    (example,) = re.findall(
        r"```yaml\n(.*?)```", (FOLDER.parent / "operators" / "service.md").read_text(), re.S
    )
    (tmp_path / "example.yaml").write_text(example)
    assert read_config(tmp_path / "example.yaml").clusters[0].name == "orders"
