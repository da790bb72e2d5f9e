"""The leader and epoch that every message between replicas names, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol, TypeVar

from kwire.controller.raft.endpoints import NO_ENDPOINTS, Endpoints
from kwire.controller.raft.events import RequestReceived
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.roles import Follower, Role, Unattached
from kwire.controller.raft.rpc.partition import NamedTopic, only_partition
from kwire.controller.raft.rpc.validation import (
    GREATEST_ANSWERED,
    leaves_room,
    validate_voter_only_request,
)
from kwire.controller.raft.transitions import to_follower, to_unattached
from kwire.error_codes import ErrorCode

G = TypeVar("G")


class NodeEndpoint(Protocol):
    """The tagged NodeEndpoints of responses."""

    @property
    def node_id(self) -> int: ...
    @property
    def host(self) -> str: ...
    @property
    def port(self) -> int: ...


class LeaderPartition(Protocol):
    """The partition in a request of BeginQuorumEpoch or EndQuorumEpoch."""

    @property
    def leader_id(self) -> int: ...
    @property
    def leader_epoch(self) -> int: ...


class ElectionPartition(LeaderPartition, Protocol):
    """The partition in a response to Vote, BeginQuorumEpoch or EndQuorumEpoch."""

    @property
    def error_code(self) -> int: ...


P = TypeVar("P", bound=ElectionPartition, covariant=True)


class ElectionResponse(Protocol[P]):
    """A response to Vote, BeginQuorumEpoch or EndQuorumEpoch."""

    @property
    def error_code(self) -> int: ...
    @property
    def topics(self) -> Sequence[NamedTopic[P]]: ...
    @property
    def node_endpoints(self) -> Sequence[NodeEndpoint]: ...


class ResponseOutcome(Enum):
    """The work that a response leaves after its leader and epoch were taken over.

    DONE: nothing. RETRY: ask the same again, after a pause. READ: read the rest of it.
    """

    DONE = auto()
    RETRY = auto()
    READ = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderAndEpoch:
    """A peer's epoch and its leader; -1 on the wire for no leader.

    endpoints: of the leader. is_told: True if the response itself has its address. error: of the
    response that says so.
    """

    epoch: int
    leader_id: int
    endpoints: Endpoints = NO_ENDPOINTS
    is_told: bool = False
    error: int = ErrorCode.NONE

    @classmethod
    def of_response(
        cls,
        replica: Replica,
        error: int,
        epoch: int,
        leader_id: int,
        nodes: Iterable[NodeEndpoint],
    ) -> LeaderAndEpoch:
        """Take the leader's address from the response, or else from the voter set."""
        listener = replica.config.listener
        leader_nodes = (node for node in nodes if node.node_id == leader_id)
        endpoints = next(
            (Endpoints.single(listener, node.host, node.port) for node in leader_nodes),
            NO_ENDPOINTS,
        )
        return cls(
            epoch=epoch,
            leader_id=leader_id,
            endpoints=endpoints or replica.control_records.voters.endpoints(leader_id),
            is_told=bool(endpoints),
            error=error,
        )


def leader_id_or_sentinel(replica: Replica) -> int:
    """Return the leader's id as messages write it: -1 for none."""
    leader_id = replica.role.leader_id
    return -1 if leader_id is None else leader_id


def node_endpoints(
    replica: Replica, received: RequestReceived, make: Callable[..., G], since: int
) -> list[G]:
    """Return the leader's address on the listener that the request came to.

    Empty before version `since`, and while the address is not known.
    """
    leader_id = replica.role.leader_id
    address = replica.role.leader_endpoints.address(received.listener)
    if leader_id is None or address is None or received.version < since:
        return []
    return [make(node_id=leader_id, host=address.host, port=address.port)]


def follow_announced_leader(
    replica: Replica, announced: LeaderPartition, announced_endpoints: Endpoints, now: int
) -> ErrorCode | None:
    """Take over the leader that a BeginQuorumEpoch or EndQuorumEpoch names; return an error if not.

    1. A lower epoch: FENCED_LEADER_EPOCH. No leader id, or an
       epoch that leaves no room for elections: INVALID_REQUEST.
    2. Follow it, at the endpoints it names, or those of the voter set (version 0). Another leader
       than the epoch already has: INVALID_REQUEST.
    """
    # 1.
    if error := validate_voter_only_request(replica, announced.leader_id, announced.leader_epoch):
        return error
    # 2.
    endpoints = announced_endpoints or replica.control_records.voters.endpoints(announced.leader_id)
    leader_and_epoch = LeaderAndEpoch(
        epoch=announced.leader_epoch, leader_id=announced.leader_id, endpoints=endpoints
    )
    is_taken = maybe_transition(replica, leader_and_epoch, now)
    return None if is_taken else ErrorCode.INVALID_REQUEST


def maybe_transition(replica: Replica, seen: LeaderAndEpoch, now: int) -> bool:
    """Take over a leader or a greater epoch (KafkaRaftClient.maybeTransition).

    1. Two leaders of one epoch cannot be: return False, and nothing changes.
    2. A greater epoch: follow its leader, or be unattached in it.
    3. This epoch's leader, so far unknown, or at more endpoints than known: follow it.
    """
    role, config = replica.role, replica.config
    leader = None if seen.leader_id < 0 else seen.leader_id
    # 1. A peer's word about this replica's own leadership is no news: it knows best.
    if leader == config.node_id:
        return seen.epoch < role.epoch or role.leader_id == leader
    if seen.epoch == role.epoch and None not in (leader, role.leader_id):
        if leader != role.leader_id:
            return False
        # 3. More endpoints: a leader that was known from NodeEndpoints (one listener) sends all
        # its listeners with BeginQuorumEpoch.
        if len(seen.endpoints) > len(role.leader_endpoints):
            _follow(replica, seen, now)
    # 2., 3.
    elif seen.epoch > role.epoch or (seen.epoch == role.epoch and leader is not None):
        _follow(replica, seen, now)
    return True


