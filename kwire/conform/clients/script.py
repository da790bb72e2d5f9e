"""The script of a case: rules that answer some requests in place of the cluster.

A rule is tried for each request in order; the first that concerns it acts.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import msgspec

from kwire.codec.declaration import Request, Response
from kwire.conform.clients.answers import groups, nodes, records, transactions
from kwire.conform.clients.answers.ask import NodeAnswers, NodeAsk
from kwire.conform.clients.cluster import Cluster
from kwire.conform.vocabulary import ServerRole
from kwire.error_codes import ErrorCode
from kwire.messages.a00_produce import ProduceRequest
from kwire.messages.a01_fetch import FetchRequest
from kwire.messages.a02_list_offsets import ListOffsetsRequest
from kwire.messages.a18_api_versions import ApiVersion, ApiVersionsRequest
from kwire.messages.a22_init_producer_id import InitProducerIdRequest
from kwire.net.frames import RequestFrame, encode_response


class ReplyEnd(Enum):
    """The end of a connection behind a reply: none, a farewell, a reset, a half of it, silence.

    HALF, MUTE: the node reads on, and does and says nothing more in that connection.
    """

    NONE = "none"
    CLOSE = "close"
    RESET = "reset"
    HALF = "half"
    MUTE = "mute"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeReply:
    """The deed of a node for a request. data: bytes, none for silence. delay: seconds before them.

    drip: seconds between every two bytes.
    """

    data: bytes = b""
    delay: float = 0.0
    drip: float = 0.0
    end: ReplyEnd = ReplyEnd.NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A request at a node, for which a reply is wanted."""

    cluster: Cluster
    node_id: int
    request: RequestFrame

    def ordinary(self, cluster: Cluster | None = None) -> NodeAsk:
        """Let the cluster answer; `NodeAsk.answer` has it. cluster: another one than the nodes'."""
        body, version = self.request.body, self.request.version
        cluster = self.cluster if cluster is None else cluster
        ask = NodeAsk(cluster=cluster, node_id=self.node_id, version=version, body=body)
        request = type(body)
        anywhere = isinstance(body, InitProducerIdRequest) and body.transactional_id is None
        if request in COORDINATED and self.node_id != cluster.coordinator and not anywhere:
            ask.cluster = copy.deepcopy(cluster)
            ask.answer = COORDINATED[request](ask)
            _set_codes(ask.answer, ErrorCode.NOT_COORDINATOR)
            return ask
        ask.answer = answers_of(cluster)[request](ask)
        if isinstance(body, ApiVersionsRequest):
            ask.answer.api_keys = offered(cluster)
        return ask

    def unchanged(self) -> Response:
        """Return what the cluster would answer, and let it stay as it is."""
        response: Response = self.ordinary(copy.deepcopy(self.cluster)).answer
        return response

    def framed(self, response: Response) -> bytes:
        """Return a response as the frame that answers this request."""
        number = self.request.header.correlation_id
        _fit(response, self.request.version, self.request.version in type(response).flexible)
        return encode_response(response, self.request.version, correlation_id=number)

    def usual_reply(self) -> NodeReply:
        """Return the reply of a node without faults."""
        ask = self.ordinary()
        return NodeReply(data=b"" if ask.no_answer else self.framed(ask.answer), delay=ask.wait)


def _fit(part: Any, version: int, flexible: bool) -> None:
    """Take out of a message what its version has no place for."""
    for name, default in type(part).struct_at(version, flexible).refused.items():
        setattr(part, name, default)
    for inner in inner_parts(part):
        _fit(inner, version, flexible)


def inner_parts(message: Any) -> list[Any]:
    """Return the structs that a message has as its fields and in its lists."""
    values = [getattr(message, name) for name in message.__struct_fields__]
    lists = [value if isinstance(value, list) else [value] for value in values]
    return [part for parts in lists for part in parts if isinstance(part, msgspec.Struct)]


