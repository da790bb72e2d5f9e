"""Empty requests: every API that a controller serves, in each of its versions."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.codec.declaration import Request
from kwire.controller.handlers.registry import HANDLERS
from kwire.controller.raft import API_KEYS
from kwire.errors import EncodeError
from kwire.messages.registry import api_name, request
from tests.support.controller.live.admin_session import Step
from tests.support.controller.live.session.acls import OF_ACLS, REQUESTS

OF_THIS_NODE = (
    "IncrementalAlterConfigs of a broker",
    "IncrementalAlterConfigs of a logger",
    "DescribeConfigs",
)
"""Requests of the list of ACLs that depend on the node that leads."""
DEADLY = ("FetchSnapshot",)
"""APIs whose empty request ends the process of Kafka's controller."""
SEEN = 1
"""Seconds after which Kafka's authorizers have the ACLs of an answer."""
FIRST_FETCH = 4
"""Kafka's controllers serve no earlier Fetch."""


def empty_requests() -> Iterator[Step]:
    """Every API with all fields at their defaults, at the leader and at a follower."""
    for key in sorted({*HANDLERS, *API_KEYS}):
        if api_name(key) in DEADLY:
            continue
        kind = request(key)
        versions = HANDLERS[key].versions if key in HANDLERS else kind.versions
        for version in versions:
            if (api_name(key) == "Fetch" and version < FIRST_FETCH) or not _fits(kind(), version):
                continue
            name = f"{api_name(key)} v{version}, empty"
            yield Step(name=name, request=kind(), version=version)
            yield Step(
                name=f"{name}, at a follower", request=kind(), version=version, follower=True
            )


def of_acls(occasion: str) -> Iterator[Step]:
    """The requests of the list of ACLs, and some of them at a follower."""
    before = ""
    for name, asked in OF_ACLS.items():
        api = name.split()[0]
        if api == "CreateTopics":
            continue
        # Kafka's authorizer follows the log: an ACL is in force soon after the answer.
        pause = SEEN if api == "DescribeAcls" != before else 0
        yield Step(name=f"{name}, {occasion}", request=asked, pause=pause)
        if api != before:
            where = f"{name}, {occasion}, at a follower"
            yield Step(name=where, request=asked, pause=pause, follower=True)
        before = api


def lowest_and_highest() -> Iterator[Step]:
    """Requests with content, at the lowest and the highest version that can carry it."""
    for name, asked in REQUESTS.items():
        if name in OF_THIS_NODE:
            continue
        able = [v for v in HANDLERS[type(asked).key or 0].versions if _fits(asked, v)]
        for version in sorted({able[0], able[-1]}):
            pause = SEEN if name == "DescribeAcls" else 0
            step = f"{name} with content v{version}"
            yield Step(name=step, request=asked, version=version, pause=pause)


def _fits(asked: Request, version: int) -> bool:
    try:
        asked.encode(version)
    except EncodeError:
        return False
    return True
