"""The parts of the recorded history that several tests of the report look at."""

import pytest

from kwire.pipeline.report.quorum_timeline import QuorumTimeline, quorum_timelines
from tests.support.pipeline.tables import Tables


@pytest.fixture(scope="session")
def timeline(tables: Tables) -> QuorumTimeline:
    """The quorum of the recorded history."""
    (found,) = quorum_timelines(tables["quorum"], tables["sources"]).values()
    return found
