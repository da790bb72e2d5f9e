"""Stand-ins for the other voters of a sandbox controller: they agree to everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kwire.codec.declaration import Request, Response
from kwire.controller.raft import Raft, RaftEvent, ReplicaKey, RequestFailed, ResponseReceived, Send
from kwire.controller.server.channels import Channels
from kwire.error_codes import ErrorCode
from kwire.messages import a52_vote as vote
from kwire.messages.a01_fetch import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.metadata_topic import METADATA_TOPIC_ID
from kwire.net.address import Address

FETCH_VERSION = 17


class ShadowChannels(Channels):
    """Channels that grant votes without sending them.

    ApiVersions is really sent, to a controller that is to become a voter; no other request is.

    may_reach: returns False for an address that nothing is sent to: clients name it.
    """

    def __init__(self, may_reach: Callable[[Address], bool], **settings: Any) -> None:
        super().__init__(**settings)
        self._may_reach = may_reach

    def send(self, effect: Send, feed: Callable[[RaftEvent], None]) -> None:
        """Feed a granted vote back; send ApiVersions; let every other request fail."""
        node = effect.destination
        is_real = isinstance(effect.request, ApiVersionsRequest)
        if is_real and self._may_reach(Address(node.host, node.port)):
            super().send(effect, feed)
        else:
            self.spawn(_feed_answer(effect, feed))


async def _feed_answer(effect: Send, feed: Callable[[RaftEvent], None]) -> None:
    response = _answer(effect.request)
    if response is None:
        code = ErrorCode.BROKER_NOT_AVAILABLE
        feed(RequestFailed(correlation=effect.correlation, error=code))
    else:
        feed(ResponseReceived(correlation=effect.correlation, response=response))


def _answer(request: Request) -> Response | None:
    # Other requests fail, as if the voter were down; the replica repeats them.
    if not isinstance(request, vote.VoteRequest):
        return None
    candidate = request.topics[0].partitions[0]
    granted = vote.ResponsePartitionData(
        leader_id=-1, leader_epoch=candidate.replica_epoch, vote_granted=True
    )
    topic = vote.ResponseTopicData(topic_name=request.topics[0].topic_name, partitions=[granted])
    return vote.VoteResponse(topics=[topic])


def acknowledgement(raft: Raft, replica: ReplicaKey) -> FetchRequest:
    """Return the fetch of a replica that has the whole log, which acknowledges all of it."""
    partition = FetchPartition(
        current_leader_epoch=raft.epoch,
        fetch_offset=raft.end_offset,
        last_fetched_epoch=raft.epoch,
        replica_directory_id=replica.wire_directory_id,
    )
    topics: list[Any] = [FetchTopic(topic_id=METADATA_TOPIC_ID, partitions=[partition])]
    return FetchRequest(replica_state=ReplicaState(replica_id=replica.id), topics=topics)
