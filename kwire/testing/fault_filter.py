"""The filter behind faults in messages: it applies them, and keeps the requests that it has seen.

Tests change the faults while the event loop of the proxy reads them, from another thread: the tuple
of faults is replaced as a whole, and the requests have a lock.
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict, deque
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass

from kwire.codec.declaration import Request, Response
from kwire.errors import InvalidValue
from kwire.messages.a03_metadata import MetadataResponse
from kwire.proxy.filters.filter import Action, Call, Delay, Filter, FilterVerdict
from kwire.proxy.filters.rule import RuleFilter
from kwire.proxy.flows.flow import Flow
from kwire.proxy.flows.glob import Glob
from kwire.proxy.flows.interest import Direction
from kwire.proxy.flows.language import Expression
from kwire.proxy.flows.match_target import MatchTarget
from kwire.text.ids import uuid_text

logger = logging.getLogger("kwire.testing")

KEPT = 64 << 20
"""Bytes of requests that are kept; then the oldest are forgotten."""


class TopicIds:
    """The ids of topics by name, from the Metadata responses that passed.

    Fetch has ids in place of names since version 13, Produce too (KIP-516).
    """

    def __init__(self) -> None:
        self._ids: defaultdict[str, set[str]] = defaultdict(set)

    def learn(self, response: MetadataResponse) -> None:
        """Take up the topics of a response."""
        for topic in response.topics:
            if topic.name is not None and topic.topic_id.int:
                self._ids[topic.name].add(uuid_text(topic.topic_id))

    def of(self, glob: Glob) -> set[str]:
        """Return the ids of the topics whose names match."""
        # A copy: another thread learns meanwhile.
        return {id for name, ids in list(self._ids.items()) if glob(name) for id in set(ids)}


@dataclass(frozen=True, slots=True)
class TopicExpression(Expression):
    """A topic by its name, also in messages that have only its id."""

    glob: Glob
    ids: TopicIds

    @property
    def needs_response(self) -> bool:
        return False

    @property
    def cost(self) -> int:
        return 0

    def test(self, target: MatchTarget) -> bool:
        return any(self.glob(topic) for topic in target.topics) or not target.topics.isdisjoint(
            self.ids.of(self.glob)
        )

    def static(self, key: int, version: int) -> bool | None:
        return None


class FaultFilter(Filter):
    """Applies faults in their order to what passes.

    faults: those that act now. failures: why one of them could not act.
    """

    looks_inside = False

    def __init__(self) -> None:
        self.faults: tuple[RuleFilter, ...] = ()
        self.topic_ids = TopicIds()
        self._lock = threading.Lock()
        self._requests: deque[tuple[Flow, int, Request]] = deque()
        self._kept = 0
        self._forgotten = 0
        self.failures: dict[RuleFilter, str] = {}

    def on_request(self, request: Request, call: Call) -> FilterVerdict:
        """Keep a request, and apply the faults."""
        # A fault that patches changes the message: what came is kept.
        changes = any(fault.patches for fault in self.faults)
        came = deepcopy(request) if changes else request
        with self._lock:
            self._requests.append((call.flow, call.size, came))
            self._kept += call.size
            while self._kept > KEPT and len(self._requests) > 1:
                self._kept -= self._requests.popleft()[1]
                self._forgotten += 1
        return self._applied(call, Direction.REQUEST, lambda fault: fault.on_request(request, call))

    def on_response(self, response: Response, call: Call) -> FilterVerdict:
        """Learn from a response, and apply the faults."""
        if isinstance(response, MetadataResponse):
            self.topic_ids.learn(response)
        return self._applied(
            call, Direction.RESPONSE, lambda fault: fault.on_response(response, call)
        )

    def requests(self) -> list[MatchTarget]:
        """Return the requests that were seen, in their order.

        Raises InvalidValue if some of them are forgotten.
        """
        kept, forgotten = self.kept()
        if forgotten:
            raise InvalidValue(
                f"{forgotten} of the requests are forgotten, since there were more than"
                f" {KEPT >> 20} MiB: `clear` before what you count"
            )
        return kept

    def kept(self) -> tuple[list[MatchTarget], int]:
        """Return the requests that are not forgotten, and how many are."""
        with self._lock:
            # Anew each time: a target counts what was looked at, and tests ask again and again.
            return [MatchTarget(*seen) for seen in self._requests], self._forgotten

    def forget(self) -> None:
        """Forget all requests."""
        with self._lock:
            self._requests.clear()
            self._kept = self._forgotten = 0

    def _applied(
        self, call: Call, direction: Direction, act: Callable[[RuleFilter], FilterVerdict]
    ) -> FilterVerdict:
        """Return what all faults together do: delays add up, until one has another action."""
        seconds, action = 0.0, None
        for fault in self.faults:
            if direction is Direction.RESPONSE and fault.way is Direction.REQUEST:
                continue
            if not fault.wants(call.flow.key, call.version, direction):
                continue
            action = self._act(fault, act)
            if isinstance(action, Delay):
                seconds, action = seconds + action.seconds, action.then
            if action is not None:
                break
        return Delay(seconds, action) if seconds else action

    def _act(self, fault: RuleFilter, act: Callable[[RuleFilter], FilterVerdict]) -> Action | None:
        try:
            return act(fault)
        except Exception as error:
            # One fault that cannot be must not hide the others; pytest shows the log of a failure.
            if fault not in self.failures:
                self.failures[fault] = str(error)
                logger.warning("%s did nothing: %s", fault.name, error)
            return None
