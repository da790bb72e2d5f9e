"""The driver of every admin operation: keys to nodes, all nodes at once, again what moved.

Java has two designs for this: `Call` with a NodeProvider, and AdminApiDriver with an
AdminApiHandler and lookup strategies. Here is one, which keeps what worked while the rest is asked
again, and never repeats a change whose answer was lost.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from math import inf
from typing import TYPE_CHECKING, TypeVar

from kwire.admin.deadline import Deadline
from kwire.admin.errors import (
    MetadataNotRead,
    MissingFromAnswer,
    ReadOnly,
)
from kwire.admin.lookup import NodeLookup
from kwire.admin.metadata_log import read_metadata_log
from kwire.admin.node_exchange import exchange
from kwire.admin.operation import Operation
from kwire.admin.operation_run import PATIENCE, OperationRun
from kwire.admin.outcomes import Outcomes
from kwire.admin.registry import OperationRow, Reach, Route
from kwire.admin.routing import OperationRouter
from kwire.errors import (
    AnswerLost,
    BrokerError,
    ConnectionFailed,
    InvalidValue,
    KwireError,
    UnsupportedEndpointType,
    WireError,
)
from kwire.messages.endpoint_type import EndpointType
from kwire.net.address import Address
from kwire.net.awaited import Awaited
from kwire.net.connection import Connection
from kwire.net.pool import ConnectionPool
from kwire.net.secure_connect import SecureConnect

if TYPE_CHECKING:
    from kwire.image import MetadataImage

K = TypeVar("K")
A = TypeVar("A")
R = TypeVar("R")

IN_FLIGHT = 32
"""Requests that one client has open at one node; more of them wait, so that a thousand concurrent
operations neither hold a thousand answers in memory nor fill the node's queue."""


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
        timeout: float | Deadline | None = None,
        node_patience: float = inf,
    ) -> Outcomes[K, R]:
        """Return the outcome of each key, within `timeout` seconds or until a deadline.

        node_patience: seconds after which a node that cannot be asked is not asked again.

        1. Refuse what must not be sent, before a byte is. What controllers do not answer is read
           from their metadata log.
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
            raise InvalidValue(f"give `{operation.row.name}` a list, not the text {keys!r} alone")
        deadline = timeout if isinstance(timeout, Deadline) else self.deadline(timeout)
        asked = tuple(dict.fromkeys(keys))
        if self.asks_controllers and operation.observe:
            image = await self.read_metadata_log(deadline)
            return Outcomes(dict(operation.observe(image, asked, arguments)))
        run = OperationRun(operation, asked, arguments, deadline, node_patience)
        while run.pending:
            # 2.
            targets = run.targets()
            by_address = await self._addresses(run, targets)
            asks = [self._ask_at(run, address, keys) for address, keys in by_address.items()]
            if anywhere := [key for key, target in targets.items() if target is None]:
                asks.append(self._ask_anywhere(run, anywhere))
            await asyncio.gather(*asks)
            # 3.
            for key, target in targets.items():
                if target is not None and key in run.moved:
                    self._lookup.forget(run.lookup_route, target)
            if run.pending and not await deadline.pause():
                break
        # 4.
        return run.outcomes()

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
        return await self.run(
            operation, brokers, arguments, timeout=deadline, node_patience=PATIENCE
        )

    async def read_metadata_log(self, timeout: float | Deadline | None = None) -> MetadataImage:
        """Return the cluster's metadata as the controllers have it, all of it committed.

        Raises ConnectionFailed if no controller gives it in time, BrokerError if they refuse.
        """
        deadline = timeout if isinstance(timeout, Deadline) else self.deadline(timeout)
        return await read_metadata_log(self.router, self.connect, deadline, self.awaited)

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
                f"{row.api} changes the cluster, and this client is read-only: take one without"
                " `read_only`"
            )
        if self.router.endpoint_type is EndpointType.BROKER:
            return
        if row.reach is Reach.UNLISTED and not self._allow_unlisted:
            raise UnsupportedEndpointType(
                f"KIP-919 does not list {row.api} for controllers, though they serve it: give"
                " `bootstrap_servers`, or `allow_unlisted=True`"
            )
        if row.reach is Reach.NEVER:
            raise UnsupportedEndpointType(
                f"controllers do not serve {row.api} to admin clients (KIP-919): give"
                " `bootstrap_servers`"
            )

    async def _addresses(
        self, run: OperationRun[K, A, R], targets: Mapping[K, object]
    ) -> Mapping[Address, Sequence[K]]:
        """Return the keys by the address of their node; note why others have none."""
        mapped = {key: target for key, target in targets.items() if target is not None}
        by_address: defaultdict[Address, list[K]] = defaultdict(list)
        if not mapped:
            return by_address
        try:
            found, failed = await self._lookup.find(run.lookup_route, mapped.values(), run.deadline)
        except KwireError as error:
            run.fail(mapped, error)
            return by_address
        for key, target in mapped.items():
            if target in found:
                by_address[found[target]].append(key)
            elif target in failed:
                run.take(key, failed[target])
            else:  # the answer left it out
                run.fail([key], MissingFromAnswer(f"no node was named for {key}"))
        return by_address

    async def _ask_at(
        self, run: OperationRun[K, A, R], address: Address, keys: Sequence[K]
    ) -> None:
        """Ask the node at an address."""

        def attempt(connection: Connection) -> Awaitable[None]:
            kind = self.router.endpoint_type
            return exchange(run, keys, connection, run.deadline.attempt, kind)

        try:
            async with self._slot(address, run.deadline):
                await self._connections.use(address, attempt, run.deadline.attempt)
        except AnswerLost as error:
            # `exchange` noted it for the keys that were asked.
            run.lose([key for key in keys if key not in run.latest], error)
        except (ConnectionFailed, WireError, MetadataNotRead) as error:
            run.lose(keys, error)
        except KwireError as error:
            run.fail(keys, error)  # a login that was refused, or for which there was no token

    async def _ask_anywhere(self, run: OperationRun[K, A, R], keys: Sequence[K]) -> None:
        """Ask the active controller or any broker; the router goes from one node to the next."""

        async def attempt(connection: Connection, timeout: float) -> None:
            await exchange(run, keys, connection, timeout, self.router.endpoint_type)
            run.raise_latest(keys)

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
            run.fail(keys, error)
        except BrokerError as error:
            unasked = [k for k in keys if k in run.pending_set and k not in run.latest]
            # Not only of these keys: a node of the wrong kind, a login that was refused.
            (run.lose if error.retriable else run.fail)(unasked, error)
        except KwireError as error:
            run.fail(keys, error)

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
