"""Checks of a change of the voter set before it is asked for (KIP-853).

Kafka's own tool wants the directory id and the endpoints of a new voter from its properties file,
and its dry run asks no node. Here both are asked of the cluster: the leader knows the directory id
of every observer, any controller the address of every registered one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING
from uuid import UUID

from kwire.admin.cluster_description import ClusterNode
from kwire.admin.joining_controller import AUTO_JOIN, joins_by_itself
from kwire.admin.quorum import QuorumInfo, RaftVoterEndpoint, ReplicaState, is_silent
from kwire.errors import KwireError
from kwire.messages.a52_vote import VoteRequest
from kwire.net.address import Address
from kwire.net.secure_connect import SecureConnect
from kwire.net.security import PLAINTEXT, Security
from kwire.net.timeouts import DEFAULT_TIMEOUTS, Timeouts
from kwire.text.ids import uuid_text

if TYPE_CHECKING:
    from kwire.admin.client import AdminClient

LAG = 1_000
"""Records an observer may be behind without a warning that it has to catch up first."""


class CheckVerdict(Enum):
    """The result of a check of the change."""

    FINE = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class VoterChangeCheck:
    """The result of one check, with a sentence about it."""

    verdict: CheckVerdict
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VoterChangePlan:
    """A voter to add or to remove, and the results of the checks.

    directory_id: None if it could not be inferred. endpoints: empty for a removal.
    """

    voter_id: int
    directory_id: UUID | None
    endpoints: tuple[RaftVoterEndpoint, ...] = ()
    checks: tuple[VoterChangeCheck, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """The reasons why it will fail, or would leave the quorum without a majority."""
        return self._texts(CheckVerdict.PROBLEM)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The consequences that the caller should know."""
        return self._texts(CheckVerdict.WARNING)

    def _texts(self, verdict: CheckVerdict) -> tuple[str, ...]:
        return tuple(check.text for check in self.checks if check.verdict is verdict)


async def plan_addition(
    admin: AdminClient,
    controllers: AdminClient,
    voter_id: int,
    *,
    directory_id: UUID | None = None,
    endpoints: Sequence[RaftVoterEndpoint] = (),
    security: Security = PLAINTEXT,
    timeouts: Timeouts = DEFAULT_TIMEOUTS,
) -> VoterChangePlan:
    """Ask the cluster and return the checked plan of an addition.

    After the checks of `addition`, connect to the new voter at each of its endpoints.

    controllers: a client of the controllers themselves; `admin` if it is one. It is asked only if
    no endpoints are given.
    """
    quorum = await admin.describe_metadata_quorum()
    nodes = () if endpoints else (await controllers.describe_cluster()).nodes.values()
    plan = addition(quorum, nodes, voter_id, directory_id=directory_id, endpoints=endpoints)
    if plan.problems:
        return plan
    return await with_answers(plan, SecureConnect(security, timeouts=timeouts))


async def with_answers(plan: VoterChangePlan, connect: SecureConnect) -> VoterChangePlan:
    """Return the plan with a check more for each endpoint: a controller must answer there."""
    answers = [await _answers(connect, endpoint) for endpoint in plan.endpoints]
    return replace(plan, checks=(*plan.checks, *answers))


async def plan_removal(
    admin: AdminClient,
    voter_id: int,
    *,
    directory_id: UUID | None = None,
    security: Security = PLAINTEXT,
    timeouts: Timeouts = DEFAULT_TIMEOUTS,
) -> VoterChangePlan:
    """Ask the cluster and return the checked plan of a removal.

    After the checks of `removal` and `spare_voters`, ask the voter itself whether it would join
    again.
    """
    quorum = await admin.describe_metadata_quorum()
    plan = removal(quorum, voter_id, directory_id=directory_id)
    plan = replace(plan, checks=(*plan.checks, *spare_voters(quorum, voter_id)))
    node = quorum.nodes.get(voter_id)
    if plan.problems or node is None or not node.endpoints:
        return plan
    connect = SecureConnect(security, timeouts=timeouts)
    if await joins_by_itself(connect, node.endpoints[0], voter_id):
        text = (
            f"controller {voter_id} has {AUTO_JOIN}=true: it will soon be a voter again; stop it,"
            " or set that to false and restart it, before you remove it"
        )
        return replace(plan, checks=(*plan.checks, VoterChangeCheck(CheckVerdict.WARNING, text)))
    return plan


