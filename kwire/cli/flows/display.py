"""Flows and notices as lines or JSON on stdout, and their counts in the end."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.text import Text

from kwire.cli.flows.counts import FlowCounts
from kwire.cli.flows.json_values import flow_data, notice_data
from kwire.cli.flows.lines import flow_lines, notice_lines
from kwire.cli.screen import screen
from kwire.proxy import DecodedFlow, Notice
from kwire.proxy.flows.match_target import MatchTarget

if TYPE_CHECKING:
    from kwire.proxy.flows.language import Expression


@dataclass(frozen=True, slots=True)
class Selection:
    """The flows that are shown: of the APIs in `only`, or of all if that is empty, without those in
    `hidden`; and of these the flows that match `view`."""

    only: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()
    view: Expression | None = None

    def __contains__(self, decoded: DecodedFlow) -> bool:
        api = decoded.flow.api
        if api in self.hidden or (self.only and api not in self.only):
            return False
        return self.view is None or self.view(MatchTarget.of_flow(decoded))


class Display:
    """Prints flows and notices as they pass, and in the end the counts of all.

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
        self._console = screen()

    def show(self, seen: DecodedFlow | Notice) -> None:
        """Count a flow or a notice, and print it unless it is a flow that is not selected."""
        self.counts.add(seen)
        if isinstance(seen, DecodedFlow) and seen not in self.selection:
            return
        if isinstance(seen, Notice):
            self._show_notice(seen)
        elif self.as_json:
            _write(flow_data(seen, tree=self.verbose, secrets=self.secrets))
        else:
            lines = flow_lines(
                seen,
                self._console,
                tree=self.verbose,
                handling=self.handling,
                secrets=self.secrets,
            )
            self._console.print(lines)

    def _show_notice(self, notice: Notice) -> None:
        if self.as_json:
            _write(notice_data(notice))
        else:
            self._console.print(notice_lines(notice, self._console))

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
