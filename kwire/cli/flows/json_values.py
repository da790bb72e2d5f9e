"""A flow, or a notice, as one JSON value for scripts."""

from __future__ import annotations

from typing import Any

from kwire.cli.flows.record_tree import record_trees
from kwire.proxy import ClientConnection, DecodedFlow, Notice, Tree, flow_trees, summarize
from kwire.text.times import known_moment


def flow_data(decoded: DecodedFlow, *, tree: bool = False, secrets: bool = False) -> dict[str, Any]:
    """Return an RPC. tree: add its messages as names, values and children. secrets: show them."""
    flow = decoded.flow
    data = {
        "type": "flow",
        **_time_and_connection(flow.at, flow.connection),
        "clientId": flow.client_id,
        "api": flow.api,
        "apiKey": flow.key,
        "apiVersion": flow.version,
        "correlationId": flow.correlation_id,
        "ending": flow.outcome.name.lower(),
        "handling": flow.handling,
        "latencyMs": None if flow.latency is None else round(flow.latency * 1000, 3),
        "requestSize": flow.request_size,
        "responseSize": flow.response_size,
        "errors": list(decoded.errors),
        "summary": summarize(decoded),
        "problems": list(decoded.problems),
        "notes": list(flow.notes),
        "deeds": [effect.name.lower() for effect in flow.effects],
    }
    trees = flow_trees(decoded, record_trees, secrets=secrets) if tree else ()
    return data | ({"messages": [_tree(message) for message in trees]} if tree else {})


def notice_data(notice: Notice) -> dict[str, Any]:
    """Return a notice: an event of a connection that is no RPC."""
    origin = _time_and_connection(notice.at, notice.connection)
    return {"type": notice.kind.name.lower(), **origin, "text": notice.text}


def _time_and_connection(at: float, connection: ClientConnection) -> dict[str, Any]:
    time = known_moment(at)
    return {
        "time": time and time.isoformat(timespec="microseconds"),
        "connection": connection.number,
        "client": connection.client,
        "clientNode": connection.peer,
        "node": connection.node_id,
        "upstream": connection.upstream,
    }


def _tree(tree: Tree) -> dict[str, Any]:
    value = {"value": tree.value} if tree.value else {}
    children = [_tree(child) for child in tree.children]
    return {"name": tree.name, **value} | ({"children": children} if children else {})
