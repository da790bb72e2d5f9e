"""One Spark session for all tests of the pipeline."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from pipeline.session import spark_session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """Spark on two cores of this machine, without a package that is not in PySpark."""
    session = spark_session("local[2]")
    yield session
    session.stop()
