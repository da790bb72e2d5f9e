"""Breaks of `cluster/describe`."""

from breaking import Break, changes, sets
from kwire.messages.a60_describe_cluster import DescribeClusterRequest

_API = DescribeClusterRequest


def _second(request: object) -> bool:
    return getattr(request, "number", 0) == 2


BREAKS: dict[int, Break] = {
    2: changes(_API, sets("endpoint_type", lambda kind: 3 - kind)),
    6: changes(_API, sets("cluster_id", "another"), only_for=_second),
    7: changes(_API, sets("cluster_authorized_operations", 0)),
    8: changes(_API, sets("cluster_authorized_operations", 1)),
    9: changes(_API, sets("controller_id", 4242)),
}
