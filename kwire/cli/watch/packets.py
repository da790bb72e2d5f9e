"""`kwire watch -`: flows out of packets that a pipe brings, as tcpdump writes them."""

from __future__ import annotations

import os
import sys
from collections import deque
from contextvars import copy_context
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING

import typer

from kwire.cli.errors import INTERRUPTED, CommandFailed, WrongUsage
from kwire.cli.packet_input import STDIN, PacketInput, print_balance, stdin_packets
from kwire.errors import KwireError
from kwire.extras import importing
from kwire.proxy import DecodedFlow, Flow
from kwire.proxy.feed.source import FeedEvent, packet_events

with importing("dpkt", "pcap", "reading packets"):
    from kwire.proxy.capture.pcap_import import PacketImport

if TYPE_CHECKING:
    from kwire.cli.flows.display import Display
    from kwire.proxy.capture.packets.key_log import KeyLog

WAITING = 5000
"""Events that may wait to be drawn; then reading waits, and the pipe with it."""


def run_plain(display: Display, ports: frozenset[int], keys: KeyLog | None) -> None:
    """Print a line a flow until the pipe ends, or Ctrl-C; then what became of the packets.

    Raises FileError, CommandFailed if packets are missing.
    """
    with PacketInput() as packet_input:
        packets = PacketImport(packet_input.file(stdin_packets()), STDIN, ports, keys)
        for watched in packet_events(packets):
            event = watched.event
            seen = DecodedFlow(event) if isinstance(event, Flow) else event
            display.show(seen, counted=not watched.waits)
    display.end(0)
    losses = print_balance(STDIN, packets.balance, err=True)
    if packet_input.stopped:
        raise typer.Exit(INTERRUPTED)
    if losses:
        raise CommandFailed(f"not all was seen: {'; '.join(losses)}")


class PacketThread(Thread):
    """Reads the packets of stdin; `take` gives the events since the last call.

    packets: what is read, with its balance. problem: why reading has failed.
    """

    def __init__(self, ports: frozenset[int] = frozenset(), keys: KeyLog | None = None) -> None:
        super().__init__(target=copy_context().run, args=(self._read,), daemon=True)
        self._input = PacketInput()
        self.packets = PacketImport(self._input.file(stdin_packets()), STDIN, ports, keys)
        self._events: deque[FeedEvent] = deque()
        self.problem = ""

    def stop(self) -> None:
        """End reading."""
        self._input.stop()

    def take(self) -> list[FeedEvent]:
        """Return the events since the last call."""
        return [self._events.popleft() for _ in range(len(self._events))]

    def _read(self) -> None:
        try:
            for watched in packet_events(self.packets):
                self._events.append(watched)
                while len(self._events) > WAITING and not self._input.stopped:
                    sleep(0.05)
        except KwireError as error:
            self.problem = str(error)


def take_keys_from_terminal() -> None:
    """Make stdin the terminal, as less does; whoever reads the pipe has it open already.

    Raises WrongUsage if there is no terminal.
    """
    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
    except OSError:
        raise WrongUsage(
            "there is no terminal to read keys from: give --plain for a line a flow."
        ) from None
    os.dup2(terminal, sys.stdin.fileno())
    os.close(terminal)
