"""Judgments that sections share. A legal client may be slow or give up; it must not do harm."""

from __future__ import annotations

from collections.abc import Sequence

from kwire.conform.clients.play import Play, SeenClientRequest
from kwire.conform.vocabulary import ConformanceVerdict, Deviation

DIFFERS = ConformanceVerdict.DIFFERS

_PER_SECOND = 50
"""Requests in a second that no client with a backoff sends after an error."""
_MEMORY = 256 << 20
"""Bytes of memory that a client may take more than in the same task without faults."""


def demand_recovery(play: Play, error: str) -> None:
    """Demand that the task is done: DIFFERS where a client gives up that might go on."""
    if not play.ended_well:
        raise Deviation(f"the task is done in spite of {error}", play.end_text, DIFFERS)


def demand_calm(play: Play, requests: Sequence[SeenClientRequest]) -> None:
    """Demand that no second has many of these requests, nor of connections."""
    for times in ([each.at for each in requests], [each.opened for each in play.connections]):
        for first, last in zip(times, times[_PER_SECOND:], strict=False):
            if last - first < 1:
                raise Deviation(
                    f"a pause after an error: at the most {_PER_SECOND} tries in a second",
                    f"{_PER_SECOND + 1} within {last - first:.2f} s",
                )


def demand_records(
    play: Play, expected: Sequence[str], verdict: ConformanceVerdict = ConformanceVerdict.FAIL
) -> None:
    """Demand that the program read these values, each once, in order; fewer if it gave up."""
    received = play.printed("received")
    if received != list(expected[: len(received)]):
        raise Deviation(f"the records {', '.join(expected)}", ", ".join(received), verdict)


def demand_little_memory(play: Play, verdict: ConformanceVerdict) -> None:
    """Demand that the program took no more memory than a bound, where that can be known."""
    ends = [play.program, play.usual.program if play.usual else None]
    memory = [end.memory for end in ends if end is not None and end.memory is not None]
    if len(memory) == len(ends) and memory[0] > memory[1] + _MEMORY:
        raise Deviation(
            f"at the most {_MEMORY >> 20} MiB more than the {memory[1] >> 20} MiB without faults",
            f"{memory[0] >> 20} MiB",
            verdict,
        )
