"""UpdateRaftVoter, and what it refuses (KIP-853)."""

from __future__ import annotations

from kwire.conform.check import CheckSection
from kwire.conform.checks.quorum.kip_853.requests import update_voter
from kwire.conform.expectation import answers
from kwire.conform.quorum import (
    NO_DIRECTORY,
    OTHER_CLUSTER,
    DescribedQuorum,
    is_known,
    leader_exchange,
)
from kwire.conform.source import kafka, kip
from kwire.messages.a82_update_raft_voter import (
    KRaftVersionFeature,
    Listener,
    UpdateRaftVoterRequest,
    UpdateRaftVoterResponse,
)

_UPDATE = kip(853, "UpdateVoter, Handling")
_ORDER = kafka("KafkaRaftClient.handleUpdateVoterRequest")


def _with_range(quorum: DescribedQuorum, lowest: int, highest: int) -> UpdateRaftVoterRequest:
    feature = KRaftVersionFeature(min_supported_version=lowest, max_supported_version=highest)
    return update_voter(quorum, k_raft_version_feature=feature)


def _names_leader(response: UpdateRaftVoterResponse) -> bool:
    return is_known(response.current_leader)


SECTION = CheckSection(
    "quorum/kip-853/updates",
    "Voters announce their endpoints and versions",
    {
        1: leader_exchange(
            "UpdateRaftVoter for another cluster gets INCONSISTENT_CLUSTER_ID.",
            _UPDATE,
            send=lambda quorum: update_voter(quorum, cluster_id=OTHER_CLUSTER),
            expect=answers(104),
        ),
        2: leader_exchange(
            "UpdateRaftVoter of an earlier epoch gets FENCED_LEADER_EPOCH.",
            _UPDATE,
            send=lambda quorum: update_voter(quorum, current_leader_epoch=quorum.epoch - 1),
            expect=answers(74),
        ),
        3: leader_exchange(
            "UpdateRaftVoter of a later epoch gets UNKNOWN_LEADER_EPOCH.",
            _UPDATE,
            send=lambda quorum: update_voter(quorum, current_leader_epoch=quorum.epoch + 1000),
            expect=answers(75),
        ),
        4: leader_exchange(
            "A refused UpdateRaftVoter names the leader and its epoch.",
            kip(853, "UpdateVoter, Response Schema"),
            send=lambda quorum: update_voter(quorum, current_leader_epoch=quorum.epoch - 1),
            expect=answers(74, text="with the leader", where=_names_leader),
        ),
        5: leader_exchange(
            "UpdateRaftVoter of a node that is no voter gets VOTER_NOT_FOUND.",
            _UPDATE,
            send=update_voter,
            expect=answers(127),
            kraft_version=1,
            alone=True,
        ),
        6: leader_exchange(
            "UpdateRaftVoter without the quorum's own listener gets INVALID_REQUEST.",
            _ORDER,
            send=lambda quorum: update_voter(
                quorum, listeners=[Listener(name="KWIRE_CONFORM", host="127.0.0.1", port=1)]
            ),
            expect=answers(42),
        ),
        7: leader_exchange(
            "UpdateRaftVoter without a directory id gets INVALID_REQUEST.",
            _ORDER,
            send=lambda quorum: update_voter(quorum, voter_directory_id=NO_DIRECTORY),
            expect=answers(42),
        ),
        8: leader_exchange(
            "UpdateRaftVoter with a range that ends before it begins gets INVALID_REQUEST.",
            _ORDER,
            send=lambda quorum: _with_range(quorum, 1, 0),
            expect=answers(42),
        ),
        9: leader_exchange(
            "UpdateRaftVoter with a range below 0 gets INVALID_REQUEST.",
            _ORDER,
            send=lambda quorum: _with_range(quorum, -1, 1),
            expect=answers(42),
        ),
        10: leader_exchange(
            "UpdateRaftVoter with a range without the finalized level is refused.",
            _UPDATE,
            # The KIP says INVALID_UPDATE_VERSION, every Kafka INVALID_REQUEST.
            send=lambda quorum: _with_range(quorum, 2, 3),
            expect=answers(95) | answers(42),
            kraft_version=1,
            alone=True,
        ),
    },
)
