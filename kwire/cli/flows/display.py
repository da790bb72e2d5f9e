"""Flows and notices as lines or JSON on stdout, and their counts in the end."""

from __future__ import annotations

import json
import sys
from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from kwire.cli.flows.counts import FlowCounts
from kwire.cli.flows.json_values import flow_data, notice_data
from kwire.cli.flows.lines import flow_lines, notice_lines
from kwire.cli.screen import UNWRAPPED, screen
from kwire.proxy import DecodedFlow, Notice, NoticeKind
from kwire.proxy.flows.match_target import MatchTarget

if TYPE_CHECKING:
    from kwire.proxy.flows.language import Expression

HELD = 20
"""Most notices of a connection that are held back, the latest ones."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The flows that are shown: of the APIs in `only`, or of all if that is empty, without those in
    `hidden`; and of these the flows that match `view`."""

    only: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    view: Expression | None = None

    @property
    def narrows(self) -> bool:
        """True if it names what is shown: notices are then those of the flows' connections."""
        return bool(self.only) or self.view is not None

    def __contains__(self, decoded: DecodedFlow) -> bool:
        api = decoded.flow.api
        if api in self.hidden or (self.only and api not in self.only):
            return False
        return self.view is None or self.view(MatchTarget.of_flow(decoded))


class Display:
    """Prints the selected flows, and notices, as they pass, and in the end their counts.

    If the selection names what is shown, a notice is held back until a flow of its connection is.

    handling: True to show whether a flow passed, was answered or routed. secrets: show
    those in messages.
    """

    def __init__(
        self,
        selection: Selection,
        *,
        verbose: bool = False,
        as_json: bool = False,
        handling: bool = False,
        secrets: bool = False,
    ) -> None:
        self.selection = selection
        self.secrets = secrets
        self.verbose = verbose
        self.as_json = as_json
        self.handling = handling
        self.counts = FlowCounts()
        self._held: defaultdict[int, deque[Notice]] = defaultdict(lambda: deque(maxlen=HELD))
        self._console = screen()

    def show(self, seen: DecodedFlow | Notice, *, counted: bool = True) -> None:
        """Count and print a flow that is selected, or a notice of a connection that has one.

        counted: False for a flow that comes once more.
        """
        if isinstance(seen, Notice):
            if self._is_held(seen):
                return
            self.counts.add(seen)
            self._show_notice(seen)
        elif seen not in self.selection:
            self.counts.others += counted
        else:
            for notice in self._held.pop(seen.flow.connection.number, ()):
                self._show_notice(notice)
            if counted:
                self.counts.add(seen)
            self._show_flow(seen)

    def _is_held(self, notice: Notice) -> bool:
        """Hold back a notice whose connection has no flow that was shown; forget closed ones."""
        number = notice.connection.number
        if not self.selection.narrows or number in self.counts.connections:
            return False
        if notice.kind is NoticeKind.CLOSED:
            self._held.pop(number, None)
        else:
            self._held[number].append(notice)
        return True

    def _show_flow(self, seen: DecodedFlow) -> None:
        if self.as_json:
            _write(flow_data(seen, tree=self.verbose, secrets=self.secrets))
        else:
            lines = flow_lines(
                seen,
                self._console,
                tree=self.verbose,
                handling=self.handling,
                secrets=self.secrets,
            )
            self._print(lines)

    def _show_notice(self, notice: Notice) -> None:
        if self.as_json:
            _write(notice_data(notice))
        else:
            self._print(notice_lines(notice, self._console))

    def _print(self, lines: Group) -> None:
        """Print lines; to a pipe without rich, which measures each word to wrap none."""
        texts = [line for line in lines.renderables if isinstance(line, Text)]
        is_plain = len(texts) == len(lines.renderables) and not self._console.is_terminal
        text = "".join([f"{line.plain}\n" for line in texts])
        if is_plain and len(text) < UNWRAPPED and "\t" not in text:
            sys.stdout.write(text)
            sys.stdout.flush()
        else:
            self._console.print(lines)

    def end(self, dropped: int) -> None:
        """Print the counts. dropped: events that were not shown."""
        if self.as_json:
            _write(self.counts.data() | {"dropped": dropped})
            return
        console = screen(stderr=True)
        console.print(Text(f"\n{self.counts.sentence}", "bold"))
        if dropped:
            console.print(f"{dropped} were not shown: the output is too slow", style="yellow")
        if self.counts.flows:
            console.print(self.counts.table())
            if (sentence := self.counts.leader_sentence) is not None:
                console.print(sentence)


def _write(data: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(data) + "\n")
    sys.stdout.flush()
