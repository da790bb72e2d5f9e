"""The tree of one flow; branches are made when they are opened."""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from rich.style import Style
from rich.text import Text
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from kwire.cli.flows import tree_screen
from kwire.cli.flows.lines import duration
from kwire.cli.flows.record_tree import record_trees
from kwire.cli.watch.screen.flow_log import FlowLogEntry
from kwire.proxy import DecodedFlow, Notice, NoticeKind, Outcome, flow_trees, summarize
from kwire.proxy import Tree as Branch
from kwire.proxy.flows.text import printable, size_text
from kwire.text.times import moment

NAMED_NUMBER = re.compile(r"-?\d+ [A-Z_]{2,}( -?\d+)?")
"""A number with its name behind it, which an edit does not take: that of an error code."""

OPENED = 80
"""Branches that are opened at first."""

LOOKED = 20_000
"""Branches among which the interesting one is looked for."""

LEADERS = frozenset({"leader_id", "leader_epoch", "current_leader_epoch", "replica_epoch", "epoch"})
"""Fields that are interesting where there is no error."""


@dataclass(frozen=True, slots=True)
class TreePosition:
    """A branch, and its path in a message as edits take it; empty outside of what may be held."""

    branch: Branch
    path: str = ""


class Details(Tree[TreePosition]):
    """Shows the messages of an event as a tree."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__("", id=id)
        self.guide_depth = 2
        self._entry: FlowLogEntry | None = None

    def show(self, entry: FlowLogEntry | None, rpcs: Sequence[DecodedFlow] = ()) -> None:
        """Show an event from now on. rpcs: of a notice, those of its connection that are known."""
        line = self.cursor_line if entry is self._entry else -1
        self._entry = entry
        self.clear()
        if entry is None:
            self.root.set_label(Text("no flow is chosen", "dim"))
            return
        if not isinstance(entry.seen, DecodedFlow):
            self.root.set_label(Text(printable(entry.seen.text)))
            for name, value in connection_facts(entry.seen, rpcs):
                self.root.add_leaf(Text.assemble((f"{name:9}", "dim"), printable(value)))
            self.root.expand()
            return
        self.root.set_label(_title(entry.seen))
        for problem in entry.seen.problems:
            self.root.add_leaf(Text(f"! {problem}", "yellow"))
        for note in entry.seen.flow.notes:
            self.root.add_leaf(Text(f"· {printable(note)}", "magenta"))
        self._open(entry.seen, "Response" if entry.holds_response else "Request")
        self.root.expand()
        self._place_cursor(self._interesting(entry) or self.root, line)

    def render_label(self, node: TreeNode[TreePosition], base_style: Style, style: Style) -> Text:
        """Draw a branch's line; one that is too long for the tree ends with an ellipsis."""
        text = super().render_label(node, base_style, style)
        depth, above = 0, node.parent
        while above is not None:
            depth, above = depth + 1, above.parent
        if room := self.scrollable_content_region.width:
            text.truncate(max(room - depth * self.guide_depth, 1), overflow="ellipsis")
        return text

    @property
    def edit(self) -> str:
        """The field at the cursor as `path=value`; empty if there is none."""
        position = None if self.cursor_node is None else self.cursor_node.data
        if position is None or not position.path or position.branch.children:
            return ""
        value = position.branch.value
        if NAMED_NUMBER.fullmatch(value):
            value = value.partition(" ")[0]
        return f"{position.path}={value}"

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[TreePosition]) -> None:
        """Make the branches of a node that is opened."""
        event.stop()
        self._grow(event.node)

    def _open(self, decoded: DecodedFlow, editable: str) -> None:
        """Open branches of the messages, breadth first, up to OPENED.

        editable: the message that edits change, `Request` or `Response`.
        """
        nodes = []
        for tree in flow_trees(decoded, record_trees):
            label = Text.assemble((tree.name, "bold"), f" {tree.value}")
            path = "." if tree.name.endswith(editable) else ""
            nodes.append(self.root.add(label, TreePosition(tree, path)))
        count = 0
        while nodes and count < OPENED:
            node = nodes.pop(0)
            if node.data is None or node.data.branch.name == "header":
                continue
            self._grow(node)
            node.expand()
            count += len(node.children)
            nodes += [child for child in node.children if child.allow_expand]

    def _interesting(self, entry: FlowLogEntry) -> TreeNode[TreePosition] | None:
        """Open the way to an error, else to what the filter found, else to leader or epoch."""
        messages = [node for node in self.root.children if node.data is not None]
        for is_wanted in _wanted(entry):
            for message in messages:
                assert message.data is not None
                if (way := _way(message.data.branch, is_wanted)) is not None:
                    return self._open_way(message, way)
        return None

    def _open_way(self, node: TreeNode[TreePosition], way: list[int]) -> TreeNode[TreePosition]:
        for index in way:
            self._grow(node)
            if not node.children:  # a small struct on one line
                break
            node.expand()
            node = node.children[index]
        return node

    def _place_cursor(self, node: TreeNode[TreePosition], line: int) -> None:
        """Put the cursor on a node, or on a line where the user has put it in the same event."""
        self.get_node_at_line(0)  # makes the lines now: before the next refresh keys may come
        line = node.line if line < 0 else min(line, self.last_line)
        self.move_cursor_to_line(line)
        self.scroll_to(y=max(line - self.size.height // 2, 0), animate=False, force=True)

    def _grow(self, node: TreeNode[TreePosition]) -> None:
        if node.data is None or node.children:
            return
        for child in node.data.branch.children:
            position = TreePosition(child, _path(node.data.path, child))
            inline = tree_screen.inline(child)
            if not child.children:
                node.add_leaf(tree_screen.leaf(child), position)
            elif inline is not None and not position.path:
                node.add_leaf(Text.assemble((child.name, "bold"), "  ", inline), position)
            else:
                value = (f" {child.value}" if child.value else "", "dim")
                node.add(Text.assemble((child.name, "bold"), value), position)


def _wanted(entry: FlowLogEntry) -> Iterator[Callable[[Branch], bool]]:
    """Yield tests of branches, the most interesting first."""
    if isinstance(entry.seen, DecodedFlow) and entry.seen.failures:
        yield lambda branch: branch.name.endswith("error_code") and branch.value[:2] != "0 "
    if entry.found:
        values = dict(found.split("=", 1) for found in entry.found)
        texts = {value for value in values.values() if value.startswith('"')}
        yield lambda branch: values.get(branch.name) == branch.value
        yield lambda branch: branch.value in texts
    yield (
        lambda branch: (
            branch.name in LEADERS and not branch.children and branch.value not in ("-1", "null")
        )
    )


def _way(branch: Branch, is_wanted: Callable[[Branch], bool]) -> list[int] | None:
    """Return the way down to the first branch that is wanted, breadth first; None without one."""
    ways: deque[tuple[Branch, list[int]]] = deque([(branch, [])])
    looked = 0
    while ways and looked < LOOKED:
        above, way = ways.popleft()
        for index, child in enumerate(above.children):
            looked += 1
            if is_wanted(child):
                return [*way, index]
            if child.children and child.name != "header":
                ways.append((child, [*way, index]))
    return None


def connection_facts(notice: Notice, rpcs: Sequence[DecodedFlow]) -> Iterator[tuple[str, str]]:
    """Yield what is known of a notice's connection: who, to whom, how long, what was asked."""
    connection = notice.connection
    named = [f"node {connection.peer}"] if connection.peer is not None else []
    ids = (connection.client_id, *(decoded.flow.connection.client_id for decoded in rpcs))
    named += dict.fromkeys(filter(None, ids))
    yield "number", f"#{connection.number}"
    yield "client", ", ".join([*named, connection.client])
    node = f"node {connection.node_id}, " if connection.node_id is not None else ""
    yield "to", f"{node}{connection.upstream}"
    opened = moment(connection.at, None)
    yield "opened", opened.strftime("%Y-%m-%d %H:%M:%S") if opened else "not known"
    ends = notice.kind is NoticeKind.CLOSED
    yield ("lasted" if ends else "age"), duration(max(0.0, notice.at - connection.at))
    apis = Counter(decoded.flow.api for decoded in rpcs)
    names = ", ".join(f"{name} {number}" for name, number in apis.most_common())
    # The screen keeps the latest events only, of those that came since it was opened.
    yield "requests", f"{len(rpcs)} of those listed: {names}" if rpcs else "none of those listed"
    lost = sum(decoded.flow.outcome is Outcome.LOST for decoded in rpcs)
    if lost:
        yield "lost", f"{lost} without a response"


def _path(above: str, child: Branch) -> str:
    if not above or child.name == "header" or child.name.startswith("unknown tag"):
        return ""
    return child.name if above == "." else f"{above}.{child.name}"


def _title(decoded: DecodedFlow) -> Text:
    flow = decoded.flow
    sizes = size_text(flow.request_size)
    if flow.response_size is not None:
        sizes += f" → {size_text(flow.response_size)}"
    about = f"  #{flow.connection.number} correlation {flow.correlation_id}  {sizes}  "
    title = f"{flow.api} v{flow.version}"
    return Text.assemble((title, "bold"), (about, "dim"), summarize(decoded))
