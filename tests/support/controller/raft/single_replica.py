"""One replica whose peers are the test: it says what they ask and answer, and sees what it does.

`replica in a state`, `request`, `answer`: the tables of the ported Kafka tests are made of these.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, TypeVar, cast
from uuid import UUID

from kwire.batches import Record, build_batch
from kwire.codec.declaration import Request, Response
from kwire.controller.raft import (
    BOOTSTRAP_SNAPSHOT,
    Config,
    ElectionState,
    PersistElection,
    Raft,
    RaftEffect,
    RaftEvent,
    ReplicaKey,
    Reply,
    RequestReceived,
    ResponseReceived,
    Send,
    Start,
    Tick,
    VoterSet,
)
from kwire.messages import a52_vote, a53_begin_quorum_epoch, a54_end_quorum_epoch
from kwire.messages.a01_fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    ReplicaState,
)
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.messages.a53_begin_quorum_epoch import BeginQuorumEpochRequest
from kwire.messages.a54_end_quorum_epoch import EndQuorumEpochRequest
from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from memory_log import MemoryLog
from tests.support.controller.raft.virtual_network import (
    CLUSTER_ID,
    START,
    config,
    directory,
    endpoints,
    key,
    snapshot,
    static_voters,
    voter_set,
)

R = TypeVar("R", bound=Response)
Q = TypeVar("Q", bound=Request)


class SingleReplica:
    """Replica 1 of the voters 1, 2, 3, or what the arguments say. Chance always gives 0."""

    def __init__(
        self,
        *,
        voters: VoterSet | None = None,
        election: ElectionState | None = None,
        log: MemoryLog | None = None,
        is_replaying: bool = False,
        **settings: Any,
    ) -> None:
        self.log = log or MemoryLog()
        if not settings.get("static_voters") and not self.log.snapshots():
            chosen = voter_set(1, 2, 3) if voters is None else voters
            self.log.store_snapshot(BOOTSTRAP_SNAPSHOT, snapshot(chosen))
        self.config: Config = config(1, **settings)
        self.now = START
        self.effects: list[RaftEffect] = []
        self.flushes = True
        self._tokens = 0
        self.raft = Raft(self.config, self.log, election, below=lambda limit: 0)
        self.step(Start(is_replaying=is_replaying))

    def step(self, event: RaftEvent) -> list[RaftEffect]:
        """Give it an event, carry out what concerns the log."""
        effects = self.raft.step(event, self.now)
        self.effects += effects
        for effect in effects:
            told = self.log.carry_out(effect)
            if told is not None and self.flushes:
                effects = effects + self.step(told)
        return effects

    def after(self, milliseconds: int) -> list[RaftEffect]:
        """Let time pass, all at once."""
        self.now += milliseconds
        return self.step(Tick())

    def ask(self, request: Request, version: int | None = None) -> list[Response]:
        """Its answers within the step: none where it waits."""
        self._tokens += 1
        token = f"request-{self._tokens}"
        version = max(type(request).versions) if version is None else version
        self.step(RequestReceived(token=token, request=request, version=version))
        return self.replies(token)

    @property
    def last_token(self) -> str:
        """Of the last request."""
        return f"request-{self._tokens}"

    def replies(self, token: str) -> list[Response]:
        """Return the responses to a request so far."""
        return [e.response for e in self.effects if isinstance(e, Reply) and e.token == token]

    def sent(self, kind: type[Q]) -> list[tuple[Send, Q]]:
        """Every request of a kind that it sent."""
        sends = [effect for effect in self.effects if isinstance(effect, Send)]
        return [(send, send.request) for send in sends if isinstance(send.request, kind)]

    def respond(self, send: Send, response: Response) -> list[RaftEffect]:
        """Answer one of its requests."""
        return self.step(ResponseReceived(correlation=send.correlation, response=response))

    def forget(self) -> None:
        """Look only at what comes from now on."""
        self.effects.clear()

    @property
    def election(self) -> ElectionState:
        """The replica's state on its disk."""
        written = [e.data for e in self.effects if isinstance(e, PersistElection)]
        return ElectionState.from_data(written[-1])


