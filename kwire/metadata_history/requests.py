"""The recorded requests that caused changes, joined by leader, time and content.

A recording of the proxy has no offsets: a request is found by what it asked for, and by the time
between it and its response. Where the content does not decide, the answer is a guess.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum

from kwire.capture import CaptureRecord, Damage
from kwire.messages.a17_sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from kwire.messages.a36_sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from kwire.messages.a58_envelope import EnvelopeRequest
from kwire.metadata_history.claims import ROOTS, Claim, claims
from kwire.metadata_history.history import LoggedChange
from kwire.proxy import DecodedFlow, Flow
from kwire.proxy.capture.records import events
from kwire.proxy.flows.flow import ClientConnection
from kwire.proxy.flows.login import ObservedLogin
from kwire.proxy.flows.principal import host_text, principal_text
from kwire.shell.paths import components, path_of
from kwire.shell.short_paths import whole_path

TOLERANCE = 2.0
"""Seconds by which the clocks of a leader and of the proxy may differ."""

UNANSWERED = 30.0
"""Seconds after which a request without a response has certainly been handled."""

_BY_NAME, _BY_ID = "/image/topics/byName/", "/image/topics/byId/"
_LOGIN = (17, 36)


class Match(Enum):
    """The grounds on which a request was found. All but CONTENT are guesses.

    CONTENT: it asked for this change, at the leader, at that time. ELSEWHERE: the same at another
    node, which may have forwarded it. SEVERAL: others asked for the same at that time. NAME: it
    names the thing, and not what became of it. TIME: its content is not in the recording.
    """

    CONTENT = "content"
    ELSEWHERE = "guess: content, at another node"
    SEVERAL = "guess: one of several"
    NAME = "guess: name"
    TIME = "guess: time alone"


@dataclass(frozen=True, slots=True, kw_only=True)
class CausingRequest:
    """A request that caused a change.

    principal: None if the recording does not tell: brokers name it when they forward a request,
    logins only in recordings with secrets. client: its address. flow: as it was recorded, with the
    envelope around it.
    """

    request: str
    principal: str | None
    client_id: str | None
    client: str
    at: float
    match: Match
    flow: Flow


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Recorded:
    """A recorded request, as the cause of what its content asks for.

    node_id: that was asked. until: Unix seconds of its response.
    """

    cause: CausingRequest
    node_id: int | None
    until: float
    failed: bool

    def distance(self, at: float) -> float:
        """Return the seconds between the time of a record and this request."""
        return max(self.cause.at - at, at - self.until, 0.0)


@dataclass(slots=True)
class RecordedRequests:
    """The requests of captures that change metadata. damages: what of the captures is not read."""

    damages: list[Damage] = field(default_factory=list)
    _by_path: defaultdict[str, list[tuple[Claim, _Recorded]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    _unread: list[tuple[str, _Recorded]] = field(default_factory=list)
    _ids: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Iterable[CaptureRecord | Damage]) -> RecordedRequests:
        """Read captures; a part that is broken is among `damages`."""
        found = cls()
        for event in events(records):
            if isinstance(event, Damage):
                found.damages.append(event)
                continue
            if isinstance(event, Flow):
                found.add(DecodedFlow(event))
        return found

    def add(self, decoded: DecodedFlow, shown: Flow | None = None) -> None:
        """Take the next flow of a capture. shown: to give as the cause in its place."""
        flow = decoded.flow
        if flow.key in _LOGIN:
            _follow_login(decoded)
            return
        inner = decoded.envelope
        asked = decoded if inner is None else inner
        request = asked.request
        if request is None:
            root = ROOTS.get(asked.flow.key)
            if root is not None:
                self._unread.append((root, _recorded(decoded, asked, shown)))
            return
        found = claims(request.body, asked.response.body if asked.response else None)
        if found:
            recorded = _recorded(decoded, asked, shown)
            for claim in found:
                self._by_path[claim.path].append((claim, recorded))

    def sentences(self) -> Iterator[str]:
        """Yield what a reader of the causes has to know."""
        for damage in self.damages:
            yield f"a request may be missing: {damage}"

    def note_topic(self, change: LoggedChange) -> None:
        """Learn the id of a topic, by which brokers name it."""
        entry = change.entry
        if entry.path.startswith("/topics/") and entry.field is None:
            value = entry.after or entry.before
            if isinstance(value, dict):
                self._ids[entry.path.removeprefix("/topics/")] = value["id"]

    def cause(self, change: LoggedChange) -> CausingRequest | None:
        """Return the request that caused a change; None if none is recorded.

        1. Requests that ask for the change, at the time of the record: those that succeeded, at the
           leader, with the value, and closest in time come first.
        2. Else one of the same kind whose content was not recorded.
        """
        at = change.place.timestamp / 1000
        # 1.
        found: list[tuple[tuple[bool, bool, bool, float], _Recorded]] = []
        for path in self._paths(change.entry.path):
            for claim, recorded in self._by_path.get(path, ()):
                if recorded.distance(at) <= TOLERANCE and claim.explains(change.entry):
                    elsewhere = recorded.node_id != change.place.leader_id
                    rank = (not claim.is_exact, recorded.failed, elsewhere, recorded.distance(at))
                    found.append((rank, recorded))
        if found:
            found.sort(key=lambda item: item[0])
            (is_vague, failed, elsewhere, _), best = found[0]
            same = {id(other) for rank, other in found if rank[:3] == found[0][0][:3]}
            if is_vague or failed:
                return replace(best.cause, match=Match.NAME)
            if elsewhere:
                return replace(best.cause, match=Match.ELSEWHERE)
            return replace(best.cause, match=Match.SEVERAL if len(same) > 1 else Match.CONTENT)
        # 2.
        whole = path_of(whole_path(components(change.entry.path)))
        near = [
            recorded
            for root, recorded in self._unread
            if whole.startswith(root) and recorded.distance(at) <= TOLERANCE
        ]
        best_guess = min(near, key=lambda recorded: recorded.distance(at), default=None)
        return None if best_guess is None else replace(best_guess.cause, match=Match.TIME)

    def _paths(self, path: str) -> Iterator[str]:
        """Yield the whole path and those above it, of a topic by its name and by its id."""
        names = whole_path(components(path))
        wholes = [names]
        if path_of(names).startswith(_BY_NAME) and (id := self._ids.get(names[3])):
            wholes.append([*components(_BY_ID), id, *names[4:]])
        for whole in wholes:
            for length in range(len(whole), 1, -1):
                yield path_of(whole[:length])


def _recorded(outer: DecodedFlow, asked: DecodedFlow, shown: Flow | None) -> _Recorded:
    flow = outer.flow
    envelope = outer.request_as(EnvelopeRequest)
    latency = flow.latency
    cause = CausingRequest(
        request=f"{asked.flow.api} v{asked.flow.version}",
        principal=(
            _logged_in(flow.connection, flow.asked)
            if envelope is None
            else principal_text(envelope.request_principal or b"")
        ),
        client_id=asked.flow.client_id,
        client=(
            flow.connection.client if envelope is None else host_text(envelope.client_host_address)
        ),
        at=flow.at,
        match=Match.CONTENT,
        flow=shown or flow,
    )
    return _Recorded(
        cause=cause,
        node_id=asked.flow.connection.node_id,
        until=flow.at + (UNANSWERED if latency is None else latency),
        failed=bool(outer.failures),
    )


def _follow_login(decoded: DecodedFlow) -> None:
    flow, connection = decoded.flow, decoded.flow.connection
    login = connection.login = connection.login or ObservedLogin()
    shake, shaken = (
        decoded.request_as(SaslHandshakeRequest),
        decoded.response_as(SaslHandshakeResponse),
    )
    token, answer = (
        decoded.request_as(SaslAuthenticateRequest),
        decoded.response_as(SaslAuthenticateResponse),
    )
    if shake is not None and shaken is not None:
        login.handshake_answered(flow.version, shake, shaken)
    elif token is not None and answer is not None:
        login.token_answered(flow.version, token, answer, flow.asked)


def _logged_in(connection: ClientConnection, now: float) -> str | None:
    login = connection.login
    if login is None or login.identity is None or not login.is_in(now):
        return None
    return None if login.identity.user is None else f"User:{login.identity.user}"
