"""The reasons for which a voter change is refused, beside those that Kafka's handlers give.

Java's texts are those of AddVoterHandler, RemoveVoterHandler and KafkaRaftClient (4.0); "…" stands
for what they put in. UpdateVoterHandler answers by the same checks, without a text.
"""

from collections.abc import Callable

import pytest

from kwire.codec.declaration import Request
from kwire.controller.raft import RequestFailed
from kwire.controller.raft.quorum_events import VoterChangeRefused
from kwire.error_codes import ErrorCode
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.text.ids import ZERO_UUID
from tests.support.controller.raft.single_replica import (
    SingleReplica,
    begin_request,
    fetch_request,
    follower,
    leader,
    static_leader,
)
from tests.support.controller.raft.virtual_network import key
from tests.support.controller.raft.voter_change_states import (
    adding,
    not_committed,
    removing,
    updating,
    versions_answer,
)
from tests.support.controller.raft.voter_requests import add_request, remove_request, update_request

State = Callable[[], SingleReplica]
VOTERS = f"{key(1)}, {key(2)}, {key(3)}"
WRONG_CLUSTER = "The cluster's id is kwire-test-cluster-id0, the request is for another."
ELSEWHERE = "This replica does not lead the quorum; ask its leader."
PENDING = "Another voter change is not finished yet"
NOT_YET = "The leader has committed nothing in its epoch yet"
UNCOMMITTED = "The latest voter set is not committed yet"
NOTHING = "nothing was appended."
STATIC = "The finalised kraft.version is 0: voters are static."
IN_LOG = (
    "The new voters are in the log at offset 3, but were not committed in time: they still may be."
    " Describe the quorum before asking again."
)
IN_DOUBT = (
    "This leader stopped leading; the new voters may still be committed, from its log at offset 3."
)
OVER = "The request is from an epoch that is over."
NOT_IN = "The request is from an epoch that this replica is not in."

TIMED_OUT, INVALID = "REQUEST_TIMED_OUT", "INVALID_REQUEST"
CLUSTER, UNSUPPORTED = "INCONSISTENT_CLUSTER_ID", "UNSUPPORTED_VERSION"
NOT_LEADER = "NOT_LEADER_OR_FOLLOWER"
FENCED, TO_COME = "FENCED_LEADER_EPOCH", "UNKNOWN_LEADER_EPOCH"

# Java's reasons.
CLUSTER_ID = "The given id … doesn't match the cluster id …"
PREVIOUS = "Request timed out waiting for leader to handle previous voter change request"
HWM = "Request timed out waiting for leader to establish HWM and fence previous voter changes"
LATEST = "Request timed out waiting for voters to commit the latest voter change at … with HWM …"
NO_RECONFIGURATION = "Cluster doesn't support … voter because the kraft.version feature is …"
LISTENER = "Add voter request didn't include the endpoint … for the default listener"
INVALID_KEY = "Add/Remove/Update voter request didn't include a valid voter"
API_VERSIONS = "Aborted add voter operation for … since API_VERSIONS returned an error"
RANGE = (
    "Aborted add voter operation for … since the kraft.version range … doesn't support the"
    " finalized version …"
)
DUPLICATE = "The voter id for … is already part of the set of voters …"
LAGGING = "Aborted add voter operation for … since it is lagging behind"
UNKNOWN = "Cannot remove voter … from the set of voters …"
NO_VOTER = "no such voter (VoterSet.updateVoter)"
EXPIRED = "the timer of the operation has expired (LeaderState.maybeExpirePendingOperation)"
RESIGNED = "the leader has resigned (LeaderState.close)"


def asked(state: State, request: Request) -> State:
    def ask() -> SingleReplica:
        solo = state()
        solo.ask(request)
        return solo

    return ask


def answered(low: int = 0, high: int = 1, error: int = 0) -> State:
    """A leader whose new voter has answered ApiVersions."""

    def answer() -> SingleReplica:
        solo = adding()
        versions_answer(solo, low, high, error=error)
        return solo

    return answer


def unreachable() -> SingleReplica:
    solo = adding()
    send, _ = solo.sent(ApiVersionsRequest)[-1]
    error = ErrorCode.BROKER_NOT_AVAILABLE
    solo.step(RequestFailed(correlation=send.correlation, error=error))
    return solo


def lagging() -> SingleReplica:
    solo = leader()
    solo.ask(fetch_request(4, 5, 0, 0, max_wait_ms=0))
    solo.ask(add_request())
    versions_answer(solo)
    return solo


def late(state: State) -> State:
    def wait() -> SingleReplica:
        solo = state()
        solo.after(solo.config.request_timeout_ms)
        return solo

    return wait


ADD, REMOVE, UPDATE = "AddRaftVoter", "RemoveRaftVoter", "UpdateRaftVoter"
NO_KEY = add_request(voter_directory_id=ZERO_UUID)
OTHER = add_request(listener="OTHER")
ANOTHER = remove_request(3, cluster_id="another")
NOBODY = remove_request(3).replace(voter_id=-1)
NO_ID = "The voter needs an id and a directory id."

