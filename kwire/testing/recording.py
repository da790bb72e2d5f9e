"""A recording that answers clients in a test, and says in what they differ from it.

with Recording("orders.avro") as recording:
    run_my_client(recording.bootstrap_servers)
    recording.check()
"""

from __future__ import annotations

import asyncio
import re
import shlex
import signal
import threading
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from kwire.capture import Damage, read_capture
from kwire.conform.clients.play import ProgramEnd
from kwire.conform.clients.program import run_program
from kwire.errors import InvalidValue
from kwire.net.address import Address
from kwire.proxy.capture.records import events
from kwire.proxy.capture.replay.answers import RecordedAnswers
from kwire.proxy.capture.replay.server import ReplayServer
from kwire.proxy.flows.flow import Flow
from kwire.testing.background_server import BackgroundServer
from kwire.text.untrusted import harmless

_SETTLE = 2.0  # seconds in which what an ended client has sent is read
_SHOWN = 200  # characters of the line that a client printed last
_VARIABLE = re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b0x[0-9a-f]+|\d+", re.IGNORECASE)


class Recording(BackgroundServer):
    """Answers clients as recorded, in a thread of its own, while the context lasts.

    source: a capture, or flows. ignore: fields that may differ from what was recorded: names or
    ends of paths, with `*` and `?`. fast: answer at once, not after the recorded times. Raises
    InvalidValue if there is nothing to answer with, and FileError.
    """

    def __init__(
        self, source: str | Path | Iterable[Flow], *, ignore: Iterable[str] = (), fast: bool = False
    ) -> None:
        super().__init__("recording")
        flows = list(recorded_flows(Path(source)) if isinstance(source, str | Path) else source)
        answers = RecordedAnswers(flows, ignore=ignore)
        if not answers.size:
            raise InvalidValue("the recording has no request that is whole, and answers nobody")
        self._first = flows[0].connection.node_id
        nodes = dict.fromkeys((None, *(flow.connection.node_id for flow in flows)))
        listen = dict.fromkeys(nodes, Address("127.0.0.1", 0))
        self._server = ReplayServer(answers, listen, sinks=[self._count], fast=fast)
        self._fault = ""
        self.requests = 0

    def run(self, command: str, *, timeout: float = 60.0) -> str:
        """Run a client to its end; return how it failed, nothing if it did not.

        In the command `{bootstrap}` stands for the recording's address, which is in the environment
        variable KWIRE_BOOTSTRAP, too. timeout: seconds after which it is killed, with all that it
        has started. Raises ProgramNotStarted.
        """
        address = self.bootstrap_servers
        words = [word.replace("{bootstrap}", address) for word in shlex.split(command)]
        environment, ended = {"KWIRE_BOOTSTRAP": address}, threading.Event()

        async def work() -> ProgramEnd:
            try:
                return await run_program(words, limit=timeout, environment=environment)
            finally:
                ended.set()

        assert self._loop is not None
        running = asyncio.run_coroutine_threadsafe(work(), self._loop)
        try:
            end = running.result()
        except BaseException:
            running.cancel()  # which ends the client
            ended.wait(_SETTLE)  # or its loop would be closed first, and asyncio print that
            raise
        self._fault = _fault(end)
        return self._fault

    def check(self) -> None:
        """Raise AssertionError with a sentence if clients sent what was not recorded, if they did
        not send all that was, or if the last one that `run` started has failed.

        How often they repeat a request, and whether they send heartbeats, does not matter.
        """
        __tracebackhide__ = True
        wrong = []
        if difference := self._server.first_unmatched:
            wrong.append(f"the client sent what was not recorded: {difference}")
        elif missing := self._missing():
            what = f"{missing.api} v{missing.version}"
            wrong.append(f"the client did not send {what}, which was recorded")
        if self._fault:
            wrong.append(f"the client failed: {self._fault}")
        if wrong:
            raise AssertionError("; ".join(wrong))

    def check_fault(self, fault: str) -> None:
        """Raise AssertionError if the client failed with a fault, or did not come to its place.

        A client that sends more than was recorded, after all that was, has passed the place, even
        if it then fails for want of answers. fault: a value that `run` returned.
        """
        __tracebackhide__ = True
        if same_fault(self._fault, fault):
            raise AssertionError(f"the client still fails as it did: {self._fault}")
        if not self._fault or (self._server.first_unmatched and not self._missing()):
            return
        difference = self._server.first_unmatched
        first = f"; it had sent what was not recorded: {difference}" if difference else ""
        raise AssertionError(f"the client failed, but in another way: {self._fault}{first}")

    def _missing(self) -> Flow | None:
        until = time.monotonic() + _SETTLE
        while (missing := self._server.answers.unasked) and time.monotonic() < until:
            time.sleep(0.05)
        return missing

    def _count(self, event: object) -> None:
        self.requests += isinstance(event, Flow)

    @asynccontextmanager
    async def _serving(self) -> AsyncIterator[str]:
        async with self._server as server:
            yield str(server.addresses[self._first])


def recorded_flows(path: Path) -> Iterable[Flow]:
    """Yield the flows of a capture. Raises InvalidValue if it is damaged, FileError, OSError."""
    for event in events(read_capture(path)):
        if isinstance(event, Damage):
            raise InvalidValue(f"{event}: `kwire capture repair` keeps the rest")
        if isinstance(event, Flow):
            yield event


def same_fault(left: str, right: str) -> bool:
    """True if two faults differ at the most in numbers and ids, and are some."""
    return bool(left) and _VARIABLE.sub("#", left) == _VARIABLE.sub("#", right)


def _fault(end: ProgramEnd) -> str:
    """Return the exit code and the last line that was printed, errors before output."""
    if end.exit_code == 0:
        return ""
    lines = [line.strip() for line in (*end.lines, *end.errors.splitlines()) if line.strip()]
    printed = f": {harmless(lines[-1])[:_SHOWN]}" if lines else ""
    if end.exit_code is None:
        return f"no end in time{printed}"
    if end.exit_code < 0:
        return f"{signal.Signals(-end.exit_code).name}{printed}"
    return f"exit code {end.exit_code}{printed}"
