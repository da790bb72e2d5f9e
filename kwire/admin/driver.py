"""The driver of every admin operation: keys to nodes, all nodes at once, again what moved.

Java has two designs for this: `Call` with a NodeProvider, and AdminApiDriver with an
AdminApiHandler and lookup strategies. Here is one, which keeps what worked while the rest is asked
again, and never repeats a change whose answer was lost.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TypeVar

from kwire.admin.deadline import Deadline
from kwire.admin.errors import (
    MissingFromAnswer,
    ReadOnly,
)
from kwire.admin.lookup import NodeLookup
from kwire.admin.operation import Operation, OperationCall
from kwire.admin.operation_run import PATIENCE, OperationRun
from kwire.admin.outcomes import Outcomes
from kwire.admin.registry import OperationRow, Reach, Route
from kwire.admin.routing import OperationRouter
from kwire.codec.declaration import Request
from kwire.errors import (
    AnswerLost,
    BrokerError,
    ConnectionFailed,
    InvalidValue,
    KwireError,
    UnsupportedEndpointType,
    UnsupportedVersion,
    WireError,
)
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.endpoint_type import EndpointType
from kwire.net.address import Address
from kwire.net.awaited import Awaited
from kwire.net.connection import Connection
from kwire.net.pool import ConnectionPool
from kwire.net.secure_connect import SecureConnect

K = TypeVar("K")
A = TypeVar("A")
R = TypeVar("R")

IN_FLIGHT = 32
"""Requests that one client has open at one node; more of them wait, so that a thousand concurrent
operations neither hold a thousand answers in memory nor fill the node's queue."""

SERVER_SHARE = 0.9
"""Of the client's time for a request: the time that the node is told to try."""

_LONGEST_MS = 2**31 - 1
"""TimeoutMs of a request is an int32."""


