"""`kwire quorum`: the metadata quorum and its voters, in the words of kafka-metadata-quorum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kwire.cli.bootstrap import TIMEOUT, AsJson, Controller, Server, Timeout, admin_client, ask

if TYPE_CHECKING:
    from kwire.admin import AdminClient, QuorumInfo

app = typer.Typer(
    help="Describe the metadata quorum and change its voters (KIP-853).",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
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

    async def question(admin: AdminClient) -> tuple[str, QuorumInfo]:
        quorum = await admin.describe_metadata_quorum()
        return (await admin.describe_cluster()).cluster_id, quorum

    client = admin_client(bootstrap_server, bootstrap_controller, timeout)
    cluster_id, quorum = ask(client, question)
    from kwire.cli import quorum_data

    if as_json:
        from kwire.cli.screen import print_json

        print_json(quorum_data.status(cluster_id, quorum))
    else:
        from kwire.cli.quorum_screen import print_status

        print_status(quorum_data.status(cluster_id, quorum))


@app.command()
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

    async def question(admin: AdminClient) -> QuorumInfo:
        return await admin.describe_metadata_quorum()

    client = admin_client(bootstrap_server, bootstrap_controller, timeout)
    quorum = ask(client, question)
    from kwire.cli import quorum_data

    if as_json:
        from kwire.cli.screen import print_json

        print_json(quorum_data.replication(quorum))
    else:
        from kwire.cli.quorum_screen import print_replication

        print_replication(quorum_data.replication(quorum), human_readable=human_readable)


VoterId = Annotated[int, typer.Argument(metavar="ID", help="The node.id of the controller.")]
DirectoryId = Annotated[
    str | None,
    typer.Option(
        metavar="UUID",
        help="Its directory id, as base64, hex or dashed; by default the one the leader knows.",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Check it against the cluster, and change nothing.")
]
Force = Annotated[
    bool, typer.Option("--force", help="Ask for it even where the checks see a problem.")
]


@app.command("add-controller")
def add_controller(
    voter_id: VoterId,
    bootstrap_server: Server = None,
    bootstrap_controller: Controller = None,
    directory_id: DirectoryId = None,
    endpoint: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME://HOST:PORT",
            help="Its controller listener; by default the one it has registered. May be repeated.",
        ),
    ] = None,
    dry_run: DryRun = False,
    force: Force = False,
    timeout: Timeout = TIMEOUT,
    as_json: AsJson = False,
) -> None:
    """Make a controller that follows the quorum one of its voters (KIP-853).

    Its directory id and endpoints are asked of the cluster. Before anything changes it is checked
    that it follows the leader, answers, and leaves a majority.

    \b
    kwire quorum add-controller 3003 --bootstrap-controller localhost:9093 --dry-run
    """
    from kwire.cli.voter_change import Change, add

    change = Change(voter_id, directory_id, dry_run, force, timeout, as_json)
    client = admin_client(bootstrap_server, bootstrap_controller, timeout)
    add(change, client, bool(bootstrap_controller), endpoint or [])


@app.command("remove-controller")
def remove_controller(
    voter_id: VoterId,
    bootstrap_server: Server = None,
    bootstrap_controller: Controller = None,
    directory_id: DirectoryId = None,
    dry_run: DryRun = False,
    force: Force = False,
    timeout: Timeout = TIMEOUT,
    as_json: AsJson = False,
) -> None:
    """Take a controller out of the voters (KIP-853); it goes on following the quorum.

    Its directory id is asked of the cluster. Before anything changes it is checked that a majority
    remains; where it leads, another leader is elected.

    \b
    kwire quorum remove-controller 3003 --bootstrap-server localhost:9092
    """
    from kwire.cli.voter_change import Change, remove

    change = Change(voter_id, directory_id, dry_run, force, timeout, as_json)
    remove(change, admin_client(bootstrap_server, bootstrap_controller, timeout))