def addition(
    quorum: QuorumInfo,
    controllers: Iterable[ClusterNode],
    voter_id: int,
    *,
    directory_id: UUID | None = None,
    endpoints: Sequence[RaftVoterEndpoint] = (),
) -> VoterChangePlan:
    """Plan the addition of a controller; infer directory id and endpoints if they are not given.

    1. The id must not vote yet, whatever its directory id (126 otherwise).
    2. directory_id: that of the one observer with this id that fetches. The leader lists others
       for five minutes after their last fetch: disks that were replaced, processes that are gone.
    3. endpoints: the registered controller's address, under the name the voters' listener has.
    4. A majority of the voters, the new one counted, must be fetching.
    """
    same_id = [replica for replica in quorum.observers if replica.replica_id == voter_id]
    matching = [
        replica for replica in same_id if directory_id in (None, replica.replica_directory_id)
    ]
    fetching = [replica for replica in matching if not is_silent(quorum, replica)]
    matching = fetching or matching[:1]
    # 3.
    known_endpoints = tuple(endpoints) or tuple(_registered(quorum, controllers, voter_id))
    # 1.
    checks = [*_not_static(quorum), *_not_a_voter(quorum, voter_id)]
    if not checks:
        # 2.
        checks += _one_observer(quorum, voter_id, same_id, matching)
        checks += _has_endpoint(voter_id, known_endpoints) if matching else ()
        # 4.
        checks += _majority(quorum, [*quorum.voters, *matching[:1]])
    # A node that votes already is refused above; its directory id is inferred all the same, for
    # `--force`, which asks the leader in spite of the problem.
    voting = [replica for replica in quorum.voters if replica.replica_id == voter_id]
    replicas = matching if len(matching) == 1 else voting
    inferred = replicas[0].replica_directory_id if replicas else None
    return VoterChangePlan(
        voter_id=voter_id,
        directory_id=directory_id or inferred,
        endpoints=known_endpoints,
        checks=tuple(checks),
    )


def removal(
    quorum: QuorumInfo, voter_id: int, *, directory_id: UUID | None = None
) -> VoterChangePlan:
    """Plan the removal of a voter; infer its directory id if it is not given.

    1. The id, and the directory id if one is given, must be those of a voter (127 otherwise).
    2. A leader may be removed; it resigns, and another voter is elected: a warning.
    3. A majority of those that remain must be fetching.
    """
    voter = next((voter for voter in quorum.voters if voter.replica_id == voter_id), None)
    # 1.
    checks = [*_not_static(quorum), *_is_a_voter(quorum, voter_id, voter, directory_id)]
    if not checks:
        # 2.
        if voter_id == quorum.leader_id:
            text = f"controller {voter_id} leads: it resigns, and another voter is elected"
            checks.append(VoterChangeCheck(CheckVerdict.WARNING, text))
        # 3.
        checks += _majority(quorum, [other for other in quorum.voters if other is not voter])
    inferred = voter.replica_directory_id if voter else None
    return VoterChangePlan(
        voter_id=voter_id, directory_id=directory_id or inferred, checks=tuple(checks)
    )


def _not_static(quorum: QuorumInfo) -> Iterator[VoterChangeCheck]:
    if quorum.voters and all(voter.replica_directory_id is None for voter in quorum.voters):
        yield _problem(
            "the voters are static, set by controller.quorum.voters: kwire quorum upgrade --plan"
            " names the steps to voters that can be changed"
        )


def _not_a_voter(quorum: QuorumInfo, voter_id: int) -> Iterator[VoterChangeCheck]:
    for voter in quorum.voters:
        if voter.replica_id == voter_id:
            text = f"{_named(voter)} is a voter already"
            if is_silent(quorum, voter):
                text += (
                    "; it does not fetch: if its disk was replaced, kwire quorum replace"
                    f" {voter_id}"
                )
            yield _problem(text)


def _is_a_voter(
    quorum: QuorumInfo, voter_id: int, voter: ReplicaState | None, directory_id: UUID | None
) -> Iterator[VoterChangeCheck]:
    if voter is None:
        ids = ", ".join(str(other.replica_id) for other in quorum.voters)
        yield _problem(f"controller {voter_id} is no voter; the voters are {ids}")
    elif directory_id is not None and directory_id != voter.replica_directory_id:
        yield _problem(f"the voter is {_named(voter)}, not {uuid_text(directory_id)}")


