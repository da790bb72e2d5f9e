"""A migration of nodes that log in to ZooKeeper by SASL, with ACLs on every znode."""

from dataclasses import replace

import pytest

from migrating.real_clusters.cluster import MigratingCluster
from migrating.real_clusters.rich_content import RICH
from migrating.real_clusters.zookeeper_acls import acls_by_path, kept_acls, migrate_with_acls
from real_kafka import Launcher


@pytest.mark.migrations
def test_kwires_controllers_write_the_acls_of_kafka(kafka: Launcher) -> None:
    with MigratingCluster(replace(RICH, kind="kwire", zookeeper_acls=True)) as cluster:
        acls = migrate_with_acls(cluster)
    expected = acls_by_path(kept_acls())
    both = expected.keys() & acls.keys()
    assert len(both) > 100
    assert {path: acls[path] for path in both} == {path: expected[path] for path in both}
