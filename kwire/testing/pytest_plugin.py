"""Fixtures for users' tests; a conftest.py names this plugin:

pytest_plugins = ["kwire.testing.pytest_plugin"]

def test_my_tool(kwire_quorum):
    run_my_tool("--bootstrap-controller", kwire_quorum.bootstrap_controllers)

`kwire_cluster` has brokers of Apache Kafka, too. `--kwire-kafka-version`, `--kwire-kafka` and
`--kwire-cluster-scope`, or the same names in the ini file with underscores, choose them for all
tests; a marker does for one: `@pytest.mark.kwire_cluster(controllers=1, brokers=3)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kwire.testing.background import BackgroundQuorum
from kwire.testing.local_brokers import LocalBrokers

OPTIONS = {
    "kwire_kafka_version": "release of Kafka for kwire_cluster's brokers, such as 4.4.0",
    "kwire_kafka": "folder of an unpacked Kafka for kwire_cluster's brokers",
    "kwire_cluster_scope": "scope of kwire_cluster: function (default), module, session, ...",
}
MARKER = "kwire_cluster(controllers=3, brokers=2, version=None, properties=None): its cluster"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of kwire_cluster."""
    group = parser.getgroup("kwire")
    for name, text in OPTIONS.items():
        group.addoption(f"--{name.replace('_', '-')}", default=None, help=text)
        parser.addini(name, text, default=None)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", MARKER)


def _option(config: pytest.Config, name: str) -> str | None:
    try:
        return config.getoption(name) or config.getini(name) or None
    except ValueError:  # a test module names this plugin: too late for options
        return None


def _scope(fixture_name: str, config: pytest.Config) -> Any:
    return _option(config, "kwire_cluster_scope") or "function"


@pytest.fixture(scope=_scope)
def kwire_cluster(request: pytest.FixtureRequest) -> Iterator[BackgroundQuorum]:
    """Three controllers and two brokers that serve clients, with the faults of `Quorum`."""
    marker = request.node.get_closest_marker("kwire_cluster")
    options = dict(marker.kwargs) if marker else {}
    home = _option(request.config, "kwire_kafka")
    brokers = LocalBrokers(
        options.pop("brokers", 2),
        version=options.pop("version", _option(request.config, "kwire_kafka_version")),
        kafka=Path(home) if home else None,
        properties=options.pop("properties", None),
    )
    size = options.pop("controllers", 3)
    if options:
        raise pytest.UsageError(f"the marker kwire_cluster has no {', '.join(options)}: {MARKER}")
    with BackgroundQuorum(size, brokers=brokers) as cluster:
        yield cluster


@pytest.fixture
def kwire_quorum() -> Iterator[BackgroundQuorum]:
    """A quorum of three controllers that has a leader, new for each test."""
    with BackgroundQuorum(3) as quorum:
        yield quorum


@pytest.fixture
def kwire_controller() -> Iterator[BackgroundQuorum]:
    """A quorum of one controller, new for each test; it starts in a fraction of the time."""
    with BackgroundQuorum(1) as quorum:
        yield quorum