def _one_observer(
    quorum: QuorumInfo,
    voter_id: int,
    same_id: Sequence[ReplicaState],
    matching: Sequence[ReplicaState],
) -> Iterator[VoterChangeCheck]:
    if not same_id:
        yield _problem(
            f"controller {voter_id} does not follow the quorum: format it with"
            " --no-initial-controllers and start it"
        )
    elif not matching:
        known = " and ".join(_directory(replica) for replica in same_id)
        yield _problem(f"controller {voter_id} follows with directory id {known}: name that")
    elif len(matching) > 1:
        known = " and ".join(map(_directory, matching))
        yield _problem(
            f"controller {voter_id} runs twice, with directory ids {known}: stop one of the two"
        )
    elif is_silent(quorum, matching[0]):
        yield _problem(f"controller {voter_id} no longer fetches from the leader: start it")
    elif (lag := quorum.lag(matching[0]) or 0) > LAG:
        text = f"controller {voter_id} is {lag} records behind and has to catch up first"
        yield VoterChangeCheck(CheckVerdict.WARNING, text)
    else:
        yield VoterChangeCheck(CheckVerdict.FINE, f"{_named(matching[0])} follows the leader")


def _registered(
    quorum: QuorumInfo, controllers: Iterable[ClusterNode], voter_id: int
) -> Iterator[RaftVoterEndpoint]:
    # Kafka registers addresses without the listener's name: it is the one that all voters have.
    names = [node.endpoints[0].name for node in quorum.nodes.values() if node.endpoints]
    for node in controllers:
        if node.node_id == voter_id and names:
            yield RaftVoterEndpoint(name=names[0], host=node.host, port=node.port)


def _has_endpoint(
    voter_id: int, endpoints: Sequence[RaftVoterEndpoint]
) -> Iterator[VoterChangeCheck]:
    if not endpoints:
        yield _problem(
            f"no controller {voter_id} is registered, so that its endpoint is not known: it may"
            " have just started, or be a broker, which follows the quorum but cannot vote"
        )


async def _answers(connect: SecureConnect, endpoint: RaftVoterEndpoint) -> VoterChangeCheck:
    """Check that a controller answers at an endpoint; only the leader finds out which one it is."""
    try:
        connection = await connect(Address(endpoint.host, endpoint.port))
    except KwireError as error:
        return _problem(f"{endpoint} does not answer: {error}")
    async with connection:
        if VoteRequest.key not in connection.node.api_versions:
            return _problem(f"{endpoint} is no controller: it takes no votes")
    return VoterChangeCheck(CheckVerdict.FINE, f"a controller answers at {endpoint}")


def _majority(quorum: QuorumInfo, voters: Sequence[ReplicaState]) -> Iterator[VoterChangeCheck]:
    """Check that enough of the future voters fetch now to commit anything."""
    if not voters:
        yield _problem("the last voter cannot be removed")
        return
    silent = [voter.replica_id for voter in voters if is_silent(quorum, voter)]
    needed = len(voters) // 2 + 1
    text = f"{len(voters) - len(silent)} of {len(voters)} voters would fetch, {needed} are needed"
    if len(voters) - len(silent) < needed:
        down = ", ".join(map(str, silent))
        yield _problem(f"{text}: start {down} first")
    else:
        yield VoterChangeCheck(CheckVerdict.FINE, text)


def spare_voters(quorum: QuorumInfo, removed: int) -> Iterator[VoterChangeCheck]:
    """Warn if all voters that fetch after a removal are needed: the next failure stops the quorum.

    A removal that another addition follows, as in a replacement, does without.
    """
    voters = [voter for voter in quorum.voters if voter.replica_id != removed]
    fetching = sum(not is_silent(quorum, voter) for voter in voters)
    if voters != list(quorum.voters) and fetching == len(voters) // 2 + 1:
        text = (
            f"no failure is tolerated afterwards: {fetching} of {len(voters)} voters fetch, and all"
            " of them are needed; add another controller to the voters"
        )
        yield VoterChangeCheck(CheckVerdict.WARNING, text)


def _named(replica: ReplicaState) -> str:
    return f"controller {replica.replica_id} with directory id {_directory(replica)}"


def _directory(replica: ReplicaState) -> str:
    return uuid_text(replica.replica_directory_id) if replica.replica_directory_id else "unknown"


def _problem(text: str) -> VoterChangeCheck:
    return VoterChangeCheck(CheckVerdict.PROBLEM, text)
