"""The smallest part of a recording with which a client still fails (delta debugging).

Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002), without the tests
of the parts alone: an answer is of no use without those before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from kwire.proxy.flows.flow import Flow

_CORRELATED = 8  # bytes of a request up to its correlation id


def reduced(flows: Sequence[Flow], fails: Callable[[list[Flow]], bool]) -> Iterator[list[Flow]]:
    """Yield ever fewer flows with which `fails` is true.

    1. Leave out each half, from the end on: what follows the failure is of no use.
    2. Do the same with quarters of what is left, then eighths, down to single flows.
    3. Repeat the last round until no single flow can be left out.
    """
    left = list(flows)
    size = len(left) // 2
    while size:
        before = len(left)
        for stop in range(before, 0, -size):
            fewer = left[: max(stop - size, 0)] + left[stop:]
            if fewer and fails(fewer):
                left = fewer
                yield left
        if size > 1 or len(left) == before:
            size //= 2


def without_repeats(flows: Iterable[Flow]) -> list[Flow]:
    """Return flows without the last ones of each request that got the same answer as before.

    A replay repeats the last answer by itself.
    """
    rows: dict[tuple[object, ...], list[Flow]] = {}
    left: dict[Flow, None] = {}
    for flow in flows:
        request = (flow.request_copy or b"")[_CORRELATED:]
        row = rows.setdefault((flow.connection.node_id, flow.key, flow.version, request), [])
        row.append(flow)
        left[flow] = None
    for row in rows.values():
        while len(row) > 1 and _answer(row[-1]) == _answer(row[-2]):
            del left[row.pop()]
    return list(left)


def _answer(flow: Flow) -> tuple[object, ...]:
    return flow.outcome, (flow.response_copy or b"")[4:]
