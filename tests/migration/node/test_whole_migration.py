"""A cluster of 3.9.1 is migrated to the end by kwire's controller, as Java's has migrated one.

The steps are those of the capture in fixtures/migrating/recordings: topics made, moved and deleted,
a broker killed, the controller restarted, brokers as KRaft.
"""

from pathlib import Path

import pytest

from migrating.real_clusters import golden_capture
from tests.support.migration.driver.recorded_migration import RecordedMigration
from tests.support.paths import FIXTURES

pytestmark = pytest.mark.migrations

LEADERSHIPS = [(4, 1), (5, 2)]
"""Epochs in ZooKeeper and in raft."""


def test_brokers_get_what_kafkas_rules_make_of_kwires_log(tmp_path: Path) -> None:
    golden_capture.write(tmp_path / "rpcs.avro", "kwire")

    kwire = RecordedMigration(tmp_path)
    java = RecordedMigration(FIXTURES / "migrating" / "recordings" / "kafka-3.9.1")
    assert sorted(kwire.captured()) == sorted(java.captured()) == [4, 5]
    for zk_epoch, raft_epoch in LEADERSHIPS:
        assert kwire.unexplained(zk_epoch, raft_epoch) == []
    assert kinds(kwire) == kinds(java)


def kinds(migration: RecordedMigration) -> set[tuple[str, int, int]]:
    """Return the name, the version and the type of all requests.

    Which of them come to a broker before it is gone is a matter of milliseconds.
    """
    return {
        (name, version, content.get("type", 0))
        for leadership in migration.captured().values()
        for requests in leadership.values()
        for name, version, content in requests
    }
