"""A migration by Kafka 3.9.1: its metadata log gives the requests that its controller has sent.

fixtures/migrating/recordings has both, of one run. What Java has in the order of a hash map is
compared sorted.
"""

from __future__ import annotations

import pytest

from tests.support.migration.driver.recorded_migration import RecordedMigration
from tests.support.paths import FIXTURES

JAVA = RecordedMigration(FIXTURES / "migrating" / "recordings" / "kafka-3.9.1")

BEFORE_DUAL_WRITE = 21
"""Batches of the first leadership up to the image that brokers got first, in this run."""


def test_a_log_gives_the_requests_of_the_controller_that_wrote_it() -> None:
    """The first leadership has the copy, topics made, moved and deleted, a broker lost and back."""
    java = JAVA.captured()[4]
    kwire = JAVA.sent(zk_epoch=4, raft_epoch=1, skipped=BEFORE_DUAL_WRITE)

    assert kwire[0] == java[0]
    # The last before it was killed was on its way.
    lost = next(request for request in kwire[1] if request[0] == "StopReplicaRequest")
    assert [request for request in kwire[1] if request is not lost] == java[1]
    assert lost[2]["topic_states"][0]["topic_name"] == "late-deleted"


def test_after_a_failover_brokers_get_everything_and_what_is_fenced_nothing() -> None:
    """The second leadership begins with the whole, and ends as brokers come back as KRaft."""
    assert JAVA.sent(zk_epoch=5, raft_epoch=2, skipped=0) == JAVA.captured()[5]


@pytest.mark.parametrize("leadership", [(4, 1), (5, 2)], ids=["first", "second"])
def test_every_request_of_a_leadership_is_explained(leadership: tuple[int, int]) -> None:
    """As test_whole_migration asks it of kwire's own."""
    assert JAVA.unexplained(*leadership) == []
