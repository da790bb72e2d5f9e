"""The type of the fixture `own_cluster`."""

from collections.abc import Callable

from real_kafka import Cluster, Layout

OwnCluster = Callable[[Layout], Cluster]
"""Makes a cluster that is started by ``start`` or ``with``, and closed after the test."""
