"""One Spark session, and one real history, for all tests of the pipeline."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from pipeline.session import spark_session
from real_kafka import Launcher
from tests.pipeline.history import History, make_history


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Spark on two cores of this machine, without a package that is not in PySpark."""
    session = spark_session("local[2]")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def history(kafka: Launcher, tmp_path_factory: pytest.TempPathFactory) -> History:
    """What happened to a real quorum, recorded. Shared: leave its files as they are."""
    return make_history(kafka, tmp_path_factory.mktemp("history"))
