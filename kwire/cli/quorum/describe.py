"""`kwire quorum status` and `replication`: DescribeQuorum, in kafka-metadata-quorum's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kwire.admin import registry
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.options import option
from kwire.cli.output import Output, Table, text_columns
from kwire.cli.watching import WATCH, ask_and_show

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.admin.quorum import QuorumInfo

REPLICAS = text_columns(
    "nodeId",
    "directoryId",
    "logEndOffset",
    "lag",
    "lastFetchTimestamp",
    "lastCaughtUpTimestamp",
    "status",
)


@asks_cluster(registry.DESCRIBE_METADATA_QUORUM)
def describe_quorum_status(
    cluster: ClusterOptions, output: Output, watch: float | None = WATCH
) -> None:
    """Show who leads the quorum, who votes and who observes.

    \b
    kwire quorum status --bootstrap-controller localhost:9093
    """

    async def fetch(admin: AdminClient) -> tuple[str | None, QuorumInfo]:
        quorum = await admin.describe_metadata_quorum()
        return await admin.cluster_id(), quorum

    def show(fetched: tuple[str | None, QuorumInfo]) -> None:
        from kwire.cli.quorum import data

        status = data.status(*fetched)

        def draw() -> None:
            from kwire.cli.quorum.screen import print_status

            print_status(status)

        output.show_document(status, draw)

    ask_and_show(cluster, output, fetch, show, watch)


@asks_cluster(registry.DESCRIBE_METADATA_QUORUM)
def describe_quorum_replication(
    cluster: ClusterOptions,
    output: Output,
    human_readable: bool = option(
        default=True,
        help="Show times as how long before the leader's clock they were, or as Kafka's ms.",
    ),
    watch: float | None = WATCH,
) -> None:
    """Show how far each replica of the metadata log is.

    \b
    kwire quorum replication --bootstrap-server localhost:9092 --watch 1
    """

    async def fetch(admin: AdminClient) -> QuorumInfo:
        return await admin.describe_metadata_quorum()

    def show(quorum: QuorumInfo) -> None:
        from kwire.cli.quorum import data

        rows = data.replication(quorum)
        if output.is_for_people:
            from kwire.cli.quorum.screen import print_replication

            print_replication(rows, human_readable=human_readable)
        else:
            output.show(Table("replicas", REPLICAS, rows))

    ask_and_show(cluster, output, fetch, show, watch)
