"""The parts of the recorded history that several tests of the report look at."""

import pytest

from kwire.pipeline.report.quorum_timeline import QuorumTimeline, quorum_timeline
from tests.support.pipeline.tables import Tables


@pytest.fixture(scope="session")
def timeline(tables: Tables) -> QuorumTimeline:
    """The quorum of the recorded history."""
    found = quorum_timeline(tables["quorum"], tables["sources"])
    assert found is not None
    return found