def unattached(epoch: int = 5, **settings: Any) -> SingleReplica:
    """Return a replica that knows an epoch and no leader or vote in it."""
    return SingleReplica(election=ElectionState(epoch=epoch), **settings)


def follower(epoch: int = 5, leader: int = 2, **settings: Any) -> SingleReplica:
    """Return a replica that follows a leader that has not answered a fetch yet."""
    election = ElectionState(epoch=epoch, leader_id=leader)
    return SingleReplica(election=election, **settings)


def candidate(epoch: int = 5, **settings: Any) -> SingleReplica:
    """Return a replica that has voted for itself."""
    election = ElectionState(epoch=epoch, voted_key=key(1))
    return SingleReplica(election=election, **settings)


def prospective(epoch: int = 5, **settings: Any) -> SingleReplica:
    """Return a replica that asks for pre-votes."""
    solo = unattached(epoch, **settings)
    solo.after(solo.config.election_timeout_ms)
    return solo


def leader(epoch: int = 5, *, committed: bool = True, **settings: Any) -> SingleReplica:
    """Return an elected leader. committed: voter 2 has fetched the first batch."""
    solo = candidate(epoch, **settings)
    if solo.raft.role == "candidate":
        send, _ = solo.sent(VoteRequest)[0]
        solo.respond(send, vote_response(epoch, granted=True))
    if committed and len(solo.raft.voters) > 1:
        solo.ask(fetch_request(2, epoch, solo.raft.end_offset, epoch, max_wait_ms=0))
    solo.forget()
    return solo


def static_leader() -> SingleReplica:
    """Return a leader of three voters with kraft.version 0."""
    return leader(static_voters=static_voters(1, 2, 3), bootstrap_servers=())


def resigned(epoch: int = 5, **settings: Any) -> SingleReplica:
    """Led this epoch before it was restarted."""
    election = ElectionState(epoch=epoch, leader_id=1)
    return SingleReplica(election=election, **settings)


def observer(**settings: Any) -> SingleReplica:
    """Return a replica that is formatted without voters."""
    return SingleReplica(voters=VoterSet(), static_voters=VoterSet(), **settings)


def log_with(*epochs: int, voters: VoterSet | None = None) -> MemoryLog:
    """A log with one record a batch, of these epochs."""
    log = MemoryLog()
    log.store_snapshot(BOOTSTRAP_SNAPSHOT, snapshot(voters or voter_set(1, 2, 3)))
    log.append(batches(0, *epochs))
    log.flushed = len(epochs)
    return log


def batches(base: int, *epochs: int) -> bytes:
    """Batches of one record each."""
    return b"".join(
        build_batch([Record(value=b"x")], base_offset=base + n, partition_leader_epoch=epoch)
        for n, epoch in enumerate(epochs)
    )


def vote_request(
    epoch: int,
    candidate: ReplicaKey | None = None,
    *,
    last: tuple[int, int] = (0, 0),
    pre_vote: bool = False,
    voter: ReplicaKey | None = None,
    cluster_id: str | None = CLUSTER_ID,
) -> VoteRequest:
    """From replica 2, to replica 1. last: offset and epoch of the candidate's log."""
    sender, receiver = candidate or key(2), voter or key(1)
    asked = a52_vote.PartitionData(
        replica_epoch=epoch,
        replica_id=sender.id,
        replica_directory_id=sender.wire_directory_id,
        voter_directory_id=receiver.wire_directory_id,
        last_offset=last[0],
        last_offset_epoch=last[1],
        pre_vote=pre_vote,
    )
    topic = a52_vote.TopicData(topic_name=METADATA_TOPIC, partitions=[asked])
    return VoteRequest(cluster_id=cluster_id, voter_id=receiver.id, topics=[topic])


