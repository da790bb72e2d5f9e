"""Pairs requests with responses, batch after batch, in the task that decodes them.

A recorder writes a response behind its request, so that most pairs are in one batch. What is left
over waits for the batches after it. Keys are sorted and compared as numpy arrays: a dict of all
frames would cost as much as to decode small ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kwire.capture import REQUEST, RESPONSE
from kwire.proxy.flows.flow import Outcome

Positions = npt.NDArray[np.int64]

NONE = -1
"""The position of a row that is not there."""

_REQUEST, _RESPONSE = 0, 1
_KINDS = pa.array([REQUEST, RESPONSE])


@dataclass(frozen=True, slots=True)
class Pairs:
    """Requests with their responses. rows: of DECODED. requests, responses: positions, or NONE."""

    rows: pa.RecordBatch
    requests: Positions
    responses: Positions

    def of_requests(self, name: str) -> pa.Array:
        """Return a column of the requests; null where there is none."""
        return self.rows[name].take(_indices(self.requests))

    def of_responses(self, name: str) -> pa.Array:
        """Return a column of the responses; null where there is none."""
        return self.rows[name].take(_indices(self.responses))

    def select(self, chosen: npt.NDArray[np.bool_]) -> Pairs:
        """Return the pairs for which the mask is true."""
        return Pairs(self.rows, self.requests[chosen], self.responses[chosen])


class FramePairing:
    """Pairs frames of a slice; keeps those whose other half has not come."""

    def __init__(self) -> None:
        self._waiting: pa.Table | None = None

    def take(self, decoded: pa.RecordBatch) -> Iterator[Pairs]:
        """Yield the pairs that a batch completes, and the requests that need no response.

        1. Rows of the batch are paired with each other.
        2. The others are paired with the rows that wait; each may be the second half.
        3. A request that was not answered, as its recorder says, is not waited for.
        4. Requests that were answered, and responses, go on waiting.
        """
        # 1.
        matches = _matches(decoded)
        if len(matches.requests):
            yield Pairs(decoded, matches.requests, matches.responses)
        if not len(matches.alone):
            return
        # 2.
        alone = pa.Table.from_batches([decoded.take(pa.array(matches.alone))])
        if self._waiting is not None:
            alone = pa.concat_tables([self._waiting, alone])
            matches = _matches(alone)
            if len(matches.requests):
                yield _pairs(alone, matches.requests, matches.responses)
                alone = alone.take(pa.array(matches.alone))
        # 3.
        unanswered = _unanswered(alone)
        if unanswered.any():
            yield _without_response(alone.filter(pa.array(unanswered)))
            alone = alone.filter(pa.array(~unanswered))
        # 4.
        self._waiting = alone if alone.num_rows else None

    def halves(self) -> pa.RecordBatch | None:
        """Return the rows that wait, or None."""
        return None if self._waiting is None else _one_batch(self._waiting)

    def finish(self) -> Iterator[Pairs]:
        """Yield the rows that wait, each without its other half."""
        if self._waiting is not None:
            rows = _one_batch(self._waiting)
            is_request = pc.equal(rows["kind"], REQUEST).to_numpy(zero_copy_only=False)
            positions = np.arange(rows.num_rows)
            requests = np.where(is_request, positions, NONE)
            yield Pairs(rows, requests, np.where(is_request, NONE, positions))


class _Matches(NamedTuple):
    """Positions of rows: requests, their responses, and frames without another half."""

    requests: Positions
    responses: Positions
    alone: Positions


def _matches(rows: pa.RecordBatch | pa.Table) -> _Matches:
    """Find pairs: the same capture, connection and event; notices and damage are no frames."""
    kinds = _numbers(pc.index_in(rows["kind"], _KINDS))
    captures = _numbers(_dictionary_indices(rows["capture"]))
    frames = np.flatnonzero((kinds != NONE) & (captures != NONE))
    columns = (kinds, _numbers(rows["event"]), _numbers(rows["connection"]), captures)
    kind, *key = (column[frames] for column in columns)
    # The request stands before its response; of repeated frames, neighbours are a pair.
    order = np.lexsort((kind, *key))
    met = (kind[order[:-1]] == _REQUEST) & (kind[order[1:]] == _RESPONSE)
    for column in key:
        met &= column[order[:-1]] == column[order[1:]]
    firsts, seconds = order[:-1][met], order[1:][met]
    is_alone = np.ones(len(frames), dtype=bool)
    is_alone[firsts] = is_alone[seconds] = False
    in_file = np.argsort(firsts, kind="stable")
    return _Matches(frames[firsts[in_file]], frames[seconds[in_file]], frames[is_alone])


def _unanswered(rows: pa.Table) -> npt.NDArray[np.bool_]:
    answered = pc.equal(rows["ending"], Outcome.ANSWERED.name).fill_null(False)
    unanswered = pc.and_not(pc.equal(rows["kind"], REQUEST), answered)
    return np.asarray(unanswered.to_numpy(), dtype=bool)


def _without_response(requests: pa.Table) -> Pairs:
    rows = _one_batch(requests)
    return Pairs(rows, np.arange(rows.num_rows), np.full(rows.num_rows, NONE))


def _pairs(rows: pa.Table, requests: Positions, responses: Positions) -> Pairs:
    """Return the pairs with their own rows alone, since the others may be many."""
    count = len(requests)
    chosen = _one_batch(rows.take(pa.array(np.concatenate((requests, responses)))))
    return Pairs(chosen, np.arange(count), np.arange(count, 2 * count))


def _one_batch(rows: pa.Table) -> pa.RecordBatch:
    (batch,) = rows.combine_chunks().to_batches()
    return batch


def _dictionary_indices(values: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    encoded = values.dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        # One dictionary for all chunks: a capture has the same number in each.
        chunks = encoded.unify_dictionaries().chunks
        return pa.chunked_array([chunk.indices for chunk in chunks], pa.int32())
    return encoded.indices


def _numbers(values: pa.Array | pa.ChunkedArray) -> Positions:
    """Return numbers; NONE for null."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    numbers = values.cast(pa.int64()).fill_null(NONE)
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.int64)


def _indices(positions: Positions) -> pa.Array:
    return pa.array(positions, mask=positions == NONE)
