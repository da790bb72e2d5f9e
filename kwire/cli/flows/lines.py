"""A flow on a screen: time, connection, client and node, API, latency and a summary.

If the summary has no room beside the rest it stands on a line of its own. In a pipe a flow is one
line, whose columns are separated by two spaces or more.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, Group
from rich.text import Text

from kwire.cli.flows.record_tree import record_trees
from kwire.cli.flows.tree_screen import draw
from kwire.proxy import (
    ClientConnection,
    DecodedFlow,
    Event,
    Flow,
    Notice,
    NoticeKind,
    Outcome,
    flow_trees,
    summarize,
)
from kwire.proxy.flows.text import printable
from kwire.text.times import clock_text

CLIENT_AND_NODE, API, LATENCY, HANDLING = 20, 25, 7, 9
"""Widths of the columns: client and node, API with version, latency, and how it was handled."""

HANDLED = {"answered": "magenta", "routed": "blue", "simulated": "bold red"}

ROOM = 40
"""Fewest columns in which a summary is put beside the rest."""

INDENT = 14

QUIET = frozenset({NoticeKind.OPENED, NoticeKind.CLOSED, NoticeKind.SASL_TOKENS})
"""Kinds of notices of normal operation."""


def flow_lines(
    decoded: DecodedFlow,
    console: Console,
    *,
    tree: bool = False,
    note: str = "",
    handling: bool = False,
    secrets: bool = False,
) -> Group:
    """Return the line of a flow, its problems below it, and with `tree` the whole messages.

    note: text behind the summary. handling: say whether it passed, was answered or routed. secrets:
    show them in the messages.
    """
    flow = decoded.flow
    head = Text.assemble(
        *_stamp(flow.at, flow.connection),
        (_padded_client_and_node(flow, console), "cyan"),
        (f"{flow.api} v{flow.version}".ljust(API), "bold"),
        (f"  {flow.handling:<{HANDLING}}" if handling else "", HANDLED.get(flow.handling, "dim")),
        (f"{_latency(decoded):>{LATENCY}}  ", "dim"),
    )
    summary = Text.assemble(_summary(decoded), (f"  {note}" if note else "", "dim"))
    lines = list(_beside(head, summary, console))
    lines += [Text(f"{'':{INDENT}}! {problem}", "yellow") for problem in decoded.problems]
    lines += [Text(f"{'':{INDENT}}· {printable(note)}", "magenta") for note in decoded.flow.notes]
    trees = (
        [draw(message) for message in flow_trees(decoded, record_trees, secrets=secrets)]
        if tree
        else []
    )
    return Group(*lines, *trees)


def notice_lines(notice: Notice, console: Console) -> Group:
    """Return the line of a notice: an event of a connection that is no RPC."""
    style = "dim" if notice.kind in QUIET else "yellow"
    head = Text.assemble(
        *_stamp(notice.at, notice.connection),
        (_padded_client_and_node(notice, console), "cyan"),
    )
    summary = Text(f"{notice.kind.value}: {printable(notice.text)}", style)
    return Group(*_beside(head, summary, console))


def client_and_node(event: Event, *, brief: bool = False) -> str:
    """Return `1 → 3000` for nodes; for an unknown id a name or an address, with `brief` a port."""
    connection = event.connection
    client, node = str(connection.peer), str(connection.node_id)
    if connection.peer is None:
        # A connection may have requests of several client ids: each flow has its own.
        client_id = event.client_id if isinstance(event, Flow) else connection.client_id
        client = printable(client_id or _address(connection.client, brief), 40)
    if connection.node_id is None:
        node = _address(connection.upstream, brief)
    return f"{client} → {node}"


def _address(address: str, brief: bool) -> str:
    return f":{address.rpartition(':')[2]}" if brief else address


def duration(seconds: float) -> str:
    """Return a duration as `0.8 ms`, `120 ms` or `3.2 s`."""
    if seconds < 0.01:
        return f"{seconds * 1000:.1f} ms"
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _padded_client_and_node(event: Event, console: Console) -> str:
    """Return client and node, in a terminal never wider than their column."""
    text = client_and_node(event, brief=console.is_terminal)
    if console.is_terminal and len(text) > CLIENT_AND_NODE:
        text = f"{text[: CLIENT_AND_NODE - 1]}…"
    return f"{text:{CLIENT_AND_NODE}}  "


def _stamp(at: float, connection: ClientConnection) -> Iterator[tuple[str, str]]:
    yield f"{clock_text(at)}  ", "dim"
    yield f"#{connection.number:<3} ", "dim"


def _latency(decoded: DecodedFlow) -> str:
    latency = decoded.flow.latency
    return "-" if latency is None else duration(latency)


def _summary(decoded: DecodedFlow) -> Text:
    failed = decoded.failures or decoded.flow.outcome is Outcome.LOST
    return Text(summarize(decoded), "red" if failed else "")


def _beside(head: Text, summary: Text, console: Console) -> Iterator[Text]:
    """Yield head and summary on one line if both have room, else the summary below, indented."""
    room = console.width - head.cell_len
    if summary.cell_len <= room:
        yield Text.assemble(head, summary)
        return
    if room >= ROOM:
        first, *rest = summary.wrap(console, room)
        yield Text.assemble(head, first)
        indent = head.cell_len
    else:
        yield head
        indent = INDENT
        rest = list(summary.wrap(console, max(console.width - INDENT, 20)))
    for line in rest:
        yield Text.assemble(" " * indent, line)