REFUSALS: list[tuple[str, str, State, str, str]] = [
    (ADD, CLUSTER_ID, asked(leader, add_request(cluster_id="another")), CLUSTER, WRONG_CLUSTER),
    (ADD, NOT_LEADER, asked(follower, add_request()), NOT_LEADER, ELSEWHERE),
    (
        ADD,
        INVALID_KEY,
        asked(leader, NO_KEY),
        INVALID,
        "The new voter needs an id and a directory id.",
    ),
    (
        ADD,
        LISTENER,
        asked(leader, OTHER),
        INVALID,
        "The new voter needs an address for CONTROLLER.",
    ),
    (ADD, PREVIOUS, asked(adding, add_request(5)), TIMED_OUT, f"{PENDING}: {NOTHING}"),
    (ADD, HWM, asked(not_committed, add_request()), TIMED_OUT, f"{NOT_YET}: {NOTHING}"),
    (ADD, NO_RECONFIGURATION, asked(static_leader, add_request()), UNSUPPORTED, STATIC),
    (ADD, LATEST, asked(updating, add_request()), TIMED_OUT, f"{UNCOMMITTED}: {NOTHING}"),
    (
        ADD,
        DUPLICATE,
        asked(leader, add_request(3)),
        "DUPLICATE_VOTER",
        "Voter id 3 is taken already.",
    ),
    (
        ADD,
        API_VERSIONS,
        answered(error=ErrorCode.UNSUPPORTED_VERSION),
        TIMED_OUT,
        f"Voter {key(4)} answered ApiVersions with UNSUPPORTED_VERSION. {NOTHING.capitalize()}",
    ),
    (
        ADD,
        API_VERSIONS,
        unreachable,
        TIMED_OUT,
        f"Voter {key(4)} did not answer ApiVersions: BROKER_NOT_AVAILABLE. {NOTHING.capitalize()}",
    ),
    (
        ADD,
        RANGE,
        answered(0, 0),
        INVALID,
        f"Voter {key(4)} supports kraft.version 0, not 1. {NOTHING.capitalize()}",
    ),
    (ADD, LAGGING, lagging, TIMED_OUT, f"Voter {key(4)} lags behind. {NOTHING.capitalize()}"),
    (
        ADD,
        EXPIRED,
        late(adding),
        TIMED_OUT,
        f"Voter {key(4)} did not answer ApiVersions in time: nothing was appended, and the voters"
        " are as before.",
    ),
    (ADD, EXPIRED, late(answered()), TIMED_OUT, IN_LOG),
    (ADD, RESIGNED, asked(adding, begin_request(6)), NOT_LEADER, ELSEWHERE),
    (ADD, RESIGNED, asked(answered(), begin_request(6)), NOT_LEADER, IN_DOUBT),
    (REMOVE, CLUSTER_ID, asked(leader, ANOTHER), CLUSTER, WRONG_CLUSTER),
    (REMOVE, NOT_LEADER, asked(follower, remove_request(3)), NOT_LEADER, ELSEWHERE),
    (REMOVE, INVALID_KEY, asked(leader, NOBODY), INVALID, NO_ID),
    (REMOVE, PREVIOUS, asked(removing, remove_request(2)), TIMED_OUT, f"{PENDING}: {NOTHING}"),
    (REMOVE, HWM, asked(not_committed, remove_request(3)), TIMED_OUT, f"{NOT_YET}: {NOTHING}"),
    (REMOVE, NO_RECONFIGURATION, asked(static_leader, remove_request(3)), UNSUPPORTED, STATIC),
    (REMOVE, LATEST, asked(updating, remove_request(3)), TIMED_OUT, f"{UNCOMMITTED}: {NOTHING}"),
    (
        REMOVE,
        UNKNOWN,
        asked(leader, remove_request(7)),
        "VOTER_NOT_FOUND",
        f"{key(7)} cannot be removed from the voters {VOTERS}.",
    ),
    (REMOVE, EXPIRED, late(removing), TIMED_OUT, IN_LOG),
    (REMOVE, RESIGNED, asked(removing, begin_request(6)), NOT_LEADER, IN_DOUBT),
    (
        UPDATE,
        CLUSTER_ID,
        asked(leader, update_request(cluster_id="another")),
        CLUSTER,
        WRONG_CLUSTER,
    ),
    (UPDATE, NOT_LEADER, asked(follower, update_request(3)), NOT_LEADER, ELSEWHERE),
    (UPDATE, FENCED, asked(leader, update_request(epoch=4)), FENCED, OVER),
    (UPDATE, TO_COME, asked(leader, update_request(epoch=6)), TO_COME, NOT_IN),
    (
        UPDATE,
        LISTENER,
        asked(leader, update_request(listener="OTHER")),
        INVALID,
        "The voter needs an address for CONTROLLER.",
    ),
    (
        UPDATE,
        RANGE,
        asked(leader, update_request(versions=(1, 0))),
        INVALID,
        "1-0 is no range of kraft.version.",
    ),
    (
        UPDATE,
        RANGE,
        asked(leader, update_request(versions=(0, 0))),
        INVALID,
        f"Voter {key(2)} supports kraft.version 0, not 1.",
    ),
    (UPDATE, PREVIOUS, asked(adding, update_request()), TIMED_OUT, f"{PENDING}."),
    (UPDATE, HWM, asked(not_committed, update_request()), TIMED_OUT, f"{NOT_YET}."),
    (UPDATE, LATEST, asked(updating, update_request()), TIMED_OUT, f"{UNCOMMITTED}."),
    (
        UPDATE,
        NO_VOTER,
        asked(leader, update_request(7)),
        "VOTER_NOT_FOUND",
        f"{key(7)} is none of the voters {VOTERS}.",
    ),
]


@pytest.mark.parametrize(
    ("request_", "state", "error", "reason"),
    [(row[0], *row[2:]) for row in REFUSALS],
    ids=[f"{row[0]}: {row[1]}" for row in REFUSALS],
)
def test_a_refused_voter_change_is_told_with_its_reason(
    request_: str, state: State, error: str, reason: str
) -> None:
    told = [effect for effect in state().effects if isinstance(effect, VoterChangeRefused)]
    assert [(event.request, event.error, event.reason) for event in told] == [
        (request_, error, reason)
    ]
