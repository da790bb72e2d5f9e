"""Pauses between tries while an error lasts (KIP-144, KIP-580)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from kwire.codec.declaration import Request
from kwire.conform.clients.case import ClientCase, ClientSection, ClientTask
from kwire.conform.clients.judges import DIFFERS
from kwire.conform.clients.play import Play
from kwire.conform.clients.script import ends, gives, once
from kwire.conform.vocabulary import Deviation, Skipped, kip
from kwire.error_codes import ErrorCode
from kwire.messages.registry import api_key, request

SECTION = ClientSection("client/backoff", "Pauses between tries while an error lasts")

_TIMES = 8
"""Tries that meet the error: with the usual backoff of 100 ms and more they take seconds."""
_SHORTEST = 0.05
"""Seconds in which a client with pauses makes no more tries than it has senders at work."""
_AT_ONCE = 3
_LONG = 0.8
"""Seconds of a pause that needs to grow no more: 1 s with jitter of 20 %."""
_GROWTH = 1.5
"""By this the longest pause is more than the first, where pauses double, with that jitter."""


def _demand_pauses(times: Sequence[float]) -> None:
    """Demand pauses, and that they grow."""
    pauses = [later - earlier for earlier, later in pairwise(times)]
    if len(pauses) < _TIMES - 1:
        raise Skipped(f"the client tries {len(times)} times only")
    shortest = min(later - first for first, later in zip(times, times[_AT_ONCE:], strict=False))
    if shortest < _SHORTEST:
        text = f"{_AT_ONCE + 1} within {shortest:.4f} s"
        raise Deviation(f"{_AT_ONCE} tries within {_SHORTEST:g} s at the most", text)
    if max(pauses[-3:]) < min(_GROWTH * pauses[0], _LONG):
        text = ", ".join(f"{pause:.2f}" for pause in pauses)
        raise Deviation("longer and longer pauses", f"{text} s", DIFFERS)


def _pauses(api: type[Request]) -> Callable[[Play], None]:
    return lambda play: _demand_pauses([tried.at for tried in play.scripted(api)])


_LASTING = (
    (1, "Produce", "produce", "NOT_LEADER_OR_FOLLOWER"),
    (2, "Produce", "produce", "NOT_ENOUGH_REPLICAS"),
    (3, "Metadata", "produce", "LEADER_NOT_AVAILABLE"),
    (4, "Metadata", "produce", "UNKNOWN_TOPIC_OR_PARTITION"),
    (5, "Fetch", "consume", "NOT_LEADER_OR_FOLLOWER"),
    (6, "Fetch", "consume", "UNKNOWN_LEADER_EPOCH"),
    (7, "ListOffsets", "consume", "NOT_LEADER_OR_FOLLOWER"),
    (8, "InitProducerId", "produce", "COORDINATOR_LOAD_IN_PROGRESS"),
    (9, "FindCoordinator", "group", "COORDINATOR_NOT_AVAILABLE"),
    (10, "JoinGroup", "group", "COORDINATOR_LOAD_IN_PROGRESS"),
    (11, "OffsetFetch", "group", "COORDINATOR_LOAD_IN_PROGRESS"),
    (12, "ConsumerGroupHeartbeat", "group-consumer", "COORDINATOR_LOAD_IN_PROGRESS"),
    (13, "AddPartitionsToTxn", "transaction", "COORDINATOR_LOAD_IN_PROGRESS"),
    (14, "CreateTopics", "admin", "NOT_CONTROLLER"),
)
_PARTS = {"Metadata": "topics", "OffsetFetch": "groups"}
"""The parts of a response that have such an error, where they are not the innermost."""
for number, name, task, error in _LASTING:
    api = request(api_key(name))
    SECTION[number] = ClientCase(
        sentence=f"While {error} for {name} lasts, a client makes longer and longer pauses between "
        "its tries.",
        source=kip(580, "Proposed Changes"),
        task=ClientTask(task),
        may_fail=True,
        rules=once(api, gives(ErrorCode[error], _PARTS.get(name, "")), times=_TIMES),
        judge=_pauses(api),
    )


@SECTION.case(
    15,
    kip(144, "Proposed Changes"),
    ClientTask.PRODUCE,
    may_fail=True,
    rules=once(None, ends(), times=_TIMES),
)
def _(play: Play) -> None:
    "A client makes longer and longer pauses between connections that are ended at once."
    _demand_pauses([connection.opened for connection in play.connections[:_TIMES]])
