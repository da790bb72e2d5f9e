"""Sends what was recorded to a real cluster, and holds its answers against the recorded ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum

from kwire.codec.declaration import Response
from kwire.errors import ConnectionFailed, InvalidValue, KwireError
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.registry import api_name
from kwire.net.address import Address
from kwire.net.connection import REQUEST_TIMEOUT, Connection
from kwire.net.security import PLAINTEXT, Security
from kwire.proxy.capture.replay.carried import Carried
from kwire.proxy.capture.replay.comparison import Ignore, Pair, differences
from kwire.proxy.capture.replay.plan import Plan, Step
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import Ending, Flow

_API_VERSIONS = 18


class Verdict(Enum):
    """What came of a request that was sent again."""

    SAME = "same"
    DIFFERENT = "different"
    NOT_COMPARED = "not compared"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A request and its two answers. reason: why they are not compared, or why there is none.

    grown: where the log had gone on, which is no difference.
    """

    flow: Flow
    verdict: Verdict
    differences: tuple[Pair, ...] = ()
    grown: tuple[Pair, ...] = ()
    reason: str = ""


Told = Callable[[Outcome], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """Where to send what was recorded of which node; None stands for all others.

    security: how to speak there.
    """

    addresses: Mapping[int | None, Address]
    security: Security = PLAINTEXT

    def of(self, flow: Flow) -> Address:
        """The address for a request. Raises InvalidValue where there is none."""
        node = flow.connection.node_id
        found = self.addresses.get(node) or self.addresses.get(None)
        if found is None:
            raise InvalidValue(f"nothing stands for node {node}: give --target {node}@HOST:PORT")
        return found


async def replay(
    plan: Plan, targets: Targets, ignore: Ignore, told: Told, *, fast: bool = False
) -> None:
    """Send the steps of a plan in their order, each when its time and its answers have come.

    fast: do not wait for their times. told: hears of each outcome, in the order they come. Raises
    InvalidValue where there is no address for one, BadTls.
    """
    for step in plan.steps:
        targets.of(step.flow)
    await _Replay(plan, targets, ignore, told).run(fast)


class _Replay:
    def __init__(self, plan: Plan, targets: Targets, ignore: Ignore, told: Told) -> None:
        self._plan = plan
        self._targets = targets
        self._tls = targets.security.tls
        self._context = None if self._tls is None else self._tls.context()
        self._ignore = ignore
        self._told = told
        self._carried = Carried()
        self._connections: dict[tuple[str, int], Connection | KwireError] = {}

    async def run(self, fast: bool) -> None:
        loop = asyncio.get_running_loop()
        start = loop.time()
        tasks: list[asyncio.Task[None]] = []
        try:
            async with asyncio.TaskGroup() as group:
                for step in self._plan.steps:
                    for earlier in step.after:
                        await asyncio.wait([tasks[earlier]])
                    if not fast:
                        await asyncio.sleep(start + step.wait - loop.time())
                    connection = await self._connection(step)
                    tasks.append(group.create_task(self._take(step, connection)))
        finally:
            for one in self._connections.values():
                if isinstance(one, Connection):
                    await one.close()

    async def _connection(self, step: Step) -> Connection | KwireError:
        """The connection that stands for the recorded one, or why there is none."""
        found = self._connections.get(step.connection)
        if found is None:
            address = self._targets.of(step.flow)
            try:
                found = await Connection.open(
                    address.host,
                    address.port,
                    client_id=step.flow.client_id,
                    ssl=self._context,
                    server_hostname=None if self._tls is None else self._tls.name,
                    sasl=self._targets.security.sasl,
                )
            except KwireError as error:
                found = error
            self._connections[step.connection] = found
        return found

    async def _take(self, step: Step, connection: Connection | KwireError) -> None:
        try:
            if isinstance(connection, KwireError):
                raise connection
            outcome = await self._send(step, connection)
        except KwireError as error:
            outcome = Outcome(flow=step.flow, verdict=Verdict.FAILED, reason=str(error))
        self._told(outcome)
        if step.last and isinstance(connection, Connection) and connection.idle:
            with suppress(KwireError):
                await connection.close()

    async def _send(self, step: Step, connection: Connection) -> Outcome:
        flow, version = step.flow, step.flow.version
        recorded = DecodedFlow(flow)
        assert recorded.request is not None  # the plan has looked
        request = recorded.request.body
        _check_offered(connection, flow)
        self._carried.put_into(request, step.connection)
        if isinstance(request, ApiVersionsRequest):
            # A broker refuses who takes it for a node of another cluster (KIP-1242).
            request.cluster_id, request.node_id = None, -1
        if flow.ending is Ending.NO_RESPONSE:
            await connection.tell(request, version)
            return Outcome(flow=flow, verdict=Verdict.NOT_COMPARED, reason="asks for no response")
        timeout = (flow.latency or 0.0) + REQUEST_TIMEOUT
        now = await connection.send(request, version, timeout)
        return self._judge(step, recorded, now)

    def _judge(self, step: Step, recorded: DecodedFlow, now: Response) -> Outcome:
        flow, answer = step.flow, recorded.response
        blank = Outcome(flow=flow, verdict=Verdict.NOT_COMPARED)
        if answer is None:
            return replace(blank, reason="the recorded response is not there or not decoded")
        if len(flow.response_copy or b"") < (flow.response_size or 0):
            return replace(blank, reason="the recorded response is cut")
        self._carried.learn(answer.body, now, answer.version, step.connection)
        pairs = tuple(differences(answer.body, now, answer.version, self._ignore))
        grown = tuple(pair for pair in pairs if self._ignore.growth and pair.has_grown)
        found = tuple(pair for pair in pairs if pair not in grown)
        verdict = Verdict.DIFFERENT if found else Verdict.SAME
        return replace(blank, verdict=verdict, differences=found, grown=grown)


def _check_offered(connection: Connection, flow: Flow) -> None:
    offered = connection.node.api_versions.get(flow.key)
    if flow.key == _API_VERSIONS or (offered is not None and flow.version in offered):
        return
    what = "not at all" if offered is None else f"in versions {offered}"
    raise ConnectionFailed(f"{connection.peer} offers {api_name(flow.key)} {what}: not sent")
