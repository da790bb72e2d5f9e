"""`kwire capture to-test`: a pytest file that answers a client from a recording."""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kwire.cli.capture.files import CAPTURES, DamageTold, check_is_new, print_warning
from kwire.cli.errors import INTERRUPTED, CommandFailed, WrongUsage
from kwire.cli.flows.options import MEANT, TimeRange, expression
from kwire.cli.options import flag, option, reads_options

if TYPE_CHECKING:
    from kwire.cli.capture.reading import CaptureReading
    from kwire.proxy import Flow

_SLOWER, _MORE = 3.0, 2.0  # times and seconds that a failure may take longer with fewer answers


@reads_options
def to_test(
    *,
    captures: list[Path] = CAPTURES,
    out: Path | None = option(
        "--out", "-o", metavar="test_NAME.py", help="The test; its capture is written beside it."
    ),
    execute: str | None = option(
        "--exec",
        metavar="COMMAND",
        help="The client of the test, run once to see it pass. {bootstrap} in it, and"
        " KWIRE_BOOTSTRAP in its environment, are the address to connect to.",
    ),
    minimise: str | None = option(
        metavar="COMMAND", help="The same for a client that fails: keep only what makes it fail."
    ),
    timeout: float = option(
        default=60.0, min=0.1, metavar="SECONDS", help="The longest run of the client."
    ),
    view: str | None = MEANT,
    times: TimeRange,
    as_json: bool = flag("--json", help="Print JSON for scripts."),
) -> None:
    """Write a pytest file that answers a client from captures and compares what it sends.

    The capture beside it has the flows that the test needs, without what nodes ask each other, and
    with secrets masked. Without --exec the test runs the client of `pytest --kwire-client COMMAND`.
    --minimise leaves out flows as long as COMMAND fails with the same exit code and last line; the
    test then fails until the client does not fail so any more. Ctrl-C keeps the fewest so far.

    \b
    kwire capture to-test orders.avro --exec "python client.py {bootstrap}"
    kwire capture to-test orders.avro --out test_orders.py --view "~client billing*"
    kwire capture to-test stuck.avro --minimise "python client.py {bootstrap}" --timeout 20
    """
    from kwire.cli.capture.reading import CaptureReading
    from kwire.proxy.capture.replay.reduction import without_repeats
    from kwire.testing.recorded_test import write_test

    if execute and minimise:
        raise WrongUsage("--minimise COMMAND runs the client itself: omit --exec.")
    command = execute or minimise
    _check_command(command)
    path = out or Path(f"test_{captures[0].stem}.py")
    _check_path(path)
    damage = DamageTold()
    reading = CaptureReading(
        captures=captures, times=times, selected=expression(view), on_damage=damage
    )
    chosen = _flows(reading)
    flows = without_repeats(sorted(chosen, key=lambda flow: flow.at))
    making = _Making(flows, len(chosen), path, timeout, as_json)
    if minimise:
        making.minimise(minimise)
    write_test(making.flows, path, command=command, fault=making.fault, timeout=making.timeout)
    if execute:
        making.prove(execute)
    making.report()
    damage.end()


def _check_command(command: str | None) -> None:
    try:
        words = shlex.split(command or "")
    except ValueError as error:
        raise WrongUsage(f"{command!r} is no command: {error}.") from error
    if command is not None and not words:
        raise WrongUsage("The command is empty: write 'python client.py {bootstrap}'.")


def _check_path(path: Path) -> None:
    """Raise WrongUsage or CommandFailed for a path that pytest or a file stands against."""
    if path.suffix != ".py":
        raise WrongUsage(f"{str(path)!r} is no test: pytest finds test_NAME.py.")
    for file in (path, path.with_suffix(".avro")):
        check_is_new(file)


