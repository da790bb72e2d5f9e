"""What a change of the voter set would meet, found out before it is asked for (KIP-853).

Kafka's own tool wants the directory id and the endpoints of a new voter from its properties file,
and its dry run asks nobody. Here both are asked of the cluster: the leader knows the directory id
of every observer, any controller the address of every registered one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING
from uuid import UUID

from kwire.admin.cluster import Node
from kwire.admin.quorum import QuorumInfo, RaftVoterEndpoint, ReplicaState
from kwire.errors import KwireError
from kwire.messages.a52_vote import VoteRequest
from kwire.net.connection import Connection
from kwire.text.ids import uuid_text

if TYPE_CHECKING:
    from kwire.admin.client import AdminClient

SILENT_MS = 5_000
"""Milliseconds without a fetch after which a replica counts as down; they fetch twice a second."""

LAG = 1_000
"""Records an observer may be behind before it is said that it has to catch up first."""

CONNECT_TIMEOUT = 2.0
"""Seconds for a new voter to answer at its endpoint."""


class Verdict(Enum):
    """What a check says of the change."""

    FINE = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at, in a sentence."""

    verdict: Verdict
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterChange:
    """A voter to add or to remove, and what was found out about it.

    directory_id: None where it could not be inferred. endpoints: empty for a removal.
    """

    voter_id: int
    directory_id: UUID | None
    endpoints: tuple[RaftVoterEndpoint, ...] = ()
    checks: tuple[Check, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """Why it will fail, or would leave the quorum without a majority."""
        return tuple(one.text for one in self.checks if one.verdict is Verdict.PROBLEM)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What whoever asks for it should know."""
        return tuple(one.text for one in self.checks if one.verdict is Verdict.WARNING)


async def plan_addition(
    admin: AdminClient,
    controllers: AdminClient,
    voter_id: int,
    *,
    directory_id: UUID | None = None,
    endpoints: Sequence[RaftVoterEndpoint] = (),
) -> VoterChange:
    """`addition`, asked of the cluster, and whether the new voter answers at its endpoints.

    controllers: a client of the controllers themselves; `admin` where it is one. It is asked only
    when no endpoints are given.
    """
    quorum = await admin.describe_metadata_quorum()
    nodes = () if endpoints else (await controllers.describe_cluster()).nodes.values()
    change = addition(quorum, nodes, voter_id, directory_id=directory_id, endpoints=endpoints)
    if change.problems:
        return change
    answers = [await _answers(endpoint) for endpoint in change.endpoints]
    return replace(change, checks=(*change.checks, *answers))


async def plan_removal(
    admin: AdminClient, voter_id: int, *, directory_id: UUID | None = None
) -> VoterChange:
    """`removal`, asked of the cluster."""
    quorum = await admin.describe_metadata_quorum()
    return removal(quorum, voter_id, directory_id=directory_id)


def addition(
    quorum: QuorumInfo,
    controllers: Iterable[Node],
    voter_id: int,
    *,
    directory_id: UUID | None = None,
    endpoints: Sequence[RaftVoterEndpoint] = (),
) -> VoterChange:
    """The addition of a controller, with what was not given inferred.

    1. The id must not vote yet, whatever its directory id (126 otherwise).
    2. directory_id: that of the one observer with this id.
    3. endpoints: the registered controller's address, under the name the voters' listener has.
    4. A majority of the voters, the new one counted, must be fetching.
    """
    same_id = [one for one in quorum.observers if one.replica_id == voter_id]
    meant = [one for one in same_id if directory_id in (None, one.replica_directory_id)]
    found = tuple(endpoints) or tuple(_registered(quorum, controllers, voter_id))
    checks = [*_not_static(quorum), *_not_a_voter(quorum, voter_id)]
    if not checks:
        checks += _one_observer(quorum, voter_id, same_id, meant)
        checks += _has_endpoint(voter_id, found) if meant else ()
        checks += _majority(quorum, [*quorum.voters, *meant[:1]])
    voting = [one for one in quorum.voters if one.replica_id == voter_id]
    replicas = meant if len(meant) == 1 else voting
    inferred = replicas[0].replica_directory_id if replicas else None
    return VoterChange(
        voter_id=voter_id,
        directory_id=directory_id or inferred,
        endpoints=found,
        checks=tuple(checks),
    )


def removal(quorum: QuorumInfo, voter_id: int, *, directory_id: UUID | None = None) -> VoterChange:
    """The removal of a voter, with its directory id inferred.

    1. The id, and the directory id if one is given, must be those of a voter (127 otherwise).
    2. A leader hands over first: somebody else is elected.
    3. A majority of those that remain must be fetching.
    """
    voter = next((one for one in quorum.voters if one.replica_id == voter_id), None)
    checks = [*_not_static(quorum), *_is_a_voter(quorum, voter_id, voter, directory_id)]
    if not checks:
        if voter_id == quorum.leader_id:
            text = f"controller {voter_id} leads: it resigns, and another voter is elected"
            checks.append(Check(Verdict.WARNING, text))
        checks += _majority(quorum, [one for one in quorum.voters if one is not voter])
    inferred = voter.replica_directory_id if voter else None
    return VoterChange(
        voter_id=voter_id, directory_id=directory_id or inferred, checks=tuple(checks)
    )


def _not_static(quorum: QuorumInfo) -> Iterator[Check]:
    if quorum.voters and all(one.replica_directory_id is None for one in quorum.voters):
        yield _problem(
            "the voters are static, set by controller.quorum.voters; they can be changed when the"
            " feature kraft.version is 1"
        )


def _not_a_voter(quorum: QuorumInfo, voter_id: int) -> Iterator[Check]:
    for one in quorum.voters:
        if one.replica_id == voter_id:
            yield _problem(f"{_named(one)} is a voter already")


def _is_a_voter(
    quorum: QuorumInfo, voter_id: int, voter: ReplicaState | None, directory_id: UUID | None
) -> Iterator[Check]:
    if voter is None:
        ids = ", ".join(str(one.replica_id) for one in quorum.voters)
        yield _problem(f"controller {voter_id} is no voter; the voters are {ids}")
    elif directory_id is not None and directory_id != voter.replica_directory_id:
        yield _problem(f"the voter is {_named(voter)}, not {uuid_text(directory_id)}")


def _one_observer(
    quorum: QuorumInfo,
    voter_id: int,
    same_id: Sequence[ReplicaState],
    meant: Sequence[ReplicaState],
) -> Iterator[Check]:
    if not same_id:
        yield _problem(
            f"controller {voter_id} does not follow the quorum: format it with"
            " --no-initial-controllers and start it"
        )
    elif len(meant) != 1:
        known = " and ".join(_directory(one) for one in same_id)
        yield _problem(f"controller {voter_id} follows with directory id {known}: name one of them")
    elif _silent(quorum, meant[0]):
        yield _problem(f"controller {voter_id} no longer fetches from the leader: start it")
    elif (lag := quorum.lag(meant[0]) or 0) > LAG:
        text = f"controller {voter_id} is {lag} records behind and has to catch up first"
        yield Check(Verdict.WARNING, text)
    else:
        yield Check(Verdict.FINE, f"{_named(meant[0])} follows the leader")


def _registered(
    quorum: QuorumInfo, controllers: Iterable[Node], voter_id: int
) -> Iterator[RaftVoterEndpoint]:
    """Kafka registers addresses without the listener's name: it is the one that all voters have."""
    names = [one.endpoints[0].name for one in quorum.nodes.values() if one.endpoints]
    for node in controllers:
        if node.node_id == voter_id and names:
            yield RaftVoterEndpoint(name=names[0], host=node.host, port=node.port)


def _has_endpoint(voter_id: int, endpoints: Sequence[RaftVoterEndpoint]) -> Iterator[Check]:
    if not endpoints:
        yield _problem(
            f"no controller {voter_id} is registered, so that its endpoint is not known: it may"
            " have just started, or be a broker, which follows the quorum but cannot vote"
        )


async def _answers(endpoint: RaftVoterEndpoint) -> Check:
    """Whether a controller answers there. Which one it is only the leader finds out."""
    try:
        connection = await Connection.open(
            endpoint.host, endpoint.port, connect_timeout=CONNECT_TIMEOUT
        )
    except KwireError as error:
        return _problem(f"{endpoint} does not answer: {error}")
    async with connection:
        if VoteRequest.key not in connection.node.api_versions:
            return _problem(f"{endpoint} is no controller: it takes no votes")
    return Check(Verdict.FINE, f"a controller answers at {endpoint}")


def _majority(quorum: QuorumInfo, voters: Sequence[ReplicaState]) -> Iterator[Check]:
    """Whether those of the future voters that fetch now are enough to commit anything."""
    if not voters:
        yield _problem("the last voter cannot be removed")
        return
    silent = [one.replica_id for one in voters if _silent(quorum, one)]
    needed = len(voters) // 2 + 1
    text = f"{len(voters) - len(silent)} of {len(voters)} voters would fetch, {needed} are needed"
    if len(voters) - len(silent) < needed:
        down = ", ".join(map(str, silent))
        yield _problem(f"{text}: start {down} first")
    else:
        yield Check(Verdict.FINE, text)


def _silent(quorum: QuorumInfo, replica: ReplicaState) -> bool:
    """Whether the leader has not heard of it for long; its own times are the clock."""
    leader = quorum.leader
    if leader is None or leader.last_fetch_timestamp is None or replica is leader:
        return False
    last = replica.last_fetch_timestamp
    return last is not None and leader.last_fetch_timestamp - last > SILENT_MS


def _named(replica: ReplicaState) -> str:
    return f"controller {replica.replica_id} with directory id {_directory(replica)}"


def _directory(replica: ReplicaState) -> str:
    return uuid_text(replica.replica_directory_id) if replica.replica_directory_id else "unknown"


def _problem(text: str) -> Check:
    return Check(Verdict.PROBLEM, text)