NodeAction = Callable[[Turn], NodeReply]
"""Replies to a request in place of the cluster."""


@dataclass(slots=True, kw_only=True)
class ScriptRule:
    """Replies to some requests of an API. times: to how many, None for all, 0 to count only.

    after: so many. node_id: only at this node. when: only to these. seen: those that it is about.
    acted: how often it did. is_aid: True for one that the case is not about.
    """

    api: type[Request] | None
    action: NodeAction
    times: int | None = 1
    after: int = 0
    node_id: int | None = None
    when: Callable[[Any], bool] = lambda body: True
    is_aid: bool = False
    seen: int = 0
    acted: int = 0

    def concerns(self, turn: Turn) -> bool:
        """True if it is this rule's turn; counts the request."""
        body = turn.request.body
        if self.api is not None and not isinstance(body, self.api):
            return False
        if self.node_id not in (None, turn.node_id) or not self.when(body):
            return False
        self.seen += 1
        if self.seen <= self.after or (self.times is not None and self.acted >= self.times):
            return False
        self.acted += 1
        return True


def once(
    api: type[Request] | None, action: NodeAction, **options: Any
) -> Callable[[], list[ScriptRule]]:
    """Return what makes the one rule of a case. options: as ScriptRule has them."""
    return lambda: [ScriptRule(api=api, action=action, **options)]


def gives(code: int, at: str = "") -> NodeAction:
    """Refuse with an error code, without effect.

    at: by default the codes of its innermost parts; the name of a list for its parts' codes alone;
    `top`, and where that list is empty, for the response's own.
    """

    def action(turn: Turn) -> NodeReply:
        response: Any = turn.unchanged()
        parts = getattr(response, at, ())
        for part in parts:
            for name in part.__struct_fields__:
                if isinstance(getattr(part, name), list):
                    setattr(part, name, [])
            part.error_code = code
        if not parts and (at or not _set_codes(response, code)):
            response.error_code = code
        return NodeReply(data=turn.framed(response))

    return action


def _set_codes(message: Any, code: int) -> bool:
    """Set the error codes of a message's innermost parts; True if there was one."""
    without_records(message)
    found = [_set_codes(part, code) for part in inner_parts(message)]
    if any(found):
        return True
    names = [name for name in message.__struct_fields__ if name.endswith("error_code")]
    for name in names:
        setattr(message, name, code)
    return bool(names)


def without_records(message: Any) -> None:
    """Take the records out of a Fetch response, or of one of its parts."""
    for part in inner_parts(message):
        without_records(part)
    if getattr(message, "records", None):
        message.records = b""


def changed(change: Callable[[Any], object]) -> NodeAction:
    """Answer as the cluster does, changed; with effect."""

    def action(turn: Turn) -> NodeReply:
        ask = turn.ordinary()
        change(ask.answer)
        return NodeReply(data=turn.framed(ask.answer), delay=ask.wait)

    return action


def mangled(change: Callable[[bytes], bytes], *, end: ReplyEnd = ReplyEnd.NONE) -> NodeAction:
    """Answer as the cluster does, without effect, with the frame's bytes changed."""
    return lambda turn: NodeReply(data=change(turn.framed(turn.unchanged())), end=end)


def lost(end: ReplyEnd = ReplyEnd.CLOSE) -> NodeAction:
    """Do what is asked, and end the connection in place of the answer."""

    def action(turn: Turn) -> NodeReply:
        turn.ordinary()
        return NodeReply(end=end)

    return action


def ends(end: ReplyEnd = ReplyEnd.CLOSE) -> NodeAction:
    """End the connection, without effect."""
    return lambda turn: NodeReply(end=end)


def silence() -> NodeAction:
    """Do nothing, say nothing, as long as the connection lasts."""
    return ends(ReplyEnd.MUTE)


def late(seconds: float) -> NodeAction:
    """Answer as the cluster does, later."""

    def action(turn: Turn) -> NodeReply:
        usual = turn.usual_reply()
        return NodeReply(data=usual.data, delay=seconds)

    return action


