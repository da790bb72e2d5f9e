"""Fixtures for users' tests; pytest loads them by itself where kwire is installed.

def test_my_tool(kwire_quorum):
    run_my_tool("--bootstrap-controller", kwire_quorum.bootstrap_controllers)

`kwire_cluster` has brokers of Apache Kafka, too. `--kwire-kafka-version`, `--kwire-kafka` and
`--kwire-cluster-scope`, or the same names in the ini file with underscores, choose them for all
tests; a marker does for one: `@pytest.mark.kwire_cluster(controllers=1, brokers=3)`.

`kwire_proxy` is in front of it, or of the cluster of your own that a fixture `kwire_upstream` of
yours returns, and lets requests fail. With `--kwire-conform HOST:PORT` the plugin of kwire.conform
is loaded, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

# Every run of pytest imports this module where kwire is installed: nothing else at its top.
if TYPE_CHECKING:
    from kwire.testing import BackgroundQuorum, FaultProxy

OPTIONS = {
    "kwire_kafka_version": "release of Kafka for kwire_cluster's brokers, such as 4.4.0",
    "kwire_kafka": "folder of an unpacked Kafka for kwire_cluster's brokers",
    "kwire_client": "command of a client for tests of recordings; {bootstrap} is its address",
    "kwire_cluster_scope": "scope of kwire_cluster: function (default), module, session, ...",
}
MARKER = "kwire_cluster(controllers=3, brokers=2, version=None, properties=None): its cluster"
RULES = "kwire_rules([...]): rules of kwire_proxy for the test, with the keys of a rules file"
CONFORM = "--kwire-conform"


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config, args: list[str]) -> None:
    """Load the plugin of the conformance checks, if one of its options is given."""
    # A worker of pytest-xdist has the options of the run, and not its arguments.
    is_asked = getattr(early_config.option, "kwire_conform", None)
    if is_asked or any(argument.startswith(CONFORM) for argument in args):
        early_config.pluginmanager.import_plugin("kwire.conform.pytest_plugin")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the fixtures."""
    group = parser.getgroup("kwire", f"kwire ({CONFORM} HOST:PORT --help: conformance checks, too)")
    for name, text in OPTIONS.items():
        group.addoption(f"--{name.replace('_', '-')}", default=None, help=text)
        parser.addini(name, text, default=None)


def pytest_configure(config: pytest.Config) -> None:
    """Make the markers known."""
    config.addinivalue_line("markers", MARKER)
    config.addinivalue_line("markers", RULES)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Refuse rules that no proxy would get."""
    is_unused = "kwire_proxy" not in getattr(item, "fixturenames", ())
    if is_unused and item.get_closest_marker("kwire_rules"):
        raise pytest.UsageError(f"{item.name} has kwire_rules, but no fixture kwire_proxy")


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
    from pathlib import Path

    from kwire.testing import BackgroundQuorum, LocalBrokers

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
    with BackgroundQuorum(size, brokers=brokers, network=True) as cluster:
        yield cluster


@pytest.fixture
def kwire_quorum() -> Iterator[BackgroundQuorum]:
    """A quorum of three controllers that has a leader, new for each test."""
    from kwire.testing import BackgroundQuorum

    with BackgroundQuorum(3) as quorum:
        yield quorum


@pytest.fixture
def kwire_controller() -> Iterator[BackgroundQuorum]:
    """A quorum of one controller, new for each test; it starts in a fraction of the time."""
    from kwire.testing import BackgroundQuorum

    with BackgroundQuorum(1) as quorum:
        yield quorum


@pytest.fixture
def kwire_upstream(request: pytest.FixtureRequest) -> str:
    """`host:port,...` that kwire_proxy is in front of: kwire_cluster's; define it for your own."""
    cluster: BackgroundQuorum = request.getfixturevalue("kwire_cluster")
    return cluster.bootstrap_servers or cluster.bootstrap_controllers


@pytest.fixture
def kwire_proxy(request: pytest.FixtureRequest, kwire_upstream: str) -> Iterator[FaultProxy]:
    """A proxy in front of kwire_upstream that lets requests fail, new for each test.

    Where the test fails, its report says which requests came and which faults acted.
    """
    from kwire.testing import FaultProxy

    with FaultProxy(kwire_upstream) as proxy:
        for marker in request.node.iter_markers("kwire_rules"):
            for rules in marker.args:
                for rule in rules if isinstance(rules, list) else [rules]:
                    proxy.rule(rule)
        yield proxy
        request.node.add_report_section("teardown", "kwire_proxy", proxy.report())


@pytest.fixture
def kwire_client(request: pytest.FixtureRequest) -> str:
    """The command of --kwire-client, for `Recording.run`; define it for your own."""
    command = _option(request.config, "kwire_client")
    if command is None:
        raise pytest.UsageError(
            "the test runs a client: give pytest the command of one, or define the fixture"
            " kwire_client"
        )
    return command
