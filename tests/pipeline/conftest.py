"""One Spark session, one real history and its tables, for all tests of the pipeline."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kwire.pipeline.ingest import ingest
from kwire.pipeline.session import spark_session
from real_kafka import Launcher
from tests.support.cli.command import Command
from tests.support.pipeline.recorded_history import History, make_history
from tests.support.pipeline.tables import Tables

QUICK = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""Jobs of seconds are not worth being compiled well."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """PySpark leaves sockets of its own to the garbage collector."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Spark on two cores of this machine, without a package that is not in PySpark."""
    session = spark_session("local[2]", settings=QUICK)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def history(kafka: Launcher, tmp_path_factory: pytest.TempPathFactory) -> History:
    """A recording of a real quorum. Shared: leave its files as they are."""
    return make_history(kafka, tmp_path_factory.mktemp("history"))


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
    paths = [str(history.captures), str(history.logs[3000])]
    return Tables(folder, ingest(spark, paths, str(folder)), spark)
