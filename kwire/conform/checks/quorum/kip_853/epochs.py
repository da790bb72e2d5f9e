"""BeginQuorumEpoch and EndQuorumEpoch, and what they refuse (KIP-595, KIP-853)."""

from __future__ import annotations

from kwire.conform.check import CheckSection
from kwire.conform.checks.quorum.kip_853.requests import begin_epoch, end_epoch
from kwire.conform.expectation import answers
from kwire.conform.quorum import NOBODY, OTHER_CLUSTER, OTHER_DIRECTORY, leader_exchange
from kwire.conform.source import kafka, kip

_BEGIN, _END = kip(853, "BeginQuorumEpoch, Handling"), kip(595, "EndQuorumEpoch")
_HANDLER = kafka("KafkaRaftClient.handleBeginQuorumEpochRequest")

SECTION = CheckSection(
    "quorum/kip-853/epochs",
    "Leaders announce themselves and resign",
    {
        1: leader_exchange(
            "BeginQuorumEpoch for another cluster gets INCONSISTENT_CLUSTER_ID.",
            _BEGIN,
            send=lambda quorum: begin_epoch(quorum).replace(cluster_id=OTHER_CLUSTER),
            expect=answers(104),
        ),
        2: leader_exchange(
            "BeginQuorumEpoch of an earlier epoch gets FENCED_LEADER_EPOCH.",
            kip(595, "BeginQuorumEpoch"),
            send=lambda quorum: begin_epoch(quorum, leader_epoch=quorum.epoch - 1),
            expect=answers(74),
        ),
        3: leader_exchange(
            "BeginQuorumEpoch that names another voter gets INVALID_VOTER_KEY.",
            _BEGIN,
            send=lambda quorum: begin_epoch(quorum, voter_id=NOBODY),
            # The KIP says INVALID_REQUEST, every Kafka INVALID_VOTER_KEY.
            expect=answers(125) | answers(42),
            version=1,
        ),
        4: leader_exchange(
            "BeginQuorumEpoch that names another directory gets INVALID_VOTER_KEY.",
            _BEGIN,
            send=lambda quorum: begin_epoch(
                quorum, voter_id=quorum.leader_id, voter_directory_id=OTHER_DIRECTORY
            ),
            expect=answers(125) | answers(42),
            version=1,
        ),
        5: leader_exchange(
            "BeginQuorumEpoch in another topic gets INVALID_REQUEST.",
            _HANDLER,
            send=lambda quorum: begin_epoch(quorum, topic="kwire-conform-topic"),
            expect=answers(42),
        ),
        6: leader_exchange(
            "BeginQuorumEpoch of a leader with an id below 0 gets INVALID_REQUEST.",
            _HANDLER,
            send=lambda quorum: begin_epoch(quorum, leader_id=-1),
            expect=answers(42),
        ),
        7: leader_exchange(
            "A refused BeginQuorumEpoch names the leader and the epoch that are in force.",
            kip(595, "BeginQuorumEpoch"),
            send=lambda quorum: begin_epoch(
                quorum, leader_id=NOBODY, leader_epoch=quorum.epoch - 1
            ),
            expect=answers(
                74,
                text="with a leader",
                where=lambda response: (
                    response.topics[0].partitions[0].leader_id not in (-1, NOBODY)
                    and response.topics[0].partitions[0].leader_epoch > 0
                ),
            ),
        ),
        8: leader_exchange(
            "EndQuorumEpoch for another cluster gets INCONSISTENT_CLUSTER_ID.",
            _END,
            send=lambda quorum: end_epoch(quorum).replace(cluster_id=OTHER_CLUSTER),
            expect=answers(104),
        ),
        9: leader_exchange(
            "EndQuorumEpoch of an earlier epoch gets FENCED_LEADER_EPOCH.",
            _END,
            send=end_epoch,
            expect=answers(74),
        ),
        10: leader_exchange(
            "EndQuorumEpoch in another topic gets INVALID_REQUEST.",
            kafka("KafkaRaftClient.handleEndQuorumEpochRequest"),
            send=lambda quorum: end_epoch(quorum, topic="kwire-conform-topic"),
            expect=answers(42),
        ),
    },
)
