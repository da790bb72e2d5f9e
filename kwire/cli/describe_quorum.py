"""`kwire quorum status` and `replication`: DescribeQuorum, in kafka-metadata-quorum's words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kwire.cli.bootstrap import TIMEOUT, AsJson, Controller, Server, Timeout, admin_client, ask

if TYPE_CHECKING:
    from kwire.admin import AdminClient, QuorumInfo


def status(
    bootstrap_server: Server = None,
    bootstrap_controller: Controller = None,
    timeout: Timeout = TIMEOUT,
    as_json: AsJson = False,
) -> None:
    """Show who leads the quorum, who votes and who observes.

    \b
    kwire quorum status --bootstrap-controller localhost:9093
    """

    async def fetch(admin: AdminClient) -> tuple[str, QuorumInfo]:
        quorum = await admin.describe_metadata_quorum()
        return (await admin.describe_cluster()).cluster_id, quorum

    client = admin_client(bootstrap_server, bootstrap_controller, timeout)
    cluster_id, quorum = ask(client, fetch)
    from kwire.cli import quorum_data

    if as_json:
        from kwire.cli.screen import print_json

        print_json(quorum_data.status(cluster_id, quorum))
    else:
        from kwire.cli.quorum_screen import print_status

        print_status(quorum_data.status(cluster_id, quorum))


def replication(
    bootstrap_server: Server = None,
    bootstrap_controller: Controller = None,
    human_readable: Annotated[
        bool, typer.Option(help="Show times as how long ago they were.")
    ] = False,
    timeout: Timeout = TIMEOUT,
    as_json: AsJson = False,
) -> None:
    """Show how far each replica of the metadata log is: the leader, its followers, the observers.

    \b
    kwire quorum replication --bootstrap-server localhost:9092 --human-readable
    """

    async def fetch(admin: AdminClient) -> QuorumInfo:
        return await admin.describe_metadata_quorum()

    client = admin_client(bootstrap_server, bootstrap_controller, timeout)
    quorum = ask(client, fetch)
    from kwire.cli import quorum_data

    if as_json:
        from kwire.cli.screen import print_json

        print_json(quorum_data.replication(quorum))
    else:
        from kwire.cli.quorum_screen import print_replication

        print_replication(quorum_data.replication(quorum), human_readable=human_readable)
