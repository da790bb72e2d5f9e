"""`kwire api-versions`: the APIs that each node offers, as kafka-broker-api-versions asks."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from kwire.admin import registry
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.options import repeated
from kwire.cli.output import ERROR, MESSAGE, Column, Output, Table, error_document, number_columns

if TYPE_CHECKING:
    from kwire.admin.outcomes import Outcomes
    from kwire.net.negotiation import NodeApiVersions

COLUMNS = [
    Column(key="apiKey", right=True),
    Column(key="api"),
    *number_columns("minVersion", "maxVersion", "usable"),
    Column(key="nodes"),
    ERROR,
    MESSAGE,
]
"""usable: the version in which kwire would ask; null if it has none of these."""


@asks_cluster(registry.DESCRIBE_FEATURES)
def api_versions(
    cluster: ClusterOptions,
    output: Output,
    node: list[int] = repeated(metavar="ID", help="By default all nodes. Repeatable."),
) -> None:
    """Show the APIs that each broker or controller offers.

    A line has the nodes that offer an API in the same versions.

    \b
    kwire api-versions --bootstrap-controller localhost:9093
    """

    outcomes = cluster.run(lambda admin: admin.node_api_versions(node or None))
    output.show(Table("apiVersions", COLUMNS, _rows(outcomes), key="api"))


def _rows(outcomes: Outcomes[int, NodeApiVersions]) -> list[dict[str, Any]]:
    from kwire.messages.registry import api_name

    nodes: defaultdict[tuple[int, int, int], list[int]] = defaultdict(list)
    for node_id, offered in outcomes.items():
        for key, versions in offered.api_versions.items():
            nodes[key, versions.min_version, versions.max_version].append(node_id)
    rows: list[dict[str, Any]] = [
        {
            "apiKey": key,
            "api": api_name(key),
            "minVersion": lowest,
            "maxVersion": highest,
            "usable": _usable(key, lowest, highest),
            "nodes": offering,
            "error": None,
            "message": None,
        }
        for (key, lowest, highest), offering in sorted(nodes.items())
    ]
    failed = [{"nodes": [id], **error_document(error)} for id, error in outcomes.failed.items()]
    return rows + failed


def _usable(key: int, lowest: int, highest: int) -> int | None:
    from kwire.messages import registry
    from kwire.messages.registry import UnknownMessage

    try:
        known = registry.request(key).versions
    except UnknownMessage:
        return None
    version = min(highest, known.last)
    return version if version >= max(lowest, known.first) else None
