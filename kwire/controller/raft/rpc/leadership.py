"""What every message between replicas tells about the leader, and what is done with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol, TypeVar

from kwire.controller.raft.endpoints import NOWHERE, Endpoints
from kwire.controller.raft.events import RequestReceived
from kwire.controller.raft.replica import Replica
from kwire.controller.raft.rpc import checks
from kwire.controller.raft.rpc.partition import NamedTopic, only_partition
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


class Answer(Protocol):
    """The partition in a response to Vote, BeginQuorumEpoch or EndQuorumEpoch."""

    @property
    def error_code(self) -> int: ...
    @property
    def leader_id(self) -> int: ...
    @property
    def leader_epoch(self) -> int: ...


A = TypeVar("A", bound=Answer, covariant=True)


class ElectionResponse(Protocol[A]):
    """A response to one of them."""

    @property
    def error_code(self) -> int: ...
    @property
    def topics(self) -> Sequence[NamedTopic[A]]: ...
    @property
    def node_endpoints(self) -> Sequence[NodeEndpoint]: ...


class ToldByLeader(Protocol):
    """The partition in a BeginQuorumEpoch or EndQuorumEpoch."""

    @property
    def leader_id(self) -> int: ...
    @property
    def leader_epoch(self) -> int: ...


class Outcome(Enum):
    """DONE: no more to do with this response. RETRY: the same, after a pause. READ: read on."""

    DONE = auto()
    RETRY = auto()
    READ = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """Somebody's epoch and leader; -1 on the wire where there is no leader."""

    epoch: int
    leader_id: int
    endpoints: Endpoints = NOWHERE
    error: int = ErrorCode.NONE

    @classmethod
    def of_response(
        cls,
        replica: Replica,
        error: int,
        epoch: int,
        leader_id: int,
        nodes: Iterable[NodeEndpoint],
    ) -> News:
        """The leader's address is in the response, or else in the voter set."""
        listener = replica.config.listener
        found = (n for n in nodes if n.node_id == leader_id)
        told = next((Endpoints.single(listener, n.host, n.port) for n in found), NOWHERE)
        known = told or replica.history.voters.endpoints(leader_id)
        return cls(epoch=epoch, leader_id=leader_id, endpoints=known, error=error)


def leader_id(replica: Replica) -> int:
    """As messages write it."""
    known = replica.role.leader_id
    return -1 if known is None else known


def node_endpoints(
    replica: Replica, received: RequestReceived, make: Callable[..., G], since: int
) -> list[G]:
    """The leader's address on the listener that the request came to, from version `since` on."""
    known = replica.role.leader_id
    address = replica.role.leader_endpoints.address(received.listener)
    if known is None or address is None or received.version < since:
        return []
    return [make(node_id=known, host=address.host, port=address.port)]


def learn_from_leader(
    replica: Replica, told: ToldByLeader, named: Endpoints, now: int
) -> ErrorCode | None:
    """Take over what a leader says of itself; the error where it is not believed.

    1. An epoch that is over: FENCED_LEADER_EPOCH. No leader id: INVALID_REQUEST.
    2. Learn it, at the endpoints it names, or those of the voter set (version 0). Another leader
       than the epoch already has: INVALID_REQUEST.
    """
    if error := checks.sent_by_voter(replica, told.leader_id, told.leader_epoch):
        return error
    endpoints = named or replica.history.voters.endpoints(told.leader_id)
    news = News(epoch=told.leader_epoch, leader_id=told.leader_id, endpoints=endpoints)
    return None if learn_from_request(replica, news, now) else ErrorCode.INVALID_REQUEST


def learn_from_request(replica: Replica, news: News, now: int) -> bool:
    """Take over a leader or a greater epoch (KafkaRaftClient.maybeTransition).

    1. Two leaders of one epoch cannot be: false, and nothing changes.
    2. A greater epoch: follow its leader, or be unattached in it.
    3. This epoch's leader, so far unknown, or at more endpoints than known: follow it.
    """
    role, config = replica.role, replica.config
    leader = None if news.leader_id < 0 else news.leader_id
    if leader == config.node_id:
        return news.epoch < role.epoch or role.leader_id == leader
    if news.epoch == role.epoch and None not in (leader, role.leader_id):
        if leader != role.leader_id:
            return False
        if len(news.endpoints) > len(role.leader_endpoints):
            _follow(replica, news, now)
    elif news.epoch > role.epoch or (news.epoch == role.epoch and leader is not None):
        _follow(replica, news, now)
    return True


def _follow(replica: Replica, news: News, now: int) -> None:
    leader = None if news.leader_id < 0 else news.leader_id
    if leader is not None and news.endpoints.address(replica.config.listener):
        to_follower(replica, news.epoch, leader, news.endpoints, now)
    elif news.epoch > replica.epoch:
        to_unattached(replica, news.epoch, leader, now)


def read_answer(
    replica: Replica, response: ElectionResponse[A], now: int, take: Callable[[A], None]
) -> bool:
    """What responses to Vote, BeginQuorumEpoch and EndQuorumEpoch have in common; false where the
    same is to be asked again, after a pause.

    1. An error of the whole response, or another partition: false.
    2. Learn epoch and leader; that may be all there is to do.
    3. An error of the partition: false. Else `take` what it says.
    """
    answer = only_partition(response.topics)
    if response.error_code or answer is None:
        return False
    error, epoch, leader = answer.error_code, answer.leader_epoch, answer.leader_id
    news = News.of_response(replica, error, epoch, leader, response.node_endpoints)
    outcome = learn_from_response(replica, news, now)
    if outcome is not Outcome.READ:
        return outcome is Outcome.DONE
    if not error:
        take(answer)
    return not error


def learn_from_response(replica: Replica, news: News, now: int) -> Outcome:
    """What all responses have in common (KafkaRaftClient.maybeHandleCommonResponse).

    1. From an epoch that is over, or UNKNOWN_LEADER_EPOCH, which means the same: DONE.
    2. A greater epoch, FENCED_LEADER_EPOCH or NOT_LEADER_OR_FOLLOWER: learn, then DONE. Where that
       teaches nothing, as from a leader that resigned and still names itself: RETRY.
    3. This epoch's leader was unknown: follow it. An error is then DONE, a success READ: an
       observer appends from the very answer that told it the leader.
    4. BROKER_NOT_AVAILABLE, INVALID_REQUEST: RETRY. INVALID_VOTER_KEY: DONE.
    5. READ.
    """
    error = news.error
    if news.epoch < replica.epoch or error == ErrorCode.UNKNOWN_LEADER_EPOCH:
        return Outcome.DONE
    is_elsewhere = error in (ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if news.epoch > replica.epoch or is_elsewhere:
        before = replica.role
        learn_from_request(replica, news, now)
        return Outcome.DONE if replica.role is not before else Outcome.RETRY
    if replica.role.leader_id is None and news.leader_id >= 0:
        learn_from_request(replica, news, now)
        return Outcome.READ if error == ErrorCode.NONE else Outcome.DONE
    if error in (ErrorCode.BROKER_NOT_AVAILABLE, ErrorCode.INVALID_REQUEST):
        return Outcome.RETRY
    return Outcome.DONE if error == ErrorCode.INVALID_VOTER_KEY else Outcome.READ
