"""Time to decode and encode the same messages, of each engine and of other libraries.

    python benchmarks/codec.py [--rounds 15] [--write]

One process; in every round all contenders in turn; CPU time of this thread; least and median of
the rounds; the collector on, after `gc.freeze()`. Every contender must first give back the very
bytes it read. `--write` puts the tables into docs/reference/performance.md. Needs the extra
`bench`.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
import warnings
from collections.abc import Callable
from itertools import repeat
from typing import Any

import codec_batches
from codec_contenders import Call, Run, contenders
from codec_payloads import UUID_START, Payload, fresh_uuids, payloads
from codec_report import Times, report
from performance_page import write_section

SLICE = 3e-3
"""Seconds that one contender measures in one round, at least."""

COLD = 16_384
"""UUIDs of the cold run: twice what the largest of the caches holds."""


def main() -> None:
    """Measure, print, and write if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--write", action="store_true", help="put the tables into the docs")
    options = parser.parse_args()
    warnings.simplefilter("ignore", DeprecationWarning)
    made = {payload.title: _runs(payload) for payload in payloads()}
    batch = codec_batches.runs()
    cold = {payload.title: _cold(payload, made[payload.title]) for payload in payloads()}
    gc.collect()
    gc.freeze()
    tables = {
        "Decode": measure(_calls(made, "decode"), options.rounds),
        "Encode": measure(_calls(made, "encode"), options.rounds),
        "Decode, every UUID new": measure({t: c for t, c in cold.items() if c}, options.rounds),
        "Read a record batch": measure(_calls(batch, "decode"), options.rounds),
        "Build a record batch": measure(_calls(batch, "encode"), options.rounds),
    }
    text = report(tables, options.rounds)
    print(text)  # noqa: T201  # a script's output
    if options.write:
        write_section("codec", text)


def _calls(made: dict[str, dict[str, Run]], direction: str) -> dict[str, dict[str, Call]]:
    return {
        title: {name: call for name, run in runs.items() if (call := getattr(run, direction))}
        for title, runs in made.items()
    }


def _runs(payload: Payload) -> dict[str, Run]:
    data = payload.data()
    made = {name: make(payload, data) for name, make in contenders().items()}
    return {name: run for name, run in made.items() if run is not None}


def _cold(payload: Payload, runs: dict[str, Run]) -> dict[str, Call]:
    """Calls that decode the next of many copies, each with UUIDs of its own."""
    data = payload.data()
    uuids = data.count(UUID_START)
    if not uuids:
        return {}
    copies = [fresh_uuids(data, number) for number in range(-(-COLD // uuids))]
    wanted = ("kwire native", "kwire compiled", "kio")
    return {
        name: (_rotating(run.decode, copies), ()) for name, run in runs.items() if name in wanted
    }


def _rotating(call: Call, copies: list[bytes]) -> Callable[[], Any]:
    function, (_, *rest) = call
    place = 0

    def decode() -> Any:
        nonlocal place
        place = place + 1 if place + 1 < len(copies) else 0
        return function(copies[place], *rest)

    return decode


def measure(made: dict[str, dict[str, Call]], rounds: int) -> Times:
    """Seconds a call, of every round, by title and contender."""
    times: Times = {title: {name: [] for name in calls} for title, calls in made.items()}
    for title, calls in made.items():
        print(title, file=sys.stderr)  # noqa: T201  # progress
        loops = {name: _loops(call) for name, call in calls.items()}
        for _ in range(rounds):
            for name, call in calls.items():
                times[title][name].append(_seconds(call, loops[name]))
    return times


def _loops(call: Call) -> int:
    once = max(min(_seconds(call, 1) for _ in range(5)), 1e-7)
    return max(1, int(SLICE / once))


def _seconds(call: Call, loops: int) -> float:
    function, arguments = call
    start = time.thread_time()
    for _ in repeat(None, loops):
        function(*arguments)
    return (time.thread_time() - start) / loops


if __name__ == "__main__":
    main()