def dripped(pause: float) -> NodeAction:
    """Answer as the cluster does, byte by byte."""
    return lambda turn: NodeReply(data=turn.usual_reply().data, drip=pause)


def meanwhile(happens: Callable[[Cluster], object]) -> NodeAction:
    """Let something happen to the cluster, then answer as it does."""

    def action(turn: Turn) -> NodeReply:
        happens(turn.cluster)
        return turn.usual_reply()

    return action


def withheld(until: Callable[[], bool]) -> NodeAction:
    """Answer Fetch as a cluster that has no records until something has happened."""

    def action(turn: Turn) -> NodeReply:
        ask = turn.ordinary()
        if until():
            return NodeReply(data=turn.framed(ask.answer), delay=ask.wait)
        without_records(ask.answer)
        wait = min(turn.request.body.max_wait_ms / 1000, 0.5)  # type: ignore[attr-defined]
        return NodeReply(data=turn.framed(ask.answer), delay=max(ask.wait, wait))

    return action


def until_sent(
    fault: ScriptRule,
    then: type[Request],
    when: Callable[[Any], bool] = lambda body: True,
    unless: Callable[[Any], bool] = lambda body: False,
) -> list[ScriptRule]:
    """Return a rule, and what withholds records until the client has sent an API after it acted.

    when: only these requests of the API count. unless: from such a one on, nothing is withheld.
    """
    sent = ScriptRule(
        api=then,
        action=silence(),
        times=0,
        is_aid=True,
        when=lambda body: (fault.acted > 0 and when(body)) or unless(body),
    )
    records = withheld(lambda: sent.seen > 0)
    return [sent, fault, ScriptRule(api=FetchRequest, action=records, times=None, is_aid=True)]


class NothingToChange(Exception):
    """The answer to this request has no part that an action is about."""


class Script:
    """The rules of a case, and the cluster behind them."""

    def __init__(self, cluster: Cluster, rules: Sequence[ScriptRule] = ()) -> None:
        self.cluster = cluster
        self.rules = list(rules)

    def reply(self, node_id: int, request: RequestFrame) -> tuple[NodeReply, bool]:
        """Return the reply to a request, and True if a rule gave it that is no aid."""
        turn = Turn(cluster=self.cluster, node_id=node_id, request=request)
        for rule in self.rules:
            if rule.concerns(turn):
                try:
                    return rule.action(turn), not rule.is_aid
                except NothingToChange:
                    rule.acted -= 1
        return turn.usual_reply(), False


COORDINATED = groups.COORDINATED | transactions.COORDINATED
"""Answers of a coordinator; other nodes refuse them."""

_FIRST = {ProduceRequest: 3, FetchRequest: 4, ListOffsetsRequest: 1}
"""Versions before these are gone since Kafka 4.0 (KIP-896), for the APIs whose first it matters."""


def answers_of(cluster: Cluster) -> NodeAnswers:
    """Return what the nodes of a cluster answer."""
    usual: NodeAnswers = {ApiVersionsRequest: nodes.api_versions}
    if cluster.password is not None:
        usual |= nodes.LOGIN
    if cluster.role is ServerRole.CONTROLLER:
        return usual | nodes.CONTROLLERS
    return usual | nodes.ANSWERS | records.ANSWERS | groups.ANSWERS | COORDINATED


def offered(cluster: Cluster) -> list[ApiVersion]:
    """Return the APIs of a cluster with their versions, as ApiVersions tells them."""
    result = []
    for request in answers_of(cluster):
        assert request.key is not None
        usual = (_FIRST.get(request, request.versions.first), request.versions.last)
        first, last = cluster.versions.get(request.key, usual)
        if first >= 0:
            version = ApiVersion(api_key=request.key, min_version=first, max_version=last)
            result.append(version)
    return sorted(result, key=lambda version: version.api_key)
