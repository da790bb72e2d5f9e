"""The network between machines: it delays, loses, doubles and cuts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from controller.raft import (
    Event,
    Reply,
    RequestFailed,
    RequestReceived,
    ResponseReceived,
    Send,
)
from controller.simulator.machine import Machine
from controller.simulator.scheduler import Scheduler
from kwire.apis.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse, SupportedFeatureKey
from kwire.declaration import Request, Response
from kwire.error_codes import ErrorCode

KRAFT_VERSION = "kraft.version"


@dataclass(frozen=True, slots=True, kw_only=True)
class Weather:
    """loss, duplicates, stragglers: the share of messages that meet with it.

    delay_ms: of all messages, at most. straggler_ms: of the late ones, at most, so that others
    overtake them.
    """

    loss: float = 0.0
    duplicates: float = 0.0
    stragglers: float = 0.0
    delay_ms: int = 5
    straggler_ms: int = 1500


@dataclass(frozen=True, slots=True)
class Token:
    """Who waits for a response: a replica in one of its lives."""

    source: int
    life: int
    correlation: int


FAIR = Weather()
FOUL = Weather(loss=0.05, duplicates=0.03, stragglers=0.03)


class Network:
    """cut: pairs (from, to) between which no message passes; cut_requests: none of requests.

    A request to a machine that is down fails, sometimes; else nobody hears of it again.
    """

    def __init__(self, scheduler: Scheduler, machines: dict[int, Machine]) -> None:
        self.weather = FAIR
        self.cut: set[tuple[int, int]] = set()
        self.cut_requests: set[tuple[int, int]] = set()
        self.answers: dict[int, Response] = {}
        self.note: Callable[[int, int, Request | Response, str], None] | None = None
        self._scheduler, self._random = scheduler, scheduler.random
        self._machines = machines
        self._asked = 0

    def isolate(self, id: int) -> None:
        """Cut a machine off, in both directions."""
        for other in self._machines:
            self.cut |= {(id, other), (other, id)}

    def heal(self) -> None:
        """Let everything pass again."""
        self.cut.clear()
        self.cut_requests.clear()

    def transmit(self, source: Machine, effect: Send | Reply) -> None:
        """Carry a Send or a Reply out."""
        if isinstance(effect, Send):
            self._send(source, effect)
        elif isinstance(effect.token, Token):
            self._reply(source.id, effect.token, effect.response)
        elif isinstance(effect.token, int):
            self.answers[effect.token] = effect.response

    def ask(self, machine: Machine, request: Request) -> int:
        """An admin's request, on a connection that works; the number of its answer, if it comes."""
        self._asked += 1
        if self.note:
            self.note(0, machine.id, request, "")
        version = max(type(request).versions)
        machine.step(RequestReceived(token=self._asked, request=request, version=version))
        return self._asked

    def _send(self, source: Machine, send: Send) -> None:
        target = self._machine_at(send.destination.host, send.destination.port)
        if target is None or (target.raft is None and self._random.random() < 0.7):
            error = ErrorCode.BROKER_NOT_AVAILABLE
            failed = RequestFailed(correlation=send.correlation, error=error)
            self._deliver(source.id, source.life, failed)
            return
        token = Token(source.id, source.life, send.correlation)
        request, version = send.request, max(type(send.request).versions)
        passes = (source.id, target.id) not in self.cut_requests
        received = RequestReceived(token=token, request=request, version=version)
        for _ in range(self._copies(source.id, target.id, request) if passes else 0):
            self._deliver(target.id, target.life, received)

    def _machine_at(self, host: str, port: int) -> Machine | None:
        kind, machine = host[0], self._machines.get(int(host[1:]))
        if machine is None or kind == "b":
            return machine  # a bootstrap server's name leads to its machine at whatever port
        return machine if machine.config.endpoints.entries[0].port == port else None

    def _copies(self, source: int, target: int, message: Request | Response) -> int:
        """How many of a message arrive."""
        chance, weather = self._random.random(), self.weather
        is_cut = (source, target) in self.cut
        copies = 0 if is_cut or chance < weather.loss else 1
        if copies and chance > 1 - weather.duplicates:
            copies = 2
        if self.note:
            self.note(source, target, message, ("lost", "", "doubled")[copies])
        return copies

    def _deliver(self, id: int, life: int, event: Event) -> None:
        late = self._random.random() < self.weather.stragglers
        most = self.weather.straggler_ms if late else self.weather.delay_ms
        delay = 1 + self._random.randrange(most)
        self._scheduler.later(delay, lambda: self._arrive(self._machines[id], life, event))

    def _arrive(self, machine: Machine, life: int, event: Event) -> None:
        if machine.raft is None or machine.life != life:
            return
        if isinstance(event, RequestReceived) and isinstance(event.request, ApiVersionsRequest):
            assert isinstance(event.token, Token)
            self._reply(machine.id, event.token, _versions(machine))
        else:
            machine.step(event)

    def _reply(self, source: int, token: Token, response: Response) -> None:
        received = ResponseReceived(correlation=token.correlation, response=response)
        for _ in range(self._copies(source, token.source, response)):
            self._deliver(token.source, token.life, received)


def _versions(machine: Machine) -> ApiVersionsResponse:
    levels = machine.config.supported_kraft_version
    feature = SupportedFeatureKey(
        name=KRAFT_VERSION, min_version=levels.min_version, max_version=levels.max_version
    )
    return ApiVersionsResponse(supported_features=[feature])
