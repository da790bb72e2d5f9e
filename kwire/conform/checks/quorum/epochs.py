"""BeginQuorumEpoch and EndQuorumEpoch, and what they refuse (KIP-595, KIP-853)."""

from __future__ import annotations

from kwire.conform.check import CheckSection
from kwire.conform.checks.quorum.requests import begin_epoch, end_epoch
from kwire.conform.expectation import answers
from kwire.conform.quorum import NOBODY, OTHER_CLUSTER, OTHER_DIRECTORY, leader_exchange
from kwire.conform.vocabulary import guide, kafka, kip
from kwire.error_codes import ErrorCode

SECTION = CheckSection("quorum/kip-853/epochs", "Leaders announce themselves and resign")

_END = kip(595, "EndQuorumEpoch")
_HANDLER = kafka("KafkaRaftClient.handleBeginQuorumEpochRequest")


SECTION[1] = leader_exchange(
    "BeginQuorumEpoch for another cluster gets",
    guide("Error Codes"),
    send=lambda quorum: begin_epoch(quorum).replace(cluster_id=OTHER_CLUSTER),
    expect=answers(ErrorCode.INCONSISTENT_CLUSTER_ID),
)
SECTION[3] = leader_exchange(
    "BeginQuorumEpoch that names another voter gets",
    guide("Error Codes"),
    send=lambda quorum: begin_epoch(quorum, voter_id=NOBODY),
    # The KIP says INVALID_REQUEST, every Kafka INVALID_VOTER_KEY.
    expect=answers(ErrorCode.INVALID_VOTER_KEY) | answers(ErrorCode.INVALID_REQUEST),
    version=1,
)
SECTION[4] = leader_exchange(
    "BeginQuorumEpoch that names another directory gets",
    guide("Error Codes"),
    send=lambda quorum: begin_epoch(
        quorum, voter_id=quorum.leader_id, voter_directory_id=OTHER_DIRECTORY
    ),
    expect=answers(ErrorCode.INVALID_VOTER_KEY) | answers(ErrorCode.INVALID_REQUEST),
    version=1,
)
SECTION[5] = leader_exchange(
    "BeginQuorumEpoch in another topic gets",
    _HANDLER,
    send=lambda quorum: begin_epoch(quorum, topic="kwire-conform-topic"),
    expect=answers(ErrorCode.INVALID_REQUEST),
)
SECTION[6] = leader_exchange(
    "BeginQuorumEpoch of a leader with an id below 0 gets",
    _HANDLER,
    send=lambda quorum: begin_epoch(quorum, leader_id=-1),
    expect=answers(ErrorCode.INVALID_REQUEST),
)
SECTION[8] = leader_exchange(
    "EndQuorumEpoch for another cluster gets",
    _END,
    send=lambda quorum: end_epoch(quorum).replace(cluster_id=OTHER_CLUSTER),
    expect=answers(ErrorCode.INCONSISTENT_CLUSTER_ID),
)
SECTION[10] = leader_exchange(
    "EndQuorumEpoch in another topic gets",
    kafka("KafkaRaftClient.handleEndQuorumEpochRequest"),
    send=lambda quorum: end_epoch(quorum, topic="kwire-conform-topic"),
    expect=answers(ErrorCode.INVALID_REQUEST),
)
