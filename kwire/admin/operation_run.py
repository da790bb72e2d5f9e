"""The progress of one operation: its keys, settled one after the other.

The driver asks; this decides what an answer means for each key, and which keys are asked again.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Generic, TypeVar

from kwire.admin.deadline import Deadline
from kwire.admin.errors import (
    MismatchedEndpointType,
    MissingFromAnswer,
    NoReachableLeader,
    OutcomeUnknown,
    may_be_done,
)
from kwire.admin.operation import UNKNOWN_NAMES, Operation, OperationCall
from kwire.admin.outcomes import Outcomes
from kwire.admin.registry import Route
from kwire.error_codes import ErrorCode
from kwire.errors import (
    AnswerLost,
    BrokerError,
    ConnectionFailed,
    KwireError,
    UnsupportedVersion,
    WireError,
)
from kwire.net.connection import Connection

K = TypeVar("K")
A = TypeVar("A")
R = TypeVar("R")

PATIENCE = 1.0
"""Seconds in which news of a topic that was just created reach every broker. After that a partition
that was named and is not known does not exist, and the deadline is not waited for."""

_REASONS_OF_NOBODY = (
    ConnectionFailed,
    NoReachableLeader,
    MismatchedEndpointType,
    UnsupportedVersion,
    WireError,
)
"""Errors of the cluster as a whole: raised if no key has any other outcome."""


class OperationRun(Generic[K, A, R]):
    """The progress of one operation: the keys that are settled, the latest error of the others.

    node_patience: seconds after which a node that cannot be asked is not asked again.
    """

    def __init__(
        self,
        operation: Operation[K, A, R],
        keys: tuple[K, ...],
        arguments: A,
        deadline: Deadline,
        node_patience: float = inf,
    ) -> None:
        self.operation = operation
        self.arguments = arguments
        self.deadline = deadline
        self._node_patience = node_patience
        self._keys = keys
        self._settled: dict[K, R | KwireError] = {}
        self.pending_set = set(keys)
        self.latest: dict[K, KwireError] = {}
        self.moved: set[K] = set()
        self._perhaps_done: set[K] = set()

    @property
    def pending(self) -> list[K]:
        """The keys that have no final outcome yet, in the order in which they were asked."""
        return [key for key in self._keys if key in self.pending_set]

    @property
    def lookup_route(self) -> Route:
        """The way in which the nodes of the keys are looked up."""
        route = self.operation.row.route
        return Route.NODE if route is Route.EVERY_BROKER else route

    def targets(self) -> dict[K, object]:
        """Return the target of each pending key, None for those that any node may be asked for."""
        if self.operation.row.route in (Route.ANY_NODE, Route.CONTROLLER):
            return dict.fromkeys(self.pending)
        return {key: self.operation.target(key, self.arguments) for key in self.pending}

    def take_answer(self, response: object, call: OperationCall[K, A]) -> None:
        """Note the outcomes in an answer. Raises BrokerError if it refuses the request whole."""
        asked = frozenset(call.keys)
        for key, value in self.operation.parse(response, call):
            if key in asked:  # what another node was asked for is not this one's to answer
                self.take(key, value)

    def take(self, key: K, value: R | KwireError) -> None:
        """Note the outcome of one key, which may be asked again after some errors."""
        if key not in self.pending_set:
            return  # nobody asked, or it is settled: the node repeats itself
        if isinstance(value, BrokerError) and self._may_change(value):
            self.latest[key] = value
            if self.operation.row.changes and may_be_done(value):
                self._perhaps_done.add(key)
            if value.code not in self.operation.again:
                self.moved.add(key)
        elif isinstance(value, BrokerError) and self._timed_out(value):
            self._settle(key, OutcomeUnknown(f"it may still be carried out: {value}"))
        else:
            self._settle(key, value)

    def raise_latest(self, keys: Iterable[K]) -> None:
        """Raise the BrokerError after which one of these keys is to be asked again, if any."""
        for key in keys:
            error = self.latest.get(key)
            if key in self.pending_set and isinstance(error, BrokerError):
                raise error

    def lose(self, keys: Iterable[K], error: KwireError) -> None:
        """Note that the node of these keys was not asked: another may have taken its place."""
        if self.deadline.elapsed > self._node_patience:
            self.fail(keys, error)
            return
        for key in keys:
            if key in self.pending_set:
                self.latest[key] = error
                self.moved.add(key)

    def forget(self, keys: Iterable[K]) -> None:
        """Drop the latest error of these keys: they are asked again now."""
        for key in keys:
            self.latest.pop(key, None)

    def answer_lost(self, keys: Iterable[K], error: AnswerLost) -> None:
        """Note that these keys were sent and not answered."""
        if self.operation.row.repeatable:
            self.lose(keys, error)
        else:
            self.fail(keys, OutcomeUnknown(f"{error}: it may have been carried out"))

    def unreadable(self, keys: Iterable[K], error: WireError) -> None:
        """Note that the answer for these keys cannot be read; a change may have been made."""
        if self.operation.row.changes:
            self.fail(keys, OutcomeUnknown(f"{error}: it may have been carried out"))
        else:
            self.fail(keys, error)

    def fail(self, keys: Iterable[K], error: KwireError) -> None:
        """Settle these keys with an error."""
        for key in list(keys):
            if key in self.pending_set:
                self._settle(key, error)

    def check_complete(self, keys: Iterable[K], connection: Connection) -> None:
        """Settle the keys that an answer leaves out: they have failed."""
        for key in keys:
            if key in self.pending_set and key not in self.latest:
                name = self.operation.row.api
                sentence = f"{connection.peer} left {key} out of its answer to {name}"
                self.unreadable([key], MissingFromAnswer(sentence))

    def outcomes(self) -> Outcomes[K, R]:
        """Return the outcome of every key. Raises the error that kept all of them from an own."""
        by_key: dict[K, R | KwireError] = {}
        for key in self._keys:
            value = self._settled[key] if key in self._settled else self.latest[key]
            # A later refusal may come of the first attempt: the topic exists already.
            if key in self._perhaps_done and isinstance(value, KwireError):
                sentence = "the controller that had it stopped leading, so it may have been"
                value = OutcomeUnknown(f"{value}; {sentence} carried out")
            by_key[key] = value
        errors = [error for error in by_key.values() if isinstance(error, _REASONS_OF_NOBODY)]
        if by_key and len(errors) == len(by_key):
            raise errors[0]
        return Outcomes(by_key)

    def _settle(self, key: K, value: R | KwireError) -> None:
        self._settled[key] = value
        self.pending_set.discard(key)
        self.latest.pop(key, None)

    def _may_change(self, error: BrokerError) -> bool:
        operation = self.operation
        if error.code in UNKNOWN_NAMES:
            return operation.row.route is Route.LEADER and self.deadline.elapsed < PATIENCE
        if operation.is_moved(error.code) or error.code in operation.again:
            return True
        return error.code == ErrorCode.REQUEST_TIMED_OUT and operation.row.repeatable

    def _timed_out(self, error: BrokerError) -> bool:
        """True if the node gave up waiting for a change that it had begun."""
        return error.code == ErrorCode.REQUEST_TIMED_OUT and self.operation.row.changes
