"""Real Kafka for the tests: which launchers run, the clusters they share, a factory for their own.

A test that asks for a cluster runs on local processes; one marked ``both_launchers`` runs on
containers too. ``--kafka`` or $KWIRE_KAFKA overrides that for all. What cannot run here is skipped
with its reason, or fails where $KWIRE_REQUIRE_KAFKA is set.
"""

import logging
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from real_kafka import (
    CHOICES,
    Cluster,
    DockerNotFound,
    KafkaUnavailable,
    Launcher,
    Layout,
    choice,
    launcher,
    required,
)
from tests.support.kafka_python import close_forgotten_sockets
from tests.support.real_kafka.own_cluster import OwnCluster
from tests.support.real_kafka.own_names import OwnNames
from tests.support.real_kafka.shared_cluster import left_as_it_was

if TYPE_CHECKING:
    from docker import DockerClient

    from tests.support.proxy.secure_cluster import SecureCluster


pytest_plugins = ["kwire.testing.pytest_plugin", "tests.support.tiers"]

SHARED_CLUSTERS = ("combined", "quorum", "kafka391", "kafka440", "secure")
SHARED = ("spark", *SHARED_CLUSTERS)
"""Fixtures of the whole run."""

progress = logging.getLogger("real_kafka").info

# A busy machine is no fault of the code's.
settings.register_profile("kwire", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kwire")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--kafka", choices=CHOICES, help="what real Kafka runs as in all its tests")


def pytest_configure(config: pytest.Config) -> None:
    # A shell's background job starts with Ctrl-C ignored, and so would every process of the tests.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # With 000 or 002 the scripts and rules of tests would be refused: others could change them.
    os.umask(0o022)
    os.environ["KWIRE_CACHE"] = ""  # commands leave nothing in the home of who runs the tests
    config.addinivalue_line(
        "markers",
        "both_launchers(by_day): runs on local processes, and on containers: in the night, or also"
        " in `make test`",
    )
    # kafka-python reads its schemas in a way that Python 3.11 warns of.
    config.addinivalue_line(
        "filterwarnings", "ignore:(read|open)_text is deprecated:DeprecationWarning"
    )
    close_forgotten_sockets()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "kafka" in metafunc.fixturenames:
        names = _launchers(metafunc)
        # The second form of a test is for the night, unless its mark wants both by day.
        both = metafunc.definition.get_closest_marker("both_launchers")
        is_repeated = len(names) > 1 and both is not None and not both.kwargs.get("by_day")
        parameters = [pytest.param(name, marks=_marks(name, is_repeated)) for name in names]
        metafunc.parametrize("kafka", parameters, indirect=True, scope="session")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker runs all that shares a cluster, or Spark's session: it is started but once."""
    for item in items:
        names = getattr(item, "fixturenames", ())
        if "spark" in names:
            item.add_marker(pytest.mark.spark)
        # A fixture of this name that a module has itself is for each test.
        module = getattr(item, "module", None)
        shared = [name for name in SHARED if name in names and not hasattr(module, name)]
        if shared:
            item.add_marker(pytest.mark.xdist_group(shared[0]))


def _launchers(metafunc: pytest.Metafunc) -> list[str]:
    try:
        chosen = choice(metafunc.config.getoption("--kafka"))
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error
    if chosen == "auto":
        both = metafunc.definition.get_closest_marker("both_launchers")
        chosen = "both" if both else "local"
    return ["local", "container"] if chosen == "both" else [chosen]


def _marks(name: str, is_repeated: bool) -> list[pytest.MarkDecorator]:
    if name == "local":
        return [pytest.mark.cluster]
    nightly = [pytest.mark.nightly] if is_repeated else []
    return [pytest.mark.cluster, pytest.mark.container, *nightly]


@pytest.fixture(scope="session")
def kafka(request: pytest.FixtureRequest) -> Launcher:
    """The launcher of the test: local processes or containers."""
    wanted = launcher(request.param)
    with _required(wanted):
        wanted.look()
    return wanted


@pytest.fixture(scope="session")
def combined(kafka: Launcher) -> Iterator[Cluster]:
    """Kafka 4.3.1, one node that is broker and controller. Shared: leave it as it was."""
    yield from _shared(kafka, Layout.combined())


@pytest.fixture(scope="session")
def quorum(kafka: Launcher) -> Iterator[Cluster]:
    """Kafka 4.3.1, controllers 3000 to 3002 and broker 1. Shared: leave it as it was."""
    yield from _shared(kafka, Layout.quorum())


@pytest.fixture(scope="session")
def kafka391(kafka: Launcher) -> Iterator[Cluster]:
    """Kafka 3.9.1, one node that is broker and controller. Shared: leave it as it was."""
    yield from _shared(kafka, Layout.combined("3.9.1"))


@pytest.fixture(scope="session")
def kafka440(kafka: Launcher) -> Iterator[Cluster]:
    """Kafka 4.4.0, one node that is broker and controller. Shared: leave it as it was."""
    yield from _shared(kafka, Layout.combined("4.4.0"))


@pytest.fixture(scope="session")
def secure(kafka: Launcher, tmp_path_factory: pytest.TempPathFactory) -> Iterator["SecureCluster"]:
    """Kafka 4.3.1, one node whose listeners want SASL, TLS or both. Shared: leave it as it was."""
    # cryptography, which few tests need
    from tests.support.proxy.secure_cluster import configured, layout

    folder = tmp_path_factory.mktemp("secure")
    with closing(_make(kafka, layout(folder))) as cluster:
        secure = configured(cluster, folder)
        cluster.start()
        secure.add_user()
        yield secure


@pytest.fixture(autouse=True)
def _left_as_it_was(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves something in a cluster that others use, too."""
    names = [name for name in SHARED_CLUSTERS if name in request.fixturenames]
    with ExitStack() as checks:
        for name in names:
            shared = request.getfixturevalue(name)
            cluster = getattr(shared, "cluster", shared)
            if isinstance(cluster, Cluster):  # and no quorum of the module's own
                checks.enter_context(left_as_it_was(cluster, groups=cluster is shared))
        yield


@pytest.fixture
def own_name() -> Iterator[OwnNames]:
    """A maker of names that no other test uses."""
    names = OwnNames()
    yield names
    names.remove()


@pytest.fixture
def own_cluster(kafka: Launcher) -> Iterator[OwnCluster]:
    """A factory of clusters that one test may bend and break."""
    with ExitStack() as closing:

        def make(layout: Layout) -> Cluster:
            cluster = _make(kafka, layout)
            closing.callback(cluster.close)
            return cluster

        yield make


@pytest.fixture
def docker_engine() -> Iterator["DockerClient"]:
    """The Docker engine of this machine."""
    from real_kafka.image import engine  # docker, which few tests need

    try:
        client = engine()
    except DockerNotFound as missing:
        if required() and choice() != "local":
            raise
        pytest.skip(str(missing))
    with closing(client):
        yield client


def _shared(kafka: Launcher, layout: Layout) -> Iterator[Cluster]:
    with _make(kafka, layout) as cluster:
        yield cluster


def _make(kafka: Launcher, layout: Layout) -> Cluster:
    with _required(kafka):
        return Cluster(kafka, layout, progress)


@contextmanager
def _required(kafka: Launcher) -> Iterator[None]:
    """Skip the test if Kafka is unavailable, or fail where it is required."""
    try:
        yield
    except KafkaUnavailable as missing:
        if required():
            raise
        pytest.skip(f"No Kafka as {kafka.name}: {missing}")