def vote_response(
    epoch: int, *, granted: bool, leader_id: int = -1, error: int = 0
) -> VoteResponse:
    """From a voter."""
    answer = a52_vote.ResponsePartitionData(
        error_code=error, leader_id=leader_id, leader_epoch=epoch, vote_granted=granted
    )
    topic = a52_vote.ResponseTopicData(topic_name=METADATA_TOPIC, partitions=[answer])
    return VoteResponse(topics=[topic])


def begin_request(
    epoch: int,
    leader: int = 2,
    *,
    receiver: ReplicaKey | None = None,
    cluster_id: str | None = CLUSTER_ID,
    with_endpoints: bool = True,
) -> BeginQuorumEpochRequest:
    """From a leader, to replica 1."""
    voter = receiver or key(1)
    told = a53_begin_quorum_epoch.PartitionData(
        voter_directory_id=voter.wire_directory_id, leader_id=leader, leader_epoch=epoch
    )
    listeners = endpoints(leader).groups(a53_begin_quorum_epoch.LeaderEndpoint)
    return BeginQuorumEpochRequest(
        cluster_id=cluster_id,
        voter_id=voter.id,
        topics=[a53_begin_quorum_epoch.TopicData(topic_name=METADATA_TOPIC, partitions=[told])],
        leader_endpoints=listeners if with_endpoints else [],
    )


def end_request(
    epoch: int,
    successors: Iterable[ReplicaKey] = (),
    leader: int = 2,
    *,
    cluster_id: str | None = CLUSTER_ID,
) -> EndQuorumEpochRequest:
    """From a leader that resigns, to replica 1."""
    told = a54_end_quorum_epoch.PartitionData(
        leader_id=leader,
        leader_epoch=epoch,
        preferred_candidates=[
            a54_end_quorum_epoch.ReplicaInfo(
                candidate_id=successor.id, candidate_directory_id=successor.wire_directory_id
            )
            for successor in successors
        ],
    )
    topic = a54_end_quorum_epoch.TopicData(topic_name=METADATA_TOPIC, partitions=[told])
    return EndQuorumEpochRequest(cluster_id=cluster_id, topics=[topic])


def fetch_request(
    replica: int,
    epoch: int,
    offset: int,
    last_epoch: int,
    *,
    max_wait_ms: int = 500,
    high_watermark: int = 1 << 62,
    cluster_id: str | None = CLUSTER_ID,
    directory_id: UUID | None = None,
) -> FetchRequest:
    """From a replica that knows every high watermark already, unless it says which."""
    asked = FetchPartition(
        current_leader_epoch=epoch,
        fetch_offset=offset,
        last_fetched_epoch=last_epoch,
        replica_directory_id=directory(replica) if directory_id is None else directory_id,
        high_watermark=high_watermark,
    )
    return FetchRequest(
        cluster_id=cluster_id,
        replica_state=ReplicaState(replica_id=replica),
        max_wait_ms=max_wait_ms,
        max_bytes=1 << 20,
        topics=[FetchTopic(topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[asked])],
    )


def fetch_response(
    epoch: int,
    leader_id: int = 2,
    *,
    error: int = 0,
    records: bytes = b"",
    high_watermark: int = -1,
    names_endpoint: bool = False,
    **more: Any,
) -> FetchResponse:
    """From a leader, or from one who knows it. more: diverging_epoch or snapshot_id."""
    answer = PartitionData(
        error_code=error,
        high_watermark=high_watermark,
        current_leader=LeaderIdAndEpoch(leader_id=leader_id, leader_epoch=epoch),
        records=records,
        **more,
    )
    topic = FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[answer])
    node = NodeEndpoint(node_id=leader_id, host=f"c{leader_id}", port=9000 + leader_id)
    return FetchResponse(responses=[topic], node_endpoints=[node] if names_endpoint else [])


class _HasError(Protocol):
    @property
    def error_code(self) -> int: ...


def code(response: Response) -> int:
    """The error code of a response that has one for all of it."""
    return cast(_HasError, response).error_code


def only(responses: list[Response], kind: type[R]) -> R:
    """The one answer."""
    (response,) = responses
    assert isinstance(response, kind)
    return response
