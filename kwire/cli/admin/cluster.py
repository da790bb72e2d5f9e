"""`kwire cluster`: id and nodes, as kafka-cluster shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kwire.admin import registry
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.errors import WrongUsage
from kwire.cli.lazy import command_group
from kwire.cli.options import flag
from kwire.cli.output import Column, Output, Table, text_columns
from kwire.cli.screen import screen
from kwire.text.untrusted import harmless

if TYPE_CHECKING:
    from kwire.admin.cluster_description import ClusterDescription

app = command_group("Show a cluster's id, nodes and active controller.")

VOTERS_ONLY = (
    "the controllers did not describe the cluster, which takes ALTER on it and Kafka 3.7: these are"
    " the voters as their leader knows them"
)

NODE_COLUMNS = [
    Column(key="id", right=True),
    Column(key="host"),
    Column(key="port", right=True),
    *text_columns("rack", "state", "endpointType"),
]


@app.command("id")
@asks_cluster(registry.DESCRIBE_CLUSTER)
def cluster_id(cluster: ClusterOptions, output: Output) -> None:
    """Print the cluster's id.

    \b
    kwire cluster id --bootstrap-controller localhost:9093
    """
    described = cluster.run(lambda admin: admin.describe_cluster())
    text = harmless(described.told_cluster_id())
    output.show_document({"clusterId": text}, lambda: screen().print(f"Cluster ID: {text}"))


@app.command("endpoints")
@asks_cluster(registry.DESCRIBE_CLUSTER)
def cluster_endpoints(
    cluster: ClusterOptions,
    output: Output,
    fenced: bool = flag(
        "--fenced", "--include-fenced-brokers", help="Also fenced brokers; from Kafka 4.0 on."
    ),
) -> None:
    """List the brokers, or all registered controllers.

    \b
    kwire cluster endpoints --fenced --bootstrap-server localhost:9092
    """
    if fenced and cluster.controller:
        raise WrongUsage("--fenced is for --bootstrap-server: controllers list controllers.")
    described = cluster.run(lambda admin: admin.describe_cluster(include_fenced_brokers=fenced))
    if described.cluster_id is None:
        output.warn(VOTERS_ONLY)
    rows = node_rows(described, _node_type(cluster))
    output.show(Table("endpoints", NODE_COLUMNS, rows), empty="no nodes")


@app.command("describe")
@asks_cluster(registry.DESCRIBE_CLUSTER)
def describe_cluster(cluster: ClusterOptions, output: Output) -> None:
    """Show the cluster's id, active controller and nodes.

    Brokers name any broker as the controller: the active one is asked for as the quorum's leader.

    \b
    kwire cluster describe --bootstrap-server localhost:9092
    """
    from kwire.errors import UnsupportedVersion

    described = cluster.run(lambda admin: admin.describe_cluster())
    try:
        quorum = cluster.run(lambda admin: admin.describe_metadata_quorum())
        active: int | None = quorum.leader_id
    except UnsupportedVersion:
        active = described.controller_id  # with ZooKeeper brokers name the one that leads
    if described.cluster_id is None:
        output.warn(VOTERS_ONLY)
    facts = {"clusterId": described.cluster_id, "activeController": active}
    rows = node_rows(described, _node_type(cluster))
    output.show(Table("nodes", NODE_COLUMNS, rows, facts=facts))


def _node_type(cluster: ClusterOptions) -> str:
    return "controller" if cluster.controller else "broker"


def node_rows(described: ClusterDescription, node_type: str) -> list[dict[str, Any]]:
    """Return a row for each node; controllers are not fenced, so their state is not known."""
    state = {True: "fenced", False: "unfenced"}
    return [
        {
            "id": node.node_id,
            "host": node.host,
            "port": node.port,
            "rack": node.rack,
            "state": state[node.is_fenced] if node_type == "broker" else None,
            "endpointType": node_type,
        }
        for _, node in sorted(described.nodes.items())
    ]
