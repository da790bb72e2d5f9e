"""Breaks of `cluster/find-coordinator`."""

from breaking import Break, changes, gives_error, sets
from kwire.messages.a10_find_coordinator import Coordinator, FindCoordinatorRequest

_API = FindCoordinatorRequest

BREAKS: dict[int, Break] = {
    1: gives_error(_API, 0),
    2: gives_error(_API, 0),
    3: changes(_API, sets("coordinators", lambda parts: parts[1:])),
    4: changes(_API, sets("coordinators", [Coordinator(error_code=42)])),
    5: changes(_API, sets("coordinators[*].port", 1)),
    6: changes(_API, sets("node_id", 4242), only_for=3),
    7: gives_error(_API, 0),
    8: gives_error(_API, 0),
}
