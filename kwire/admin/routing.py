"""Routing of admin operations: finds the node for each, asks again if that can help (KIP-919).

With bootstrap.controllers that is the active controller, with bootstrap.servers any broker, which
forwards. A follower does not name the leader; only DescribeCluster names the active controller, and
it goes on naming a dead one until another is elected. Controllers that do not describe the cluster
(decision 0115) are asked one after the other, and then whom they follow.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import TypeVar

from kwire.admin.bootstrap import Bootstrap
from kwire.admin.cluster_description import (
    ClusterDescription,
    fetch_description,
    fetch_voters,
)
from kwire.admin.controller_state import ControllerState, controller_state
from kwire.admin.deadline import Deadline
from kwire.admin.errors import MetadataNotRead
from kwire.admin.failures import NOT_LEADER, Failures, NotDescribed, explained
from kwire.admin.leader_wait import LeaderWait
from kwire.error_codes import ErrorCode
from kwire.errors import (
    AnswerLost,
    BrokerError,
    ConnectionFailed,
    KwireError,
    UnsupportedEndpointType,
    UnsupportedVersion,
    WireError,
)
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.endpoint_type import EndpointType
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.pool import ConnectionPool
from kwire.net.tasks import cancel_and_wait
from kwire.net.timeouts import Timeouts

T = TypeVar("T")
Attempt = Callable[[Connection, float], Awaitable[T]]
"""Asks one node, within so many seconds, and raises BrokerError for an answer with a code."""

HEAD_START = 0.3
"""Seconds that a node may be silent before the next one is asked beside it."""

NOT_DESCRIBING = frozenset(
    {
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.UNSUPPORTED_VERSION,
        ErrorCode.UNSUPPORTED_ENDPOINT_TYPE,
    }
)
"""The codes with which controllers refuse DescribeCluster and may answer everything else: it takes
ALTER on the cluster where DescribeQuorum takes DESCRIBE, and a metadata.version of Kafka 3.7."""


class OperationRouter:
    """The nodes of one cluster, and the choice of the one to ask.

    timeouts: of an operation that names no time of its own, and of its attempts.
    """

    def __init__(
        self,
        bootstrap: Bootstrap,
        connections: ConnectionPool,
        timeouts: Timeouts,
    ) -> None:
        self._bootstrap = bootstrap
        self._connections = connections
        self._timeouts = timeouts
        self._cluster: ClusterDescription | None = None
        self._stale = False
        self._answered: Address | None = None
        self._followed: set[Address] = set()
        self._undescribed: KwireError | None = None

    def deadline(self, timeout: float | None) -> Deadline:
        """Return the deadline of an operation that begins now."""
        timeouts = self._timeouts
        return Deadline(timeouts if timeout is None else replace(timeouts, operation=timeout))

    @property
    def endpoint_type(self) -> EndpointType:
        """The kind of the nodes that are asked."""
        return self._bootstrap.endpoint_type

    @property
    def bootstrap_addresses(self) -> tuple[Address, ...]:
        """The addresses that the client was given."""
        return self._bootstrap.addresses

    @property
    def noun(self) -> str:
        """`broker` or `controller`, the kind of the nodes that are asked."""
        return self._bootstrap.endpoint_type.noun

    async def describe_cluster(
        self, request: DescribeClusterRequest, timeout: float | None = None
    ) -> ClusterDescription:
        """Send DescribeCluster to the first node that answers; every call asks anew."""
        controllers = self._bootstrap.endpoint_type is EndpointType.CONTROLLER
        if request.include_fenced_brokers and controllers:
            raise UnsupportedEndpointType(
                "fenced brokers are not listed by controllers: give bootstrap_servers"
            )
        return await self._describe(request, self.deadline(timeout))

    async def call(
        self,
        attempt: Attempt[T],
        *,
        timeout: float | None = None,
        repeatable: bool = True,
        at_controller: bool = False,
    ) -> T:
        """Run `attempt` at the active controller, or at a broker, and return its result.

        at_controller: True to ask the broker first that its cluster names as controller; brokers
        of clusters with ZooKeeper do not forward.
        repeatable: True if a second request does no harm. If not, one attempt has all the time, and
        a lost answer or a code other than "not the leader" is raised at once.

        1. Learn the controllers from the first that answers, and try the one it names as active.
        2. If that fails, try every other known node: the name may be stale.
        3. All refuse connections: ConnectionFailed at once.
        4. Else learn anew and try again, with growing pauses, for as long as `LeaderWait` says.
        5. If no controller describes the cluster, ask each whom it follows, and try that one, too.
        """
        deadline = self.deadline(timeout)
        with LeaderWait(deadline, self._connections.awaited) as wait:
            while True:
                # 1. and 3.
                try:
                    cluster = await self.known_cluster(deadline)
                except ConnectionFailed as error:
                    raise wait.error_in_place_of(error) from error
                failures = Failures(self._bootstrap)
                # 2.
                found = await self._first_success(
                    attempt, self._candidates(at_controller), deadline, failures, repeatable
                )
                if found is not None:
                    self._answered, result = found
                    return result
                self._answered, self._stale = None, True
                states = None
                if self.endpoint_type is EndpointType.CONTROLLER and failures.leaderless:
                    # 5.
                    states = await self._states(failures, deadline)
                # 4.
                await wait.pause(failures, cluster, states, self._undescribed)

    async def cluster(self, deadline: Deadline) -> ClusterDescription:
        """Return the description of the cluster; ask for one if there is none or it is stale."""
        if self._cluster is None or self._stale:
            return await self._describe(DescribeClusterRequest(), deadline)
        return self._cluster

    async def known_cluster(self, deadline: Deadline) -> ClusterDescription | None:
        """Return the description of the cluster; None, or an older one, if no node describes it.

        Raises ConnectionFailed if no node can be connected to.
        """
        if not self._stale and (self._cluster is not None or self._undescribed is not None):
            return self._cluster
        try:
            return await self._described(DescribeClusterRequest(), deadline)
        except NotDescribed as failed:
            self._undescribed = failed.reason
            # What may change in a moment is asked for anew.
            self._stale = isinstance(failed.reason, MetadataNotRead)
            return self._cluster

    def distrust(self) -> None:
        """Describe the cluster anew when it is needed next."""
        self._stale = True

    async def refresh(self, deadline: Deadline) -> ClusterDescription:
        """Ask for the description of the cluster anew."""
        return await self._describe(DescribeClusterRequest(), deadline)

    def explained(self, failure: KwireError) -> KwireError:
        """Return the failure, with advice added if a broker left a request unanswered."""
        return explained(failure, self._bootstrap)

    async def _describe(
        self, request: DescribeClusterRequest, deadline: Deadline
    ) -> ClusterDescription:
        """Describe the cluster; by the leader's answer to DescribeQuorum if no node does.

        Raises NoReachableLeader if no controller leads in time; the reason of the nodes if the
        leader tells no endpoints, as before Kafka 3.9.
        """
        try:
            return await self._described(request, deadline)
        except NotDescribed as failed:
            if not isinstance(failed.reason, MetadataNotRead):
                self._undescribed, self._stale = failed.reason, False
        voters = await self.call(self._fetch_voters, timeout=deadline.remaining)
        try:
            return await self._described(request, deadline)
        except NotDescribed as failed:
            if voters is None:
                raise failed.reason from None
            self._cluster, self._stale = voters, False
            return voters

    async def _fetch_voters(
        self, connection: Connection, timeout: float
    ) -> ClusterDescription | None:
        return await fetch_voters(connection, self._bootstrap.addresses, timeout)

    async def _described(
        self, request: DescribeClusterRequest, deadline: Deadline
    ) -> ClusterDescription:
        """Send DescribeCluster to the first node that answers it. Raises NotDescribed."""
        endpoint_type = self._bootstrap.endpoint_type

        async def fetch(connection: Connection, timeout: float) -> ClusterDescription:
            try:
                return await fetch_description(connection, request, endpoint_type, timeout)
            except (BrokerError, UnsupportedVersion) as error:
                if endpoint_type is EndpointType.CONTROLLER and _goes_on(error):
                    raise _TryAnother(NotDescribed(error)) from error
                raise

        self._cluster = await self.first_answer(fetch, deadline)
        self._stale, self._undescribed = False, None
        return self._cluster

    async def _states(self, failures: Failures, deadline: Deadline) -> tuple[ControllerState, ...]:
        """Return what the controllers that answered tell of themselves, if they do not tell more.

        The leaders that they follow are candidates from then on.
        """
        if self._undescribed is None and not failures.unread:
            return ()

        async def ask(connection: Connection) -> ControllerState:
            return await controller_state(connection, deadline.attempt)

        asks = (self._connections.use(node, ask, deadline.attempt) for node in failures.alive)
        answers = await asyncio.gather(*asks, return_exceptions=True)
        states = tuple(answer for answer in answers if isinstance(answer, ControllerState))
        followed = (state.follows.address for state in states if state.follows)
        self._followed = {address for address in followed if address is not None}
        return states

    async def call_once(
        self, attempt: Attempt[T], deadline: Deadline, address: Address | None = None
    ) -> T:
        """Run `attempt` once, at this address or at the first that can be connected to.

        Raises what `attempt` raises; ConnectionFailed if no node can be connected to.
        """
        failures = Failures(self._bootstrap)
        for candidate in [address] if address else self._candidates():
            try:
                return await self._attempt(attempt, candidate, deadline, repeatable=False)
            except _TryAnother as failed:
                failures.add(candidate, failed.reason)
        raise failures.unreachable()

    async def first_answer(self, attempt: Attempt[T], deadline: Deadline) -> T:
        """Run `attempt` at the first known node that answers, whether it is the active one or not.

        Raises ConnectionFailed at once if all refuse connections, else when time is up;
        NoReachableLeader if all that answer want a leader.
        """
        first: Failures | None = None
        while True:
            failures = Failures(self._bootstrap)
            found = await self._first_success(attempt, self._candidates(), deadline, failures)
            if found is not None:
                return found[1]
            if failures.undescribed is not None:
                raise failures.undescribed
            first = first or failures
            if failures.nobody_connects or not await deadline.pause():
                if failures.leaderless:
                    raise failures.no_leader(None, await self._states(failures, deadline), None)
                # The last attempt had less time than the first, and says so.
                raise (first if first.timed_out and failures.timed_out else failures).unreachable()

    async def _first_success(
        self,
        attempt: Attempt[T],
        candidates: Iterable[Address],
        deadline: Deadline,
        failures: Failures,
        repeatable: bool = True,
    ) -> tuple[Address, T] | None:
        """Return the first success and the node that had it; None if every candidate fails.

        A node that is silent for HEAD_START seconds goes on while the next one is asked, so that
        several silent nodes cost no more time than one. A change waits for each node's end.
        """
        waiting = list(candidates)
        running: dict[asyncio.Task[T], Address] = {}
        try:
            while waiting or running:
                # An attempt without time would hide the reasons of the others.
                if waiting and not (failures and deadline.is_over):
                    address = waiting.pop(0)
                    running[
                        asyncio.ensure_future(self._attempt(attempt, address, deadline, repeatable))
                    ] = address
                elif not running:
                    return None
                head_start = HEAD_START if waiting and repeatable else None
                done, _ = await asyncio.wait(
                    running, timeout=head_start, return_when=asyncio.FIRST_COMPLETED
                )
                for task in done:
                    address = running.pop(task)
                    try:
                        return address, task.result()
                    except _TryAnother as failed:
                        failures.add(address, failed.reason)
            return None
        finally:
            for task in [task for task in running if task.done()]:
                del running[task]
                task.exception()  # retrieved: another node's answer came first
            await cancel_and_wait(running)

    async def _attempt(
        self, attempt: Attempt[T], address: Address, deadline: Deadline, repeatable: bool = True
    ) -> T:
        is_open = False

        async def work(connection: Connection) -> T:
            nonlocal is_open
            is_open = True
            # A change has all the time: its answer comes only when the new voter set is committed.
            return await attempt(connection, deadline.attempt if repeatable else deadline.remaining)

        try:
            # Where others are asked beside a silent node, it may take all the time to connect.
            within = deadline.remaining if repeatable else deadline.attempt
            return await self._connections.use(address, work, within)
        except AnswerLost as error:
            # A request that was not sent changed nothing; one without an answer may have.
            if repeatable:
                raise _TryAnother(error) from error
            raise
        except (ConnectionFailed, WireError) as error:
            if is_open and isinstance(error, WireError):
                raise  # an answer that makes no sense: what it answers may have been done
            raise _TryAnother(error) from error
        except BrokerError as error:
            if error.code in NOT_LEADER or (repeatable and error.retriable):
                raise _TryAnother(error) from error
            raise

    def _candidates(self, at_controller: bool = False) -> list[Address]:
        """Addresses, best first: the one that answered last, the active controller, all others."""
        brokers = self._bootstrap.endpoint_type is EndpointType.BROKER
        first = [self._answered] if self._answered and not (brokers and at_controller) else []
        if self._cluster is None:
            return [*dict.fromkeys([*first, *self._bootstrap.addresses, *self._followed])]
        active = self._cluster.controller
        leads = (at_controller or not brokers) and not self._stale
        if leads and active is not None:
            first.append(active.address)
        learned = (node.address for node in self._cluster.nodes.values() if not node.is_fenced)
        known = [*self._bootstrap.addresses, *learned, *self._followed]
        return [*dict.fromkeys([*first, *known])]


def _goes_on(error: KwireError) -> bool:
    """Return True if a controller that does not describe the cluster may answer other requests."""
    if isinstance(error, BrokerError):
        return isinstance(error, MetadataNotRead) or error.code in NOT_DESCRIBING
    return True


class _TryAnother(Exception):
    """One node failed; another node, or a later attempt, may succeed."""

    def __init__(self, reason: KwireError) -> None:
        self.reason = reason
