"""The metadata quorum as far as the traffic shows it: its leader, and the end of each log.

Fetches of the metadata log tell where a replica is, how far the log is committed and who leads
(KIP-595). Elections tell who leads, and who votes: Vote goes from voter to voter, BeginQuorumEpoch
from the leader to each voter. AddRaftVoter and RemoveRaftVoter change the voters (KIP-853), and
DescribeQuorum tells all of it at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from kwire.messages.a01_fetch import FetchRequest, FetchResponse
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.messages.a53_begin_quorum_epoch import BeginQuorumEpochRequest
from kwire.messages.a54_end_quorum_epoch import EndQuorumEpochRequest
from kwire.messages.a55_describe_quorum import DescribeQuorumResponse, ReplicaState
from kwire.messages.a80_add_raft_voter import AddRaftVoterRequest
from kwire.messages.a81_remove_raft_voter import RemoveRaftVoterRequest
from kwire.messages.metadata_topic import is_metadata_topic
from kwire.messages.registry import api_keys
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.peers import node_of_request

QUORUM_APIS = api_keys(
    "Fetch",
    "Vote",
    "BeginQuorumEpoch",
    "EndQuorumEpoch",
    "DescribeQuorum",
    "AddRaftVoter",
    "RemoveRaftVoter",
)
"""The APIs whose messages say something about the quorum."""

REPLICAS = 200
"""Replicas that are remembered: a peer may send any ids."""

CHANGES = 500
"""Changes of the quorum that are remembered, the latest ones."""

RECENT = 20
"""Changes among which one that is told to the next voter is no new one."""

VOTER, OBSERVER = "voter", "observer"


@dataclass(slots=True)
class SeenReplica:
    """A replica of the metadata log. role: VOTER, OBSERVER, or empty where not known.

    offset: the end of its log, as it was at `at`, Unix seconds; -1 where not known.
    """

    node_id: int
    role: str = ""
    offset: int = -1
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class QuorumChange:
    """Something that changed in the quorum, in words.

    rpc: the RPC that shows it, by the number of its connection and its correlation id.
    """

    at: float
    epoch: int
    text: str
    rpc: tuple[int, int]


class QuorumSeen:
    """The leader and the replicas by id. leader_id, epoch, high_watermark: -1 where not known.

    changes: elections, leaders, epochs and voters that changed, in the order in which they passed.
    """

    def __init__(self) -> None:
        self.leader_id = -1
        self.epoch = -1
        self.high_watermark = -1
        self.changes: deque[QuorumChange] = deque(maxlen=CHANGES)
        self._replicas: dict[int, SeenReplica] = {}

    @property
    def replicas(self) -> list[SeenReplica]:
        """The replicas in the order of their ids."""
        return sorted(self._replicas.values(), key=lambda replica: replica.node_id)

    def lag(self, replica: SeenReplica) -> int | None:
        """Return the number of committed records not yet in its log, None if not known."""
        if replica.node_id == self.leader_id:
            return 0
        if replica.offset < 0 or self.high_watermark < 0:
            return None
        return max(self.high_watermark - replica.offset, 0)

    def log_end(self, replica: SeenReplica) -> int:
        """Return the end of its log, -1 where not known. The leader has all that is committed."""
        if replica.node_id == self.leader_id:
            return max(replica.offset, self.high_watermark)
        return replica.offset

    def add(self, decoded: DecodedFlow) -> None:
        """Learn from one more flow."""
        if decoded.flow.key not in QUORUM_APIS:
            return
        before = self.leader_id, self.epoch
        self._learn(decoded)
        if before != (self.leader_id, self.epoch) and self.leader_id >= 0:
            self._note(decoded, self.epoch, f"{self.leader_id} leads")
        elif before[0] >= 0 and self.leader_id < 0:
            self._note(decoded, self.epoch, "no leader")

    def _note(self, decoded: DecodedFlow, epoch: int, text: str) -> None:
        flow = decoded.flow
        rpc = flow.connection.number, flow.correlation_id
        self.changes.append(QuorumChange(flow.at, epoch, text, rpc))

    def _note_once(self, decoded: DecodedFlow, epoch: int, text: str) -> None:
        """Note what is said to every voter."""
        latest = islice(reversed(self.changes), RECENT)
        if (epoch, text) not in ((change.epoch, change.text) for change in latest):
            self._note(decoded, epoch, text)

    def _learn(self, decoded: DecodedFlow) -> None:
        if (request := decoded.request_as(FetchRequest)) is not None:
            self._fetch(decoded, request)
        elif (began := decoded.request_as(BeginQuorumEpochRequest)) is not None:
            for topic in began.topics:
                for partition in topic.partitions:
                    self._lead(partition.leader_id, partition.leader_epoch)
                    self._votes(began.voter_id, decoded.flow.connection.node_id)
        elif (asked := decoded.request_as(VoteRequest)) is not None:
            self._elect(decoded, asked)
        elif (ended := decoded.request_as(EndQuorumEpochRequest)) is not None:
            for end in (partition for topic in ended.topics for partition in topic.partitions):
                self._note_once(decoded, end.leader_epoch, f"{end.leader_id} resigns")
        elif (added := decoded.request_as(AddRaftVoterRequest)) is not None:
            self._change_voter(decoded, added.voter_id, VOTER, "added")
        elif (removed := decoded.request_as(RemoveRaftVoterRequest)) is not None:
            self._change_voter(decoded, removed.voter_id, OBSERVER, "removed")
        elif (described := decoded.response_as(DescribeQuorumResponse)) is not None:
            self._describe(described, decoded)

    def _change_voter(self, decoded: DecodedFlow, node_id: int, role: str, what: str) -> None:
        if decoded.response is not None and not decoded.failures:
            self._has_role(node_id, role)
            self._note(decoded, self.epoch, f"voter {node_id} {what}")

    def _elect(self, decoded: DecodedFlow, request: VoteRequest) -> None:
        """Note a candidate and the node that it asks as voters, and the leader in the answer."""
        asked = [partition for topic in request.topics for partition in topic.partitions]
        if asked:
            candidates = (partition.replica_id for partition in asked)
            self._votes(request.voter_id, decoded.flow.connection.node_id, *candidates)
        for partition in asked:
            what = "asks for pre-votes" if partition.pre_vote else "asks for votes"
            self._note_once(decoded, partition.replica_epoch, f"{partition.replica_id} {what}")
        vote = decoded.response_as(VoteResponse)
        for answered in vote.topics if vote is not None else ():
            for voted in answered.partitions:
                self._lead(voted.leader_id, voted.leader_epoch)

    def _votes(self, *node_ids: int | None) -> None:
        for node_id in node_ids:
            if node_id is not None and node_id >= 0:
                self._has_role(node_id, VOTER)

    def _has_role(self, node_id: int, role: str) -> None:
        known = self._replica(node_id)
        if known is not None:
            known.role = role

    def _fetch(self, decoded: DecodedFlow, request: FetchRequest) -> None:
        offset = next(_offsets(request), None)
        if offset is None:
            return
        node_id = node_of_request(request)
        if node_id is not None:
            self._place(node_id, offset, decoded.flow.at)
        response = decoded.response_as(FetchResponse)
        for topic in response.responses if response is not None else ():
            for partition in topic.partitions:
                leader = partition.current_leader
                if leader is not None:
                    self._lead(leader.leader_id, leader.leader_epoch)
                elif not partition.error_code:
                    self._answered(decoded, request)
                self.high_watermark = max(self.high_watermark, partition.high_watermark)

    def _answered(self, decoded: DecodedFlow, request: FetchRequest) -> None:
        """Note the node as leader: no other answers Fetch of the metadata log without error."""
        node_id = decoded.flow.connection.node_id
        if node_id is not None:
            self._lead(node_id, request.topics[0].partitions[0].current_leader_epoch)

    def _describe(self, response: DescribeQuorumResponse, decoded: DecodedFlow) -> None:
        for topic in response.topics:
            for partition in topic.partitions:
                # An answer from before an election that was seen since is out of date.
                if partition.error_code or partition.leader_epoch < self.epoch:
                    continue
                self._lead(partition.leader_id, partition.leader_epoch)
                self.high_watermark = max(self.high_watermark, partition.high_watermark)
                # This answer has all of them: those that it does not name are gone.
                before = self._voters
                self._replicas.clear()
                for role, replicas in (
                    (VOTER, partition.current_voters),
                    (OBSERVER, partition.observers),
                ):
                    self._roles(role, replicas, decoded.flow.at)
                if self._voters != before:
                    voters = ", ".join(map(str, sorted(self._voters)))
                    self._note(decoded, partition.leader_epoch, f"voters {voters}")

    @property
    def _voters(self) -> set[int]:
        return {node_id for node_id, known in self._replicas.items() if known.role == VOTER}

    def _roles(self, role: str, replicas: list[ReplicaState], at: float) -> None:
        for replica in replicas:
            self._place(replica.replica_id, replica.log_end_offset, at)
            self._has_role(replica.replica_id, role)

    def _replica(self, node_id: int) -> SeenReplica | None:
        """Return the replica of this id, None if there is no room for one more."""
        known = self._replicas.get(node_id)
        if known is None and len(self._replicas) < REPLICAS:
            known = self._replicas[node_id] = SeenReplica(node_id)
        return known

    def _place(self, node_id: int, offset: int, at: float) -> None:
        known = self._replica(node_id)
        if known is not None and at >= known.at:
            known.offset, known.at = offset, at

    def _lead(self, leader_id: int, epoch: int) -> None:
        known = (self.leader_id, self.epoch)
        # Flows may come late, of a node that is behind: an older epoch says nothing any more.
        if epoch > self.epoch or (epoch == self.epoch and leader_id >= 0):
            self.leader_id, self.epoch = leader_id, epoch
        if known != (self.leader_id, self.epoch):
            self._votes(leader_id)


def _offsets(request: FetchRequest) -> Iterator[int]:
    """Yield the offsets from which the metadata log is read."""
    for topic in request.topics:
        if is_metadata_topic(topic.topic, topic.topic_id):
            yield from (partition.fetch_offset for partition in topic.partitions)
