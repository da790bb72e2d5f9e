"""The filter that has each request answered by a service, by a router, or by the node."""

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
from kwire.proxy.flows.flow import Effect
from kwire.proxy.flows.interest import Direction
from kwire.proxy.serve.api_versions import merge_api_versions


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutedResponse:
    """The response of another node. node: names that node in notes."""

    response: Response
    node: str


class RequestRouter(Protocol):
    """Sends requests to the node that can answer them."""

    @property
    def apis(self) -> Mapping[int, Versions]:
        """API key to versions: what is routed if the listener's node offers it as well."""
        ...

    async def route(self, request: Request, context: RequestContext) -> RoutedResponse | None:
        """Return the response; None closes the connection, as a node does that cannot answer."""
        ...


ServiceOutcome = Response | RoutedResponse | None | BaseException
"""The result of answering a request, or the error that it raised."""

Cancel = Callable[[], None]

Start = Callable[[Coroutine[Any, Any, ServiceOutcome], Callable[[ServiceOutcome], None]], Cancel]
"""Starts a coroutine, passes on what it returns or raises, and returns what cancels it.

It is a parameter, since filters do no IO and so know no event loop.
"""


class Dispatch(Filter):
    """Answers the service's APIs, routes the router's APIs, and lets all others pass.

    name: of the service, for viewers. withheld: API keys that the nodes offer and that would fail
    here: ApiVersions does not name them. simulated: API keys whose responses are not the truth
    about the cluster; their flows are marked. listener: the name that the service knows it by.
    needs_sasl: True if nodes take requests only from clients that have authenticated by SASL; then
    nothing is answered or routed for other clients either.
    """

    looks_inside = False

    def __init__(
        self,
        service: Service,
        start: Start,
        *,
        name: str,
        router: RequestRouter | None = None,
        withheld: frozenset[int] = frozenset(),
        simulated: Container[int] = (),
        listener: str = "CONTROLLER",
        needs_sasl: bool = False,
    ) -> None:
        self._service = service
        self._start = start
        self._name = name
        self._router = router
        self._withheld = withheld
        self._simulated = simulated
        self._listener = listener
        self._needs_sasl = needs_sasl

    @property
    def name(self) -> str:
        """The name of the filter in notes."""
        return f"the {self._name} service"

    def wants(self, key: int, version: int, direction: Direction) -> bool:
        """True for requests that are answered or routed."""
        if direction is not Direction.REQUEST:
            return False
        return version in self._service.apis.get(key, ()) or version in self._routed.get(key, ())

    async def on_request(self, request: Request, call: Call) -> Action:
        """Have a request answered; the connection waits, as it would for a node."""
        if self._needs_sasl:
            await _check_authenticated(call)
        context = self._context(call)
        cancel: Cancel | None = None

        def begin(resume: Callable[[ServiceOutcome], None]) -> None:
            nonlocal cancel
            cancel = self._start(self._respond(request, context), resume)

        try:
            outcome: ServiceOutcome = await call.until(begin)
        finally:
            if cancel is not None:
                cancel()
        return self._action(outcome, call)

    def on_api_versions_response(self, response: ApiVersionsResponse, call: Call) -> None:
        """Add the APIs of the service and the router to what the node offers."""
        if response.error_code:
            return
        merge_api_versions(response, self._service.apis, self._routed, self._withheld)
        call.flow.add_effect(Effect.ANSWERED, f"the node's answer, with what {self.name} offers")

    def _action(self, outcome: ServiceOutcome, call: Call) -> Action:
        if isinstance(outcome, BaseException):
            # The service may have carried the request out before it failed: if it were sent on to
            # the node, it could be done twice.
            problem = f"{self.name} failed: {type(outcome).__name__}: {outcome}"
            call.flow.problems.append(problem)
            return Close()
        if outcome is None:
            return Close()
        if isinstance(outcome, RoutedResponse):
            return Answer(outcome.response, Effect.ROUTED, f"routed to {outcome.node}")
        if call.flow.key in self._simulated:
            call.flow.add_effect(Effect.SIMULATED, "SIMULATED: the cluster knows nothing of this")
        return Answer(outcome)

    async def _respond(
        self, request: Request, context: RequestContext
    ) -> Response | RoutedResponse | None:
        key = type(request).key or 0
        if context.version in self._service.apis.get(key, ()):
            return await self._service.answer(request, context)
        assert self._router is not None, "wants() takes only their APIs"
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


async def _check_authenticated(call: Call) -> None:
    """Let the node answer one request of this client first.

    The node closes the connection of a client that has not authenticated, and answers no request.
    """
    if not call.connection.let_in:
        await call.ask(DescribeQuorumRequest(), 0)
        call.connection.let_in = True
