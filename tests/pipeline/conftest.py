"""One Spark session, one real history and its tables, for all tests of the pipeline."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kwire.pipeline.ingest import ingest
from kwire.pipeline.session import LOCAL, spark_session
from real_kafka import Launcher
from tests.support.cli.command import Command
from tests.support.pipeline.command_process import FLAGS
from tests.support.pipeline.recorded_history import History, make_history
from tests.support.pipeline.tables import Tables

SESSION_SETTINGS = {
    "spark.driver.extraJavaOptions": f"{FLAGS} -Dspark.testing=true",
    "spark.default.parallelism": "1",
    "spark.sql.planChangeValidation": "false",
}
QUERY_SETTINGS = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.shuffle.partitions": "1",
}
"""Queries of a few rows: to plan and to compile them well costs more than to run them.

Without generated code Spark runs only where `spark.testing` is set, which checks each plan, too.
"""

KWIRE_SETTINGS = dict(LOCAL)
"""The settings of a session on one machine, as kwire has them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """PySpark leaves sockets of its own to the garbage collector."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Spark on two cores of this machine, without a package that is not in PySpark."""
    with pytest.MonkeyPatch.context() as patch:
        # A command that gets this session would set kwire's own settings in it.
        for name, value in (SESSION_SETTINGS | QUERY_SETTINGS).items():
            patch.setitem(LOCAL, name, value)
        session = spark_session("local[2]")
        yield session
        session.stop()


@pytest.fixture
def as_users_have_it(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have queries planned and compiled with the settings that kwire gives its sessions."""
    for name in QUERY_SETTINGS:
        monkeypatch.delitem(LOCAL, name)
        spark.conf.unset(name)
    for name in QUERY_SETTINGS.keys() & KWIRE_SETTINGS.keys():
        monkeypatch.setitem(LOCAL, name, KWIRE_SETTINGS[name])
    yield
    for name, value in QUERY_SETTINGS.items():
        spark.conf.set(name, value)


FRAMES = [
    pytest.param(5_000, id="small"),
    pytest.param(100_000, id="large", marks=pytest.mark.nightly),  # of several files and tasks
]


@pytest.fixture(scope="session", params=FRAMES)
def history(
    request: pytest.FixtureRequest, kafka: Launcher, tmp_path_factory: pytest.TempPathFactory
) -> History:
    """A recording of a real quorum. Shared: leave its files as they are."""
    return make_history(kafka, tmp_path_factory.mktemp("history"), request.param)


@pytest.fixture
def kwire(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run commands in this process; with `spark`, on the session of all tests."""
    return Command(capsys, monkeypatch)


@pytest.fixture(scope="session")
def tables(
    spark: SparkSession, history: History, tmp_path_factory: pytest.TempPathFactory
) -> Tables:
    """All tables, made once."""
    folder = tmp_path_factory.mktemp("tables")
    paths = [str(history.captures), str(history.log)]
    return Tables(folder, ingest(spark, paths, str(folder)), spark)