def _follow(replica: Replica, seen: LeaderAndEpoch, now: int) -> None:
    leader = None if seen.leader_id < 0 else seen.leader_id
    if leader is not None and seen.endpoints.address(replica.config.listener):
        to_follower(replica, seen.epoch, leader, seen.endpoints, now)
    elif seen.epoch > replica.epoch:
        to_unattached(replica, seen.epoch, leader, now)


def handle_election_response(
    replica: Replica,
    response: ElectionResponse[P],
    now: int,
    take: Callable[[P], None] | None = None,
) -> bool:
    """Do what responses to Vote, BeginQuorumEpoch and EndQuorumEpoch have in common.

    1. An error of the whole response, or another partition: False.
    2. Take over epoch and leader; that may be all there is to do.
    3. An error of the partition: False. Else `take` what it says.

    Return False if the same is to be asked again, after a pause.
    """
    # 1.
    partition = only_partition(response.topics)
    if response.error_code or partition is None:
        return False
    # 2.
    error, epoch, leader = partition.error_code, partition.leader_epoch, partition.leader_id
    seen = LeaderAndEpoch.of_response(replica, error, epoch, leader, response.node_endpoints)
    outcome = handle_common_response(replica, seen, now)
    if outcome is not ResponseOutcome.READ:
        return outcome is ResponseOutcome.DONE
    # 3.
    if take is not None and not error:
        take(partition)
    return not error


def handle_common_response(replica: Replica, seen: LeaderAndEpoch, now: int) -> ResponseOutcome:
    """Take over epoch and leader of any response (KafkaRaftClient.maybeHandleCommonResponse).

    1. From a lower epoch, or UNKNOWN_LEADER_EPOCH, which means the same: DONE. From an epoch that
       leaves no room for elections: RETRY, as if nothing had come.
    2. A greater epoch, FENCED_LEADER_EPOCH or NOT_LEADER_OR_FOLLOWER: take it over, then DONE.
       RETRY if that changes nothing, as from a leader that resigned and still names itself.
    3. This epoch's leader, or its address, was unknown: follow it. With an error that is DONE, else
       READ.
    4. BROKER_NOT_AVAILABLE, INVALID_REQUEST: RETRY. INVALID_VOTER_KEY: DONE.
    5. READ.
    """
    error = seen.error
    # 1.
    if seen.epoch < replica.epoch or error == ErrorCode.UNKNOWN_LEADER_EPOCH:
        return ResponseOutcome.DONE
    if not leaves_room(replica, seen.epoch, GREATEST_ANSWERED):
        return ResponseOutcome.RETRY
    # 2.
    is_elsewhere = error in (ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if seen.epoch > replica.epoch or is_elsewhere:
        before = replica.role
        maybe_transition(replica, seen, now)
        # Without the pause two replicas would send this request back and forth as fast as they can.
        return ResponseOutcome.DONE if replica.role is not before else ResponseOutcome.RETRY
    # 3. An observer appends from the very answer that names the leader. After a restart it may know
    # the leader from quorum-state, and no address: its log has no voters yet.
    role = replica.role
    if seen.leader_id >= 0 and (role.leader_id is None or isinstance(role, Unattached)):
        maybe_transition(replica, seen, now)
        if role.leader_id is None or replica.role is not role:
            return ResponseOutcome.READ if error == ErrorCode.NONE else ResponseOutcome.DONE
    # 4.
    if error in (ErrorCode.BROKER_NOT_AVAILABLE, ErrorCode.INVALID_REQUEST):
        return ResponseOutcome.RETRY
    # 5.
    return ResponseOutcome.DONE if error == ErrorCode.INVALID_VOTER_KEY else ResponseOutcome.READ


def take_address(role: Role, seen: LeaderAndEpoch) -> None:
    """Take over the address of the followed leader from the response of a bootstrap server.

    Such a server is asked when the leader does not answer. Within its epoch a leader has one
    address; a replica that has started again has that of its voter set, which is old if the leader
    has moved. Java's keeps it, and never gets a snapshot from there.

    The leader itself, whose answers alone have no error, is believed. Others are until it has
    answered: their voter sets may be old as well.
    """
    if not isinstance(role, Follower) or not seen.is_told:
        return
    is_leader = (seen.epoch, seen.leader_id) == (role.epoch, role.leader_id)
    is_believed = seen.error == ErrorCode.NONE or not role.has_fetched_from_leader
    if is_leader and is_believed and not set(seen.endpoints) <= set(role.leader_endpoints):
        role.leader_endpoints = seen.endpoints


def reset_fetch_timeout(replica: Replica, follower: Follower, now: int) -> None:
    """Note that the leader answered (FollowerState.resetFetchTimeoutForSuccessfulFetch)."""
    follower.fetch_deadline = now + replica.random_fetch_timeout()
    follower.has_fetched_from_leader = True
    replica.request_manager.reset_bootstrap_backoff()
