"""The filter that decides for each request who answers it: a service, a router, or the node."""

from __future__ import annotations

from collections.abc import Callable, Container, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from kwire.codec.declaration import Request, Response
from kwire.codec.versions import Versions
from kwire.messages.a18_api_versions import ApiVersionsResponse
from kwire.messages.a55_describe_quorum import DescribeQuorumRequest
from kwire.net.address import Address
from kwire.net.service import RequestContext, Service
from kwire.proxy.filters.filter import Action, Answer, Call, Close, Filter
from kwire.proxy.flows.flow import Deed
from kwire.proxy.flows.interest import Direction
from kwire.proxy.serve.api_versions import merge


@dataclass(frozen=True, slots=True, kw_only=True)
class Routed:
    """The answer of another node, and which one that was."""

    response: Response
    node: str


class Router(Protocol):
    """Has requests answered by the node that they are for."""

    @property
    def apis(self) -> Mapping[int, Versions]:
        """API key to versions: what is routed where the listener's node offers it as well."""
        ...

    async def route(self, request: Request, context: RequestContext) -> Routed | None:
        """The answer; None closes the connection, as a node does that cannot answer."""
        ...


Outcome = Response | Routed | None | BaseException
Cancel = Callable[[], None]

Work = Callable[[Coroutine[Any, Any, Outcome], Callable[[Outcome], None]], Cancel]
"""Runs a coroutine beside the traffic and hands over what it returned or raised; cancels it."""


class Dispatch(Filter):
    """Answers what the service has, routes what the router has, and lets the rest pass.

    name: of the service, as viewers are told. withheld: API keys that the nodes offer and that
    would fail here: ApiVersions does not name them. simulated: API keys whose answers are not the
    truth about the cluster; they are marked. listener: the name that the service knows it by.
    guarded: whether nodes take requests only of clients that have authenticated by SASL; then
    nothing is answered or routed for others either.
    """

    looks_inside = False

    def __init__(
        self,
        service: Service,
        work: Work,
        *,
        name: str,
        router: Router | None = None,
        withheld: frozenset[int] = frozenset(),
        simulated: Container[int] = (),
        listener: str = "CONTROLLER",
        guarded: bool = False,
    ) -> None:
        self._service = service
        self._work = work
        self._name = name
        self._router = router
        self._withheld = withheld
        self._simulated = simulated
        self._listener = listener
        self._guarded = guarded

    @property
    def name(self) -> str:
        """What notes call it."""
        return f"the {self._name} service"

    def wants(self, key: int, version: int, direction: Direction) -> bool:
        """Requests that are answered or routed."""
        if direction is not Direction.REQUEST:
            return False
        return version in self._service.apis.get(key, ()) or version in self._routed.get(key, ())

    async def on_request(self, request: Request, call: Call) -> Action:
        """Ask whoever is to answer; the connection waits, as it would for a node."""
        if self._guarded:
            await _let_in(call)
        context = self._context(call)
        cancel: Cancel | None = None

        def begin(resume: Callable[[Outcome], None]) -> None:
            nonlocal cancel
            cancel = self._work(self._outcome(request, context), resume)

        try:
            outcome: Outcome = await call.until(begin)
        finally:
            if cancel is not None:
                cancel()
        return self._action(outcome, call)

    def on_api_versions_response(self, response: ApiVersionsResponse, call: Call) -> None:
        """Offer what is answered here beside what the node offers."""
        if response.error_code:
            return
        merge(response, self._service.apis, self._routed, self._withheld)
        call.flow.mark(Deed.ANSWERED, f"the node's answer, with what {self.name} offers")

    def _action(self, outcome: Outcome, call: Call) -> Action:
        if isinstance(outcome, BaseException):  # to send it on could do it twice
            said = f"{self.name} failed: {type(outcome).__name__}: {outcome}"
            call.flow.problems.append(said)
            return Close()
        if outcome is None:
            return Close()
        if isinstance(outcome, Routed):
            return Answer(outcome.response, Deed.ROUTED, f"routed to {outcome.node}")
        if call.flow.key in self._simulated:
            call.flow.mark(Deed.SIMULATED, "SIMULATED: the cluster knows nothing of this")
        return Answer(outcome)

    async def _outcome(self, request: Request, context: RequestContext) -> Response | Routed | None:
        key = type(request).key or 0
        if context.version in self._service.apis.get(key, ()):
            return await self._service.answer(request, context)
        assert self._router is not None, "only its APIs and the service's come here"
        return await self._router.route(request, context)

    def _context(self, call: Call) -> RequestContext:
        peer = Address.parse(call.connection.client)
        return RequestContext(
            version=call.version,
            correlation_id=call.flow.correlation_id,
            client_id=call.flow.client_id,
            listener=self._listener,
            peer=(peer.host, peer.port),
        )

    @property
    def _routed(self) -> Mapping[int, Versions]:
        return {} if self._router is None else self._router.apis


async def _let_in(call: Call) -> None:
    """Wait until the node has answered something for this client: for one that has not
    authenticated it closes the connection instead."""
    if not call.connection.let_in:
        await call.ask(DescribeQuorumRequest(), 0)
        call.connection.let_in = True
