"""A leader in each state of a voter change."""

from __future__ import annotations

from kwire.messages.a18_api_versions import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    SupportedFeatureKey,
)
from tests.support.controller.raft.single_replica import (
    SingleReplica,
    fetch_request,
    leader,
)
from tests.support.controller.raft.voter_requests import add_request, remove_request, update_request


def observed(by: int = 4) -> SingleReplica:
    """A leader that an observer has caught up with."""
    solo = leader()
    solo.ask(fetch_request(by, 5, solo.raft.end_offset, 5, max_wait_ms=0))
    return solo


def adding() -> SingleReplica:
    solo = observed()
    assert solo.ask(add_request()) == []
    return solo


def removing() -> SingleReplica:
    solo = leader()
    assert solo.ask(remove_request(3)) == []
    return solo


def versions_answer(solo: SingleReplica, low: int = 0, high: int = 1, *, error: int = 0) -> None:
    send, _ = solo.sent(ApiVersionsRequest)[-1]
    feature = SupportedFeatureKey(name="kraft.version", min_version=low, max_version=high)
    solo.respond(send, ApiVersionsResponse(error_code=error, supported_features=[feature]))


def committed_by_2(solo: SingleReplica) -> None:
    """Voter 2 fetches everything."""
    solo.ask(fetch_request(2, 5, solo.raft.end_offset, 5, max_wait_ms=0))


def not_committed() -> SingleReplica:
    return leader(committed=False)


def updating() -> SingleReplica:
    """An UpdateRaftVoter was appended, and is not committed."""
    solo = leader()
    solo.ask(update_request(port=1))
    return solo
