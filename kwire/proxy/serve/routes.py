"""Which APIs are for one node and no other, and what an answer says of having met the wrong one."""

from __future__ import annotations

from collections.abc import Mapping

from kwire.codec.declaration import Response
from kwire.codec.versions import Versions
from kwire.error_codes import ErrorCode
from kwire.messages.registry import request
from kwire.proxy.flows.walk import failures

DESCRIBE_CONFIGS = 32

ACTIVE: Mapping[int, Versions] = {
    key: request(key).versions
    for key in (19, 20, 30, 31, 33, 37, 38, 39, 40, 43, 44, 45, 46, 49, 51, 55, 57, 64, 80, 81, 94)
}
"""What only the active controller carries out: brokers pass it on to that, controllers do not.

Creating, deleting and altering of topics, partitions, configs, ACLs, tokens, quotas, credentials,
features and voters; unregistrations, elections, reassignments, DescribeQuorum.
"""

READS = frozenset({DESCRIBE_CONFIGS, 46, 55})
"""Those that change nothing: ListPartitionReassignments, DescribeQuorum."""

DESCRIBE_DELEGATION_TOKEN = 41
WITHHELD = frozenset({DESCRIBE_DELEGATION_TOKEN})
"""What controllers offer and do not answer."""

_ELSEWHERE = frozenset({ErrorCode.NOT_CONTROLLER, ErrorCode.NOT_LEADER_OR_FOLLOWER})


def is_elsewhere(response: Response) -> bool:
    """Whether the node did nothing, since another one is the active controller."""
    codes = {failure.code for failure in failures(response)}
    return bool(codes) and codes <= _ELSEWHERE