def _flows(reading: CaptureReading) -> list[Flow]:
    """Return the flows that can answer a client."""
    from kwire.proxy.capture.replay.answers import is_usable
    from kwire.proxy.flows.peers import NODE_APIS

    asked = [
        flow
        for flow in reading.flows()
        if reading.selected or (flow.connection.peer is None and flow.key not in NODE_APIS)
    ]
    chosen = [flow for flow in asked if is_usable(flow)]
    if unusable := len(asked) - len(chosen):
        print_warning(f"{unusable} flows are left out: not whole, or unreadable")
    if not chosen:
        raise CommandFailed("no client's request is in the recording with all its bytes")
    clients = sorted({flow.client_id or "-" for flow in chosen})
    if len(clients) > 1:
        print_warning(f"{len(clients)} clients are in it: --view '~client NAME' takes one of them")
    return chosen


@dataclass(slots=True)
class _Making:
    """A test in the making. recorded: how many flows there were. problem: the client's, at last."""

    flows: list[Flow]
    recorded: int
    path: Path
    timeout: float
    as_json: bool
    fault: str = ""
    problem: str = ""
    runs: int = 0
    is_stopped: bool = False

    def minimise(self, command: str) -> None:
        """Keep the fewest flows with which a client fails; those so far after Ctrl-C."""
        from kwire.cli.screen import screen
        from kwire.proxy.capture.replay.reduction import reduced
        from kwire.testing.recording import same_fault

        console = screen(stderr=True)
        with console.status("the first run") as status:
            began = time.monotonic()
            self.fault = self._run(command, self.flows)
            if not self.fault:
                raise CommandFailed(
                    "the client does not fail if it is answered from this recording: there is"
                    " nothing to minimise"
                )
            usual = (time.monotonic() - began) * _SLOWER + _MORE
            if not self.fault.startswith("no end"):
                self.timeout = round(min(self.timeout, max(usual, 5.0)))

            def fails(fewer: list[Flow]) -> bool:
                status.update(f"run {self.runs + 1}: {len(fewer)} of {self.recorded} requests")
                return same_fault(self._run(command, fewer), self.fault)

            try:
                for fewer in reduced(self.flows, fails):
                    self.flows = fewer
                    if not console.is_terminal:
                        enough = f"{len(fewer)} of {self.recorded} requests are enough"
                        typer.echo(f"run {self.runs}: {enough}", err=True)
            except KeyboardInterrupt:
                self.is_stopped = True

    def prove(self, command: str) -> None:
        """Run the client against what was written."""
        from kwire.testing import Recording

        with Recording(self.path.with_suffix(".avro")) as recording:
            recording.run(command, timeout=self.timeout)
            try:
                recording.check()
            except AssertionError as error:
                self.problem = str(error)

    def report(self) -> None:
        """Print what was made, and exit: with 1 if the client did otherwise, 130 after Ctrl-C."""
        from kwire.cli.screen import print_json

        if self.as_json:
            print_json(
                {
                    "test": str(self.path),
                    "capture": str(self.path.with_suffix(".avro")),
                    "requests": len(self.flows),
                    "recorded": self.recorded,
                    "runs": self.runs,
                    "fault": self.fault or None,
                    "problem": self.problem or None,
                    "stopped": self.is_stopped,
                }
            )
        else:
            count = f"{len(self.flows)} of {self.recorded} recorded requests"
            typer.echo(f"{self.path}: {count}, in {self.path.stem}.avro")
            if self.fault:
                typer.echo(f"{self.runs} runs; the client fails with {self.fault}")
        if self.is_stopped:
            typer.echo("Stopped: fewer requests may do.", err=True)
            raise typer.Exit(INTERRUPTED)
        if self.problem:
            raise CommandFailed(f"the test was written, and fails: {self.problem}")

    def _run(self, command: str, flows: list[Flow]) -> str:
        from kwire.testing import Recording

        with Recording(flows) as recording:
            fault = recording.run(command, timeout=self.timeout)
            asked = recording.requests
        self.runs += 1
        if not asked and self.runs == 1:
            raise CommandFailed(
                f"the client did not connect to the recording{fault and f': {fault}'}: write"
                " {bootstrap} where it takes an address, or let it read KWIRE_BOOTSTRAP"
            )
        return fault
