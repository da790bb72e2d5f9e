"""The panels beside the flows: the quorum as the traffic shows it, and latencies by API."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from kwire.proxy.feed.receiver import Receiver
from kwire.proxy.flows.latencies import ApiLatency, Latencies
from kwire.proxy.flows.quorum_seen import QuorumChange, QuorumSeen
from kwire.text.times import clock_text

ROWS = 14
"""APIs in the panel of latencies."""

CHANGES = 6
"""Changes in the panel of the quorum: the latest ones."""

BESIDE = 76
"""Columns from which on the changes have room beside the replicas."""


def quorum_panel(quorum: QuorumSeen, width: int) -> RenderableType:
    """Return leader, epoch, high watermark, the lag of each replica, and the latest changes."""
    if quorum.epoch < 0 and not quorum.replicas:
        return Text("nothing of a quorum has passed yet", "dim")
    leader = "none" if quorum.leader_id < 0 else str(quorum.leader_id)
    head = Text.assemble(
        "leader ",
        (leader, "bold green" if quorum.leader_id >= 0 else "bold red"),
        "   epoch ",
        (_number(quorum.epoch), "bold"),
        "   high watermark ",
        (_number(quorum.high_watermark), "bold"),
    )
    table = _table("node", "", "log end", "lag", wide="")
    for replica in quorum.replicas:
        lag = quorum.lag(replica)
        leads = replica.node_id == quorum.leader_id
        table.add_row(
            Text(str(replica.node_id), "bold" if leads else ""),
            Text("leader" if leads else replica.role, "green" if leads else "dim"),
            _number(quorum.log_end(replica)),
            Text("-" if lag is None else str(lag), "yellow" if lag else ""),
        )
    changes = Table.grid(padding=(0, 2, 0, 0))
    for change in list(quorum.changes)[-CHANGES:]:
        changes.add_row(*change_cells(change))
    if width < BESIDE:
        return Group(head, table, changes)
    both = Table.grid(padding=(0, 3, 0, 0))
    both.add_row(table, changes)
    return Group(head, both)


def change_cells(change: QuorumChange) -> tuple[Text, Text, Text]:
    """Return time, epoch and text of a change."""
    style = "bold green" if change.text.endswith(" leads") else ""
    style = "bold red" if change.text == "no leader" else style
    return (
        Text(clock_text(change.at), "dim"),
        Text(f"epoch {_number(change.epoch)}"),
        Text(change.text, style),
    )


def latency_panel(latencies: Latencies) -> RenderableType:
    """Return p50 and p99 of each API; long polls stand below."""
    apis = latencies.apis
    if not apis:
        return Text("no RPC has been answered yet", "dim")
    table = _table("API", "RPCs", "errors", "p50 ms", "p99 ms", wide="API")
    for api in [api for api in apis if not api.is_long_poll][:ROWS]:
        table.add_row(*_latency(api))
    polls = [api for api in apis if api.is_long_poll]
    if polls:
        table.add_row(Text("long polls", "dim"))
    for api in polls:
        table.add_row(*_latency(api))
    return table


def status_line(address: str, receiver: Receiver | None, flow_count: int, following: bool) -> Text:
    """Return a line with the address, and the numbers of events kept, lost and held."""
    status = None if receiver is None else receiver.status
    if receiver is None or status is None:
        why = f": {receiver.problem}" if receiver is not None and receiver.problem else ""
        problem = f"no answer from a proxy with --feed {address}{why}; trying"
        return Text.assemble((" kwire watch ", "bold"), (problem, "bold red"))
    lost, left_out = receiver.lost, receiver.left_out
    text = Text.assemble(
        (" kwire watch ", "bold"),
        (address, "cyan"),
        f"   {flow_count} events kept",
        (f"   {lost} lost", "bold yellow" if lost else "dim"),
        (f"   {left_out:,} not shown" if left_out else "", "yellow"),
        (f"   {status.viewers} viewer{'' if status.viewers == 1 else 's'}", "dim"),
        ("" if following else "   paused", "bold"),
    )
    if status.hold is not None or status.held:
        text.append("   ")
        text.append(f" {len(status.held)} held ", "black on yellow" if status.held else "yellow")
        text.append(f" of {status.hold}" if status.hold else "", "yellow")
    return text


def _latency(api: ApiLatency) -> tuple[RenderableType, ...]:
    failed = Text(str(api.failed) if api.failed else "", "red")
    quantiles = (_milliseconds(api.quantile(share)) for share in (0.5, 0.99))
    return (api.api, str(api.count), failed, *quantiles)


def _table(first: str, *others: str, wide: str) -> Table:
    """Return a table whose column `wide` takes the room that the others leave."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim", expand=True)
    table.add_column(first, no_wrap=True, ratio=1 if first == wide else None)
    for name in others:
        ratio = 1 if name == wide else None
        table.add_column(name, justify="right" if name else "left", no_wrap=True, ratio=ratio)
    return table


def _milliseconds(seconds: float) -> str:
    """Return `0.84`, `8.4` or `840`: three figures at most."""
    value = seconds * 1000
    return f"{value:.2f}" if value < 1 else f"{value:.1f}" if value < 10 else f"{value:,.0f}"


def _number(value: int) -> str:
    return "-" if value < 0 else f"{value}"
