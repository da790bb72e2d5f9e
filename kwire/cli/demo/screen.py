"""The output of the demo: its steps, and the RPCs that pass while they run."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text

from kwire.cli.flows.counts import NOT_LEADER, FlowCounts
from kwire.cli.flows.lines import client_and_node, flow_lines, notice_lines
from kwire.cli.printer import Printer, RepeatLimit
from kwire.cli.quorum.screen import print_replicas
from kwire.messages.registry import api_keys
from kwire.proxy import DecodedFlow, Notice, NoticeKind

CLIENT_ID = "kwire-demo"
"""The client whose RPCs are always shown."""

OF_A_START = api_keys("Vote", "BeginQuorumEpoch", "ControllerRegistration", "BrokerRegistration")
"""The RPCs that are shown while the nodes start: who leads, and who there is."""


class DemoScreen:
    """Prints in order, from the printer's thread: headings, tables and the flows between them."""

    def __init__(self, console: Console, printer: Printer, *, every: bool, verbose: bool) -> None:
        self.counts = FlowCounts()
        self._console = console
        self._printer = printer
        self._every = every
        self._verbose = verbose
        self._repeats = RepeatLimit()
        self._over = False
        self._starting = not every
        self._folded: Counter[str] = Counter()

    @property
    def is_terminal(self) -> bool:
        """True if people may read along."""
        return self._console.is_terminal

    def heading(self, text: str) -> None:
        """Print the heading of a step."""
        self.say(Text(f"\n── {text} ", "bold magenta"))

    def say(self, text: RenderableType) -> None:
        """Print a text between the flows."""
        self._printer.put(lambda: self._console.print(text))

    def replicas(self, status: dict[str, Any]) -> None:
        """Print the leader, the voters and the observers of a quorum."""
        self.say(f"\nLeaderId: {status['leaderId']}")
        self._printer.put(lambda: print_replicas(status, self._console))

    def view(self, seen: DecodedFlow | Notice) -> None:
        """Count a flow or a notice, and print it unless its like was printed a moment ago."""
        if self._over:
            return
        self.counts.add(seen)
        if self._starting and (subject := _folded(seen)) is not None:
            self._folded[subject] += 1
            return
        if isinstance(seen, Notice):
            if seen.kind not in (NoticeKind.OPENED, NoticeKind.CLOSED):
                self._limited((seen.kind, seen.connection.node_id), seen)
        elif self._every or seen.flow.client_id == CLIENT_ID:
            self._show(seen, "", tree=self._verbose and seen.flow.client_id == CLIENT_ID)
        else:
            self._limited((seen.flow.key, client_and_node(seen.flow)), seen)

    def started(self) -> None:
        """Show from now on what repeats or fails, too; say how much of it was not shown."""
        if not self._starting:
            return
        self._starting = False
        numbers = [f"{subject}: {number}" for subject, number in self._folded.most_common()]
        if numbers:
            sentence = f"Not shown while they started: {'; '.join(numbers)}. --all shows them."
            self.say(Text(sentence, style="dim"))

    def _limited(self, kind: tuple[object, ...], seen: DecodedFlow | Notice) -> None:
        at = seen.at if isinstance(seen, Notice) else seen.flow.at
        skipped = self._repeats.passes(kind, at)
        if skipped is not None:
            self._show(seen, f"(and {skipped} like it)" if skipped else "", tree=False)

    def _show(self, seen: DecodedFlow | Notice, note: str, *, tree: bool) -> None:
        console = self._console
        if isinstance(seen, Notice):
            self._printer.put(lambda: console.print(notice_lines(seen, console)), seen.weight)
            return
        self._printer.put(
            lambda: console.print(flow_lines(seen, console, tree=tree, note=note)),
            seen.flow.weight,
        )

    def close(self) -> None:
        """Show no more flows: the nodes are about to be killed, which cuts off pending requests."""
        self._over = True

    def print_counts(self) -> None:
        """Print how many RPCs of each API passed."""
        self.say(Text(f"\n{self.counts.sentence}", "bold"))
        self.say(self.counts.table())
        if (sentence := self.counts.leader_sentence) is not None:
            self.say(sentence)


def _folded(seen: DecodedFlow | Notice) -> str | None:
    """Return what to count in place of an event while the nodes start; None to show it.

    Nodes ask each other before they listen, and before one of them leads: that is no failure.
    """
    if isinstance(seen, Notice):
        return (
            "connections refused before a node listened"
            if seen.kind is NoticeKind.REFUSED
            else None
        )
    codes = {failure.code for failure in seen.failures}
    if codes and codes <= NOT_LEADER:
        return "answers of nodes that did not lead"
    if codes or seen.flow.key in OF_A_START:
        return None
    return "other RPCs"
