"""A client of the workload: asks nodes through the faulty network, and records what came of it.

Each attempt is an operation of its own: the workload repeats nothing, so that every answer says
what one request did.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any, TypeVar, cast

from kwire.admin.errors import NOTHING_DONE
from kwire.codec.declaration import Request, Response
from kwire.error_codes import ErrorCode, name
from kwire.errors import AnswerLost, KwireError
from kwire.fault_lab.history import Fate, RecordedOperation, RunHistory
from kwire.net.address import Address
from kwire.net.connection import Connection
from kwire.net.security import PLAINTEXT, Security
from kwire.testing.faulty_network.topology import FaultTopology

R = TypeVar("R", bound=Response)

CONNECT = 2.0
ANSWER = 6.0
"""Seconds until a client gives a connection, or an answer, up."""

STAYS = 0.75
"""Share of the requests that go to the node that answered last; the rest to any."""

CLIENT_PREFIX = "kwire-conform-client-"

_UNSURE = {
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.UNKNOWN_SERVER_ERROR,
    ErrorCode.NOT_CONTROLLER,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.NETWORK_EXCEPTION,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
}
"""Errors that also come for a request that was carried out, or still may be."""


def fate_of(code: int, message: str | None, refusals: frozenset[int]) -> Fate:
    """Return what an error code of an answer says about the operation.

    refusals: codes that its key's model knows. A controller that resigns fails what it has written
    and not committed with NOT_CONTROLLER; only if it names another leader it has done nothing.
    """
    if code == ErrorCode.NONE:
        return Fate.OK
    if code in refusals:
        return Fate.REFUSED
    if code == ErrorCode.NOT_CONTROLLER and (message or "").startswith(NOTHING_DONE):
        return Fate.NOT_DONE
    return Fate.UNKNOWN if code in _UNSURE else Fate.NOT_DONE


@dataclass(slots=True, eq=False)
class WorkloadRun:
    """The state that all clients of a run share. prefix: of its names.

    stopping: True when no new operation is to begin. errors: troubles of the run, for the report.
    """

    topology: FaultTopology
    history: RunHistory
    prefix: str
    rate: float
    random: Random
    security: Security = PLAINTEXT
    began: float = field(default_factory=time.monotonic)
    stopping: bool = False
    numbers: Any = field(default_factory=lambda: count(1))
    errors: dict[str, int] = field(default_factory=dict)

    def clock(self) -> float:
        """Return seconds since the begin of the run."""
        return round(time.monotonic() - self.began, 6)

    def unique(self) -> int:
        """Return a number that was not given before in this run."""
        return cast(int, next(self.numbers))


class WorkloadClient:
    """One client with a connection at a time to each node; operations come one after the other."""

    def __init__(self, run: WorkloadRun, *, controllers: bool = True) -> None:
        self.run = run
        self.number = run.unique()
        self.random = Random(f"{run.prefix} {self.number}")
        self._controllers = controllers
        self._connections: dict[Address, Connection] = {}
        self.node = self.any_node()

    @property
    def _node_ids(self) -> tuple[int, ...]:
        topology = self.run.topology
        if not self._controllers:
            return topology.brokers
        # The spare one, too: while it is a voter it may lead.
        spare = () if topology.spare_voter is None else (topology.spare_voter,)
        return topology.controllers + spare

    def any_node(self) -> int:
        """Return one of the nodes, at random."""
        return self.random.choice(self._node_ids)

    def choose(self) -> int:
        """Return the node to ask next: mostly the one before."""
        if self.random.random() > STAYS:
            self.node = self.any_node()
        return self.node

    def move(self) -> None:
        """Ask another node from now on: this one does not lead, or does not answer."""
        others = [node for node in self._node_ids if node != self.node]
        self.node = self.random.choice(others or [self.node])

    async def ask(
        self,
        kind: type[R],
        request: Request,
        node: int | None = None,
        *,
        version: int | None = None,
        within: float = ANSWER,
    ) -> R:
        """Ask a node, by default the chosen one, at most at this version.

        Raises KwireError; AnswerLost if the request may have been carried out.
        """
        target = self.node if node is None else node
        address = self.run.topology.advertised(target, controller=self._controllers)
        connection = await self._connection(address)
        try:
            latest = connection.version_for(type(request))
            chosen = latest if version is None else min(version, latest)
            answer = await connection.send(request, chosen, timeout=within)
        except KwireError:
            # A late answer would hold up those behind it: the next request takes a new connection.
            self._connections.pop(address, None)
            await connection.close()
            raise
        assert isinstance(answer, kind), "an answer is of its request's API"
        return answer

    async def _connection(self, address: Address) -> Connection:
        connection = self._connections.get(address)
        if connection is None or connection.closed:
            connection = await Connection.open(
                address.host,
                address.port,
                client_id=f"{CLIENT_PREFIX}{self.number}",
                connect_timeout=CONNECT,
                ssl=None if self.run.security.tls is None else self.run.security.tls.context(),
                sasl=self.run.security.sasl,
            )
            self._connections[address] = connection
        return connection

    async def record(
        self,
        key: str,
        kind: str,
        work: Callable[[], Any],
        value: Any = None,
        *,
        stale: bool = False,
    ) -> RecordedOperation:
        """Carry an operation out and record it. work: a coroutine function that returns a pair of
        fate and result; what it raises is recorded, too."""
        run = self.run
        begin = run.clock()
        fate, result = Fate.UNKNOWN, None
        node = self.node
        try:
            fate, result = await work()
        except AnswerLost as error:
            result = type(error).__name__
        except KwireError as error:
            fate, result = Fate.NOT_DONE, type(error).__name__
        finally:
            # Also of an operation that is cancelled at the end of the run: it may have worked.
            operation = RecordedOperation(
                key=key,
                kind=kind,
                fate=fate,
                begin=begin,
                end=run.clock(),
                value=value,
                result=result,
                client=self.number,
                node=node,
                stale=stale,
            )
            run.history.add(operation)
        if fate in (Fate.UNKNOWN, Fate.NOT_DONE):
            self.move()
        return operation

    async def close(self) -> None:
        """Close its connections."""
        connections, self._connections = list(self._connections.values()), {}
        await asyncio.gather(*(connection.close() for connection in connections))


def judged(
    code: int, message: str | None, refusals: frozenset[int], result: Any = None
) -> tuple[Fate, Any]:
    """Return the fate of an answer, and its result: that of success, or the error's name."""
    fate = fate_of(code, message, refusals)
    return fate, result if fate is Fate.OK else name(code)
