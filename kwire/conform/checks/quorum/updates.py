"""UpdateRaftVoter, and what it refuses (KIP-853)."""

from __future__ import annotations

from kwire.conform.check import CheckSection
from kwire.conform.checks.quorum.requests import update_voter
from kwire.conform.expectation import answers
from kwire.conform.quorum import NO_DIRECTORY, OTHER_CLUSTER, DescribedQuorum, leader_exchange
from kwire.conform.vocabulary import guide, kafka, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a82_update_raft_voter import (
    KRaftVersionFeature,
    Listener,
    UpdateRaftVoterRequest,
)

SECTION = CheckSection("quorum/kip-853/updates", "Voters announce their endpoints and versions")

_UPDATE = kip(853, "UpdateVoter, Handling")
_CODES = guide("Error Codes")
_ORDER = kafka("KafkaRaftClient.handleUpdateVoterRequest")


def _with_range(quorum: DescribedQuorum, lowest: int, highest: int) -> UpdateRaftVoterRequest:
    feature = KRaftVersionFeature(min_supported_version=lowest, max_supported_version=highest)
    return update_voter(quorum, k_raft_version_feature=feature)


SECTION[1] = leader_exchange(
    "UpdateRaftVoter for another cluster gets",
    _CODES,
    send=lambda quorum: update_voter(quorum, cluster_id=OTHER_CLUSTER),
    expect=answers(ErrorCode.INCONSISTENT_CLUSTER_ID),
)
SECTION[3] = leader_exchange(
    "UpdateRaftVoter of a later epoch gets",
    _CODES,
    send=lambda quorum: update_voter(quorum, current_leader_epoch=quorum.epoch + 1000),
    expect=answers(ErrorCode.UNKNOWN_LEADER_EPOCH),
)
SECTION[5] = leader_exchange(
    "UpdateRaftVoter of a node that is no voter gets",
    _UPDATE,
    send=update_voter,
    expect=answers(ErrorCode.VOTER_NOT_FOUND),
    kraft_version=1,
    alone=True,
)
SECTION[6] = leader_exchange(
    "UpdateRaftVoter without the quorum's own listener gets",
    _ORDER,
    send=lambda quorum: update_voter(
        quorum, listeners=[Listener(name="KWIRE_CONFORM", host="127.0.0.1", port=1)]
    ),
    expect=answers(ErrorCode.INVALID_REQUEST),
)
SECTION[7] = leader_exchange(
    "UpdateRaftVoter without a directory id gets",
    _ORDER,
    send=lambda quorum: update_voter(quorum, voter_directory_id=NO_DIRECTORY),
    expect=answers(ErrorCode.INVALID_REQUEST),
)
SECTION[8] = leader_exchange(
    "UpdateRaftVoter with a range that ends before it begins gets",
    _ORDER,
    send=lambda quorum: _with_range(quorum, 1, 0),
    expect=answers(ErrorCode.INVALID_REQUEST),
)
SECTION[9] = leader_exchange(
    "UpdateRaftVoter with a range below 0 gets",
    _ORDER,
    send=lambda quorum: _with_range(quorum, -1, 1),
    expect=answers(ErrorCode.INVALID_REQUEST),
)
SECTION[10] = leader_exchange(
    "UpdateRaftVoter with a range without the finalized level is refused.",
    _UPDATE,
    # The KIP says INVALID_UPDATE_VERSION, every Kafka INVALID_REQUEST.
    send=lambda quorum: _with_range(quorum, 2, 3),
    expect=answers(ErrorCode.INVALID_UPDATE_VERSION) | answers(ErrorCode.INVALID_REQUEST),
    kraft_version=1,
    alone=True,
)
