"""A sequence diagram of a few flows, for an issue: GitHub and GitLab draw Mermaid."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.proxy.flows.decoded import DecodedFlow
from kwire.proxy.flows.flow import Flow
from kwire.proxy.flows.match_target import MatchTarget
from kwire.trace.related import TraceLanes

TEXT = 80
"""Characters of a line; diagrams become as wide as their longest one."""


def sequence(flows: list[tuple[int, Flow]]) -> Iterator[str]:
    """Yield the lines of a diagram of numbered flows, in the order of their times."""
    lanes, arrows = TraceLanes(), []
    for number, flow in flows:
        decoded = DecodedFlow(flow)
        client = lanes.client(flow, MatchTarget.of_flow(decoded).peer)
        arrows += list(_arrows(number, decoded, client, lanes.node(flow)))
    yield "sequenceDiagram"
    for index, (name, _) in enumerate(lanes.named()):
        yield f"    participant p{index} as {_escaped(name)}"
    for _, line in sorted(arrows, key=lambda arrow: arrow[0]):
        yield f"    {line}"


def _arrows(
    number: int, decoded: DecodedFlow, client: int, node: int
) -> Iterator[tuple[float, str]]:
    flow, inner = decoded.flow, decoded.envelope
    what = f"{flow.api} v{flow.version}"
    if inner is not None:
        what += f" with {inner.flow.api} v{inner.flow.version}"
    yield flow.at, f"p{client}->>p{node}: {number} {what}"
    if flow.latency is not None:
        errors = _escaped(", ".join(decoded.errors))
        millis = flow.latency * 1000
        took = f"{number} {millis:.{0 if millis >= 100 else 1}f} ms{errors and f': {errors}'}"
        yield flow.at + flow.latency, f"p{node}-->>p{client}: {took}"
    else:
        yield flow.at, f"Note over p{client},p{node}: {number} {flow.outcome.value}"


def _escaped(text: str) -> str:
    """Return text that Mermaid does not read as its own: its entities are #CODE;."""
    short = text if len(text) <= TEXT else f"{text[: TEXT - 1]}…"
    return "".join(c if c.isalnum() or c in " .,-_/…" else f"#{ord(c)};" for c in short)
