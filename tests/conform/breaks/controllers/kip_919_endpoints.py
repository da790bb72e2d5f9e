"""Breaks of `controllers/kip-919/endpoints`."""

from itertools import count

from breaking import Break, SeenRequest, changes, gives_error, sets
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest

_OTHER_TYPE = changes(DescribeClusterRequest, sets("endpoint_type", 7))
_PORTS = count(1)
_ANSWERED = gives_error(DescribeClusterRequest, 0)


def _again(request: SeenRequest) -> bool:
    return request.number == 1 and request.correlation_id == 1


BREAKS: dict[int, Break] = {
    1: _OTHER_TYPE,
    2: _ANSWERED,
    3: _ANSWERED,
    4: _ANSWERED,
    5: _OTHER_TYPE,
    6: _ANSWERED,
    7: _ANSWERED,
    8: changes(DescribeClusterRequest, sets("controller_id", 987_654)),
    9: gives_error(DescribeClusterRequest, 114, only_for=_again),
    10: changes(DescribeClusterRequest, lambda response: response.replace(brokers=[])),
    11: changes(DescribeClusterRequest, sets("brokers[*].port", lambda port: next(_PORTS))),
    12: changes(DescribeClusterRequest, sets("brokers[*].is_fenced", True)),
    13: gives_error(DescribeClusterRequest, 35),
    14: gives_error(DescribeQuorumRequest, 41),
}
