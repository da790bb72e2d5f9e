"""The filter that has each request answered by a service, by a router, or by the node.

Nothing is answered or routed for a client that its node has not let in: the node itself gets those
requests, and closes the connection or says why.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Coroutine, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from kwire.codec.declaration import Request, Response
from kwire.codec.versions import Versions
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kwire.messages.a18_api_versions import ApiVersionsResponse
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kwire.net.address import Address
from kwire.net.service import ANONYMOUS, RequestContext, Service
from kwire.proxy.filters.filter import Action, Answer, Call, Close, Filter
from kwire.proxy.flows.flow import Effect
from kwire.proxy.flows.interest import Direction
from kwire.proxy.flows.login import ObservedLogin
from kwire.proxy.serve.api_versions import merge_api_versions
from kwire.proxy.serve.audit import NO_ANSWER, Audit, outcome_text, routed_change
from kwire.proxy.serve.callers import Caller, FindCaller


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

    @property
    def reads(self) -> Container[int]:
        """The keys of the APIs that change nothing."""
        ...

    @property
    def lends_rights(self) -> bool:
        """True if changes are made as the proxy, not as the client."""
        ...

    def may_route(self, key: int, caller: Caller) -> bool:
        """Return False if the node of the listener must judge what this caller asks."""
        ...

    async def route(
        self, request: Request, context: RequestContext, caller: Caller
    ) -> RoutedResponse | None:
        """Return the response; None closes the connection, as a node does that cannot answer."""
        ...


ServiceOutcome = Response | RoutedResponse | None | BaseException
"""The result of answering a request, or the error that it raised."""

Cancel = Callable[[], None]

StartService = Callable[
    [Coroutine[Any, Any, ServiceOutcome], Callable[[ServiceOutcome], None]], Cancel
]
"""Starts a coroutine, passes on what it returns or raises, and returns what cancels it.

It is a parameter, since filters do no IO and so know no event loop.
"""


class Dispatch(Filter):
    """Answers the service's APIs, routes the router's APIs, and lets all others pass.

    name: of the service, for viewers. withheld: API keys that the nodes offer and that would fail
    here: ApiVersions does not name them. simulated: API keys whose responses are not the truth
    about the cluster; their flows are marked. listener: the name that the service knows it by.
    find_caller: returns who sends the requests of a connection. audit: takes each change that is
    routed.
    """

    looks_inside = False

    def __init__(
        self,
        service: Service,
        start: StartService,
        *,
        name: str,
        router: RequestRouter | None = None,
        withheld: frozenset[int] = frozenset(),
        simulated: Container[int] = (),
        listener: str = "CONTROLLER",
        find_caller: FindCaller = lambda connection, now: Caller(),
        audit: Audit = lambda change: None,
    ) -> None:
        self._service = service
        self._start = start
        self._name = name
        self._router = router
        self._withheld = withheld
        self._simulated = simulated
        self._listener = listener
        self._find_caller = find_caller
        self._audit = audit

    @property
    def name(self) -> str:
        """The name of the filter in notes."""
        return f"the {self._name} service"

    def wants(self, key: int, version: int, direction: Direction) -> bool:
        """True for requests that are answered or routed."""
        if direction is not Direction.REQUEST:
            return False
        return version in self._service.apis.get(key, ()) or version in self._routed.get(key, ())

    def must_see(self, key: int, direction: Direction, size: int) -> bool:
        """True: by a login or a change that passes unseen, clients would have other rights."""
        return True

    def on_sasl_handshake_request(self, request: SaslHandshakeRequest, call: Call) -> None:
        """Forget the login before: the client begins another one."""
        call.connection.login = ObservedLogin()

    def on_sasl_handshake_response(self, response: SaslHandshakeResponse, call: Call) -> None:
        """Note whether the node takes the mechanism."""
        login, request = call.connection.login, call.request
        if login is not None and isinstance(request, SaslHandshakeRequest):
            login.handshake_answered(call.version, request, response)

    def on_sasl_authenticate_request(self, request: SaslAuthenticateRequest, call: Call) -> None:
        """Have tokens decoded, so that the answer finds its request in `call.request`."""

    def on_sasl_authenticate_response(self, response: SaslAuthenticateResponse, call: Call) -> None:
        """Note whether the node has let the client in."""
        login, request = call.connection.login, call.request
        if login is not None and isinstance(request, SaslAuthenticateRequest):
            login.token_answered(call.version, request, response, call.flow.asked)

    async def on_request(self, request: Request, call: Call) -> Action | None:
        """Have a request answered; the connection waits, as it would for a node."""
        caller = self._find_caller(call.connection, call.now)
        if caller is None:
            call.note("passed: the client has not logged in")
            return None
        key = call.flow.key
        if not self._is_answered(key, call.version):
            assert self._router is not None, "wants() takes only their APIs"
            if not self._router.may_route(key, caller):
                call.note("passed: only the node knows the client's principal")
                return None
        context = self._context(call, caller)
        cancel: Cancel | None = None

        def begin(resume: Callable[[ServiceOutcome], None]) -> None:
            nonlocal cancel
            cancel = self._start(self._respond(request, context, caller), resume)

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
        self, request: Request, context: RequestContext, caller: Caller
    ) -> Response | RoutedResponse | None:
        key = type(request).key or 0
        if self._is_answered(key, context.version):
            return await self._service.answer(request, context)
        assert self._router is not None, "wants() takes only their APIs"
        if key in self._router.reads:
            return await self._router.route(request, context, caller)
        return await self._change(self._router, request, context, caller)

    async def _change(
        self, router: RequestRouter, request: Request, context: RequestContext, caller: Caller
    ) -> RoutedResponse | None:
        """Route a change, and leave its audit line even if its client goes before the answer."""
        change = routed_change(request, context, caller, lent=router.lends_rights)
        try:
            routed = await router.route(request, context, caller)
            if routed is None:
                change = replace(change, outcome=NO_ANSWER)
            else:
                outcome = outcome_text(routed.response)
                change = replace(change, outcome=outcome, node=routed.node)
        finally:
            self._audit(change)
        return routed

    def _is_answered(self, key: int, version: int) -> bool:
        return version in self._service.apis.get(key, ())

    def _context(self, call: Call, caller: Caller) -> RequestContext:
        peer = Address.parse(call.connection.client)
        return RequestContext(
            version=call.version,
            correlation_id=call.flow.correlation_id,
            client_id=call.flow.client_id,
            listener=self._listener,
            peer=(peer.host, peer.port),
            principal=caller.principal or ANONYMOUS,
            by_delegation_token=caller.by_delegation_token,
        )

    @property
    def _routed(self) -> Mapping[int, Versions]:
        return {} if self._router is None else self._router.apis
