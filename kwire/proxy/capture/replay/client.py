"""Sends recorded requests to a real cluster, and compares its answers with the recorded ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum

from kwire.codec.declaration import Response
from kwire.errors import ConnectionFailed, InvalidValue, KwireError
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.registry import api_key, api_name
from kwire.net.address import Address
from kwire.net.connection import REQUEST_TIMEOUT, Connection
from kwire.net.security import PLAINTEXT, Security
from kwire.proxy.capture.replay.cluster_ids import ClusterIds
from kwire.proxy.capture.replay.comparison import FieldPair, IgnoredFields, differences
from kwire.proxy.capture.replay.plan import ReplayPlan, ReplayStep
from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import Flow, Outcome

_API_VERSIONS = api_key("ApiVersions")


class ReplayVerdict(Enum):
    """The comparison of an answer with the recorded one."""

    SAME = "same"
    DIFFERENT = "different"
    NOT_COMPARED = "not compared"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOutcome:
    """The outcome of a replayed request.

    reason: why the answers are not compared, or why there is none. grown: fields that differ
    because the log has grown since, which is no difference.
    """

    flow: Flow
    verdict: ReplayVerdict
    differences: tuple[FieldPair, ...] = ()
    grown: tuple[FieldPair, ...] = ()
    reason: str = ""


ReportOutcome = Callable[[ReplayOutcome], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """The addresses that stand for the recorded nodes; None stands for all other nodes."""

    addresses: Mapping[int | None, Address]
    security: Security = PLAINTEXT

    def of(self, flow: Flow) -> Address:
        """Return the address for a request. Raises InvalidValue if there is none."""
        node = flow.connection.node_id
        address = self.addresses.get(node) or self.addresses.get(None)
        if address is None:
            raise InvalidValue(f"nothing stands for node {node}: give `targets` {node}@HOST:PORT")
        return address


async def replay(
    plan: ReplayPlan,
    targets: Targets,
    ignore: IgnoredFields,
    report: ReportOutcome,
    *,
    fast: bool = False,
) -> None:
    """Send the requests of a plan in their order, each at its time and after the answers it needs.

    fast: do not wait for the times. report: called with each outcome, in the order they come.
    Raises InvalidValue if there is no address for a request, BadTls.
    """
    for step in plan.steps:
        targets.of(step.flow)
    await _Replay(plan, targets, ignore, report).run(fast)


class _Replay:
    def __init__(
        self, plan: ReplayPlan, targets: Targets, ignore: IgnoredFields, report: ReportOutcome
    ) -> None:
        self._plan = plan
        self._targets = targets
        self._tls = targets.security.tls
        self._context = None if self._tls is None else self._tls.context()
        self._ignore = ignore
        self._report = report
        self._ids = ClusterIds()
        self._connections: dict[tuple[str, int], Connection | KwireError] = {}

    async def run(self, fast: bool) -> None:
        loop = asyncio.get_running_loop()
        start = loop.time()
        tasks: list[asyncio.Task[None]] = []
        try:
            async with asyncio.TaskGroup() as group:
                for step in self._plan.steps:
                    # On any connection: a client produces to a topic that it created on another.
                    for earlier in step.after:
                        await asyncio.wait([tasks[earlier]])
                    if not fast:
                        await asyncio.sleep(start + step.wait - loop.time())
                    connection = await self._connection(step)
                    tasks.append(group.create_task(self._run_step(step, connection)))
        finally:
            for connection in self._connections.values():
                if isinstance(connection, Connection):
                    await connection.close()

    async def _connection(self, step: ReplayStep) -> Connection | KwireError:
        """Return the connection in place of the recorded one, or the error of opening it."""
        connection = self._connections.get(step.connection)
        if connection is None:
            address = self._targets.of(step.flow)
            try:
                connection = await Connection.open(
                    address.host,
                    address.port,
                    client_id=step.flow.client_id,
                    ssl=self._context,
                    server_hostname=None if self._tls is None else self._tls.name,
                    sasl=self._targets.security.sasl,
                )
            except KwireError as error:
                connection = error
            self._connections[step.connection] = connection
        return connection

    async def _run_step(self, step: ReplayStep, connection: Connection | KwireError) -> None:
        try:
            if isinstance(connection, KwireError):
                raise connection
            outcome = await self._send(step, connection)
        except KwireError as error:
            outcome = ReplayOutcome(flow=step.flow, verdict=ReplayVerdict.FAILED, reason=str(error))
        self._report(outcome)
        if step.last and isinstance(connection, Connection) and connection.idle:
            with suppress(KwireError):
                await connection.close()

    async def _send(self, step: ReplayStep, connection: Connection) -> ReplayOutcome:
        flow, version = step.flow, step.flow.version
        recorded = DecodedFlow(flow)
        assert recorded.request is not None, "the plan leaves out what does not decode"
        request = recorded.request.body
        _check_offered(connection, flow)
        self._ids.put_into(request, step.connection)
        if isinstance(request, ApiVersionsRequest):
            # A broker refuses a client that expects another cluster or node (KIP-1242).
            request.cluster_id, request.node_id = None, -1
        if flow.outcome is Outcome.NO_RESPONSE:
            await connection.send_unanswered(request, version)
            return ReplayOutcome(
                flow=flow, verdict=ReplayVerdict.NOT_COMPARED, reason="asks for no response"
            )
        timeout = (flow.latency or 0.0) + REQUEST_TIMEOUT
        now = await connection.send(request, version, timeout)
        return self._compare(step, recorded, now)

    def _compare(self, step: ReplayStep, recorded: DecodedFlow, now: Response) -> ReplayOutcome:
        flow, answer = step.flow, recorded.response
        blank = ReplayOutcome(flow=flow, verdict=ReplayVerdict.NOT_COMPARED)
        if answer is None:
            return replace(blank, reason="the recorded response is not there or not decoded")
        if len(flow.response_copy or b"") < (flow.response_size or 0):
            return replace(blank, reason="the recorded response is cut")
        self._ids.learn(answer.body, now, answer.version, step.connection)
        pairs = tuple(differences(answer.body, now, answer.version, self._ignore))
        grown = tuple(pair for pair in pairs if self._ignore.growth and pair.has_grown)
        different = tuple(pair for pair in pairs if pair not in grown)
        verdict = ReplayVerdict.DIFFERENT if different else ReplayVerdict.SAME
        return replace(blank, verdict=verdict, differences=different, grown=grown)


def _check_offered(connection: Connection, flow: Flow) -> None:
    offered = connection.node.api_versions.get(flow.key)
    if flow.key == _API_VERSIONS or (offered is not None and flow.version in offered):
        return
    versions = "not at all" if offered is None else f"in versions {offered}"
    raise ConnectionFailed(f"{connection.peer} offers {api_name(flow.key)} {versions}: not sent")