class Driver:
    """Runs operations on the cluster that a router knows.

    connect: opens connections beside those of the pool. read_only: refuse operations that change
    the cluster. allow_unlisted: send controllers what they serve although KIP-919 does not list it.
    """

    def __init__(
        self,
        router: OperationRouter,
        connections: ConnectionPool,
        connect: SecureConnect,
        *,
        read_only: bool = False,
        allow_unlisted: bool = False,
    ) -> None:
        self.router = router
        self.connect = connect
        self._connections = connections
        self._lookup = NodeLookup(router, lambda deadline: self._slot(None, deadline))
        self.read_only = read_only
        self._allow_unlisted = allow_unlisted
        self._slots: defaultdict[Address | None, asyncio.Semaphore] = defaultdict(
            lambda: asyncio.Semaphore(IN_FLIGHT)
        )

    async def run(
        self,
        operation: Operation[K, A, R],
        keys: Iterable[K],
        arguments: A,
        *,
        timeout: float | None = None,
    ) -> Outcomes[K, R]:
        """Return the outcome of each key, within `timeout` seconds.

        1. Refuse what must not be sent, before a byte is.
        2. Look up the node of each key; ask all nodes at once.
        3. Keep the keys that are done or refused for good; look up again those that moved, and
           repeat, with growing pauses, those that may succeed later.
        4. When time is up, the latest error of each remaining key is its outcome.

        Raises ReadOnly and UnsupportedEndpointType; and if no key has an outcome of its own the
        error that kept all of them from being asked: ConnectionFailed, NoReachableLeader,
        MismatchedEndpointType, UnsupportedVersion, WireError.
        """
        # 1.
        self.check_allowed(operation.row)
        if isinstance(keys, str | bytes):
            # Its characters would be keys: delete_topics("ab") would delete the topics a and b.
            raise InvalidValue(f"give {operation.row.name} a list, not the text {keys!r} alone")
        run = OperationRun(operation, tuple(dict.fromkeys(keys)), arguments, self.deadline(timeout))
        return await self._complete(run)

    async def ask(
        self,
        operation: Operation[K, A, R],
        key: K,
        arguments: A,
        *,
        timeout: float | None = None,
    ) -> R:
        """Return the result of one key, which is None for operations without keys."""
        return (await self.run(operation, [key], arguments, timeout=timeout))[key]

    async def run_everywhere(
        self, operation: Operation[int, A, R], arguments: A, *, timeout: float | None = None
    ) -> Outcomes[int, R]:
        """Return the outcome of every broker, by node id.

        A broker that is down is asked again for about a second, not until time is up: the others'
        answers are of use without it.
        """
        self.check_allowed(operation.row)
        deadline = self.deadline(timeout)
        brokers = await self._lookup.brokers(deadline)
        run = OperationRun(operation, tuple(brokers), arguments, deadline, PATIENCE)
        return await self._complete(run)

    @property
    def awaited(self) -> Awaited:
        """The nodes that were asked and have not answered yet."""
        return self._connections.awaited

    @property
    def asks_controllers(self) -> bool:
        """True if the bootstrap is of controllers, which are asked directly (KIP-919)."""
        return self.router.endpoint_type is EndpointType.CONTROLLER

    def deadline(self, timeout: float | None) -> Deadline:
        """Return the deadline of an operation that begins now."""
        return self.router.deadline(timeout)

    def check_allowed(self, row: OperationRow) -> None:
        """Raise ReadOnly or UnsupportedEndpointType for what must not be sent."""
        if row.changes and self.read_only:
            raise ReadOnly(
                f"{row.name} changes the cluster, and this client is read-only:"
                " take a profile without read_only = true"
            )
        if self.router.endpoint_type is EndpointType.BROKER or row.reach is Reach.LISTED:
            return
        if row.reach is Reach.UNLISTED and not self._allow_unlisted:
            raise UnsupportedEndpointType(
                f"{row.name} is not for controllers by KIP-919, though they serve it: give brokers"
                " as bootstrap, or allow it (--allow-unlisted)"
            )
        if row.reach in (Reach.NEVER, Reach.OBSERVED):
            raise UnsupportedEndpointType(
                f"controllers do not serve {row.api} to admin clients (KIP-919): give brokers as"
                " bootstrap"
            )

    async def _complete(self, run: OperationRun[K, A, R]) -> Outcomes[K, R]:
        # 2. and 3. of `run`.
        while run.pending:
            await self._round(run)
            if run.pending and not await run.deadline.pause():
                break
        # 4.
        return run.outcomes()

    async def _round(self, run: OperationRun[K, A, R]) -> None:
        operation, route = run.operation, run.operation.row.route
        lookup_route = Route.NODE if route is Route.EVERY_BROKER else route
        targets = {key: operation.target(key, run.arguments) for key in run.pending}
        anywhere = route in (Route.ANY_NODE, Route.CONTROLLER)
        routed = [key for key, target in targets.items() if anywhere or target is None]
        mapped = [] if anywhere else [key for key, target in targets.items() if target is not None]
        by_address: defaultdict[Address, list[K]] = defaultdict(list)
        if mapped:
            mapped_targets = [targets[key] for key in mapped]
            try:
                found, failed = await self._lookup.find(lookup_route, mapped_targets, run.deadline)
            except KwireError as error:
                run.fail(mapped, error)
                found, failed = {}, {}
            for key in mapped:
                if targets[key] in found:
                    by_address[found[targets[key]]].append(key)
                elif targets[key] in failed:
                    run.take(key, failed[targets[key]])
                else:  # the answer left it out
                    run.fail([key], MissingFromAnswer(f"no node was named for {key}"))
        asks = [self._ask_node(run, address, keys) for address, keys in by_address.items()]
        if routed:
            asks.append(self._ask_routed(run, routed))
        await asyncio.gather(*asks)
        for key in mapped:
            if key in run.moved:
                self._lookup.forget(lookup_route, targets[key])

    async def _ask_node(
        self, run: OperationRun[K, A, R], address: Address, keys: Sequence[K]
    ) -> None:
        async def work(connection: Connection) -> None:
            timeout = run.deadline.attempt
            # The pool calls this again if an older connection was closed in the meantime: some of
            # several requests may have been answered, or sent, before.
            open_keys = [key for key in keys if key in run.pending_set]
            await self._exchange(run, connection, open_keys, timeout)

        try:
            async with self._slot(address, run.deadline):
                await self._connections.use(address, work, run.deadline.attempt)
        except AnswerLost as error:
            # `_exchange` noted it for the keys that were asked.
            run.lose([key for key in keys if key not in run.latest], error)
        except (ConnectionFailed, WireError) as error:
            run.lose(keys, error)
        except KwireError as error:
            run.fail(keys, error)  # a login that was refused, or for which there was no token

    async def _ask_routed(self, run: OperationRun[K, A, R], keys: Sequence[K]) -> None:
        """Ask the active controller or any broker; the router goes from one node to the next."""

        async def attempt(connection: Connection, timeout: float) -> None:
            open_keys = [key for key in keys if key in run.pending_set]
            if not open_keys:
                return  # another node, asked beside this one, has answered for all
            await self._exchange(run, connection, open_keys, timeout)
            for key in open_keys:
                error = run.latest.get(key)
                if key in run.pending_set and isinstance(error, BrokerError):
                    raise error

        row = run.operation.row
        try:
            async with self._slot(None, run.deadline):
                await self.router.call(
                    attempt,
                    timeout=run.deadline.remaining,
                    repeatable=row.repeatable,
                    at_controller=row.route is Route.CONTROLLER,
                )
        except AnswerLost as error:
            # A change that was sent is unknown already; anything else has had all the time.
            run.fail([key for key in keys if key in run.pending_set], error)
        except BrokerError as error:
            unasked = [k for k in keys if k in run.pending_set and k not in run.latest]
            # Not only of these keys: a node of the wrong kind, a login that was refused.
            (run.lose if error.retriable else run.fail)(unasked, error)
        except KwireError as error:
            run.fail([key for key in keys if key in run.pending_set], error)

    @asynccontextmanager
    async def _slot(self, address: Address | None, deadline: Deadline) -> AsyncIterator[None]:
        """Take one of the requests that may be open at a node. Raises ConnectionFailed."""
        slots = self._slots[address]
        try:
            async with asyncio.timeout(deadline.remaining):
                await slots.acquire()
        except TimeoutError:
            raise ConnectionFailed(
                f"{address or 'the cluster'} was not asked: {IN_FLIGHT} requests of this client"
                " were waiting for answers all the time"
            ) from None
        try:
            yield
        finally:
            slots.release()

    async def _exchange(
        self, run: OperationRun[K, A, R], connection: Connection, keys: Sequence[K], timeout: float
    ) -> None:
        """Send the requests for these keys to one node and note what it answers.

        Raises ConnectionFailed and AnswerLost, after noting the keys of a change as unknown.
        """
        call = OperationCall(
            keys=tuple(keys),
            arguments=run.arguments,
            peer=connection.peer,
            node=connection.node,
            timeout_ms=min(max(1, int(timeout * 1000 * SERVER_SHARE)), _LONGEST_MS),
        )
        try:
            parts = run.operation.parts(call)
            for request in {type(request) for _, request in parts}:
                run.operation.version_for(request, connection.node, connection.peer)
        except UnsupportedVersion as error:
            run.fail(keys, UnsupportedVersion(f"{error}{self._advice(run, connection)}"))
            return
        results = await asyncio.gather(
            *(self._send(run, connection, call, part, timeout) for part in parts),
            return_exceptions=True,
        )
        for result in results:
            if isinstance(result, BaseException):
                raise result

    def _advice(self, run: OperationRun[K, A, R], connection: Connection) -> str:
        """Return what to do where a node does not offer an operation's API."""
        if self.router.endpoint_type is not EndpointType.CONTROLLER:
            return ""
        # A controller that serves administrators (KIP-919) offers all of its release's APIs that
        # are declared for controllers; a broker that offers more has to be of a later release.
        if run.operation.row.reach is Reach.LISTED and DescribeClusterRequest.key in (
            connection.node.api_versions
        ):
            return "; its release is too old, and so are brokers of the same release"
        return "; give brokers as bootstrap instead"

    async def _send(
        self,
        run: OperationRun[K, A, R],
        connection: Connection,
        call: OperationCall[K, A],
        part: tuple[tuple[K, ...], Request],
        timeout: float,
    ) -> None:
        keys, request = part
        part_call = replace(call, keys=keys)
        # An earlier node's error says nothing about a key that this one leaves out.
        run.forget(keys)
        next_request: Request | None = request
        while next_request is not None:
            try:
                version = run.operation.version_for(type(next_request), call.node, call.peer)
                # A node that always has another page must not outlast the operation.
                if run.deadline.is_over and next_request is not request:
                    name = run.operation.row.api
                    raise AnswerLost(f"{connection.peer} did not end its answer to {name} in time")
                share = min(timeout, run.deadline.remaining)
                response = await connection.send(next_request, version, share)
                run.take_answer(response, part_call)
            except AnswerLost as error:
                run.answer_lost(keys, error)
                raise
            except BrokerError as error:
                for key in keys:
                    run.take(key, error)
                return
            except UnsupportedVersion as error:
                run.fail(keys, error)
                return
            except WireError as error:
                run.unreadable(keys, error)
                return
            follow = run.operation.follow
            next_request = follow(response, part_call) if follow else None
        run.check_complete(keys, connection)
