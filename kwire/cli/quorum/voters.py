"""`kwire quorum add-controller` and `remove-controller`: changes of who votes."""

from __future__ import annotations

import re
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

from kwire.admin import registry
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.confirm import YES
from kwire.cli.errors import WrongUsage, usage_errors
from kwire.cli.options import argument, option, repeated
from kwire.cli.output import Output
from kwire.cli.quorum.voter_change import (
    DIRECTORY_ID,
    DRY_RUN,
    FORCE,
    VoterChangeOptions,
    change_voters,
)

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.admin.joining_controller import JoiningController
    from kwire.admin.quorum import RaftVoterEndpoint
    from kwire.admin.voter_change_plan import VoterChangePlan


@asks_cluster(registry.ADD_RAFT_VOTER)
def add_raft_voter(
    cluster: ClusterOptions,
    output: Output,
    voter_id: int | None = argument(
        default=None, metavar="[ID]", help="The node.id of the controller."
    ),
    config: Path | None = option(
        metavar="FILE",
        help="Take id, directory id and endpoints from this server.properties of the"
        " controller, and from meta.properties in its log directory, as Kafka's tool does.",
    ),
    directory_id: str | None = DIRECTORY_ID,
    endpoint: list[str] = repeated(
        metavar="NAME://HOST:PORT",
        help="Its controller listener; by default the one it has registered. May be repeated.",
    ),
    dry_run: bool = DRY_RUN,
    force: bool = FORCE,
) -> None:
    """Make a controller a voter (KIP-853). It must already follow the quorum.

    Its directory id and endpoints are asked of the cluster. Before anything changes it is checked
    that it follows the leader, answers, and leaves a majority.

    \b
    kwire quorum add-controller 3003 --bootstrap-controller localhost:9093 --dry-run
    """
    joining = _read(config, voter_id, directory_id, endpoint)
    node_id = joining.node_id if joining else voter_id
    if node_id is None:
        raise WrongUsage("give the ID of the controller, or --config with its properties.")
    options = VoterChangeOptions(node_id, directory_id, dry_run, force)
    endpoints = [*joining.endpoints] if joining else [_endpoint(text) for text in endpoint]
    parsed_id = joining.directory_id if joining else options.directory_id

    async def plan(admin: AdminClient) -> VoterChangePlan:
        from kwire.admin.voter_change_plan import plan_addition

        async with AsyncExitStack() as stack:
            controllers = admin
            if not cluster.controller and not endpoints:
                controllers = await stack.enter_async_context(await controllers_of(cluster, admin))
            return await plan_addition(
                admin,
                controllers,
                node_id,
                directory_id=parsed_id,
                endpoints=endpoints,
                security=cluster.security,
                timeouts=cluster.timeouts,
            )

    async def send(admin: AdminClient, directory_id: UUID, planned: VoterChangePlan) -> None:
        await admin.add_raft_voter(node_id, directory_id, planned.endpoints)

    change_voters(cluster, output, options, plan, send, "add", "Added")


@asks_cluster(registry.REMOVE_RAFT_VOTER)
def remove_raft_voter(
    cluster: ClusterOptions,
    output: Output,
    voter_id: int = argument(metavar="ID", help="The node.id of the controller."),
    directory_id: str | None = DIRECTORY_ID,
    dry_run: bool = DRY_RUN,
    force: bool = FORCE,
    yes: bool = YES,
) -> None:
    """Take a controller out of the voters (KIP-853).

    It goes on following the quorum. When you have stopped it for good, kwire quorum forget ID.

    Its directory id is asked of the cluster. Before anything changes it is checked that a majority
    remains; where it leads, another leader is elected. The controller is asked whether it would
    join again by itself.

    \b
    kwire quorum remove-controller 3003 --bootstrap-server localhost:9092
    kwire quorum remove-controller 3003 --yes --json --bootstrap-server localhost:9092
    """
    options = VoterChangeOptions(voter_id, directory_id, dry_run, force, yes)
    parsed_id = options.directory_id

    async def plan(admin: AdminClient) -> VoterChangePlan:
        from kwire.admin.voter_change_plan import plan_removal

        return await plan_removal(
            admin,
            voter_id,
            directory_id=parsed_id,
            security=cluster.security,
            timeouts=cluster.timeouts,
        )

    async def send(admin: AdminClient, directory_id: UUID, planned: VoterChangePlan) -> None:
        await admin.remove_raft_voter(voter_id, directory_id)

    change_voters(cluster, output, options, plan, send, "remove", "Removed")


def _read(
    config: Path | None, voter_id: int | None, directory_id: str | None, endpoint: list[str] | None
) -> JoiningController | None:
    """Read the file of --config. Raises WrongUsage if options say the same otherwise."""
    if config is None:
        return None
    if directory_id or endpoint:
        raise WrongUsage("--config names the directory id and the endpoints: leave theirs out.")
    from kwire.admin.joining_controller import read_controller

    with usage_errors():
        joining = read_controller(config)
    if voter_id not in (None, joining.node_id):
        raise WrongUsage(f"{config} is of node {joining.node_id}, not {voter_id}.")
    return joining


async def controllers_of(cluster: ClusterOptions, admin: AdminClient) -> AdminClient:
    """Return a client of the controllers: brokers list only brokers in DescribeCluster."""
    from kwire.admin import AdminClient
    from kwire.net.address import Address

    quorum = await admin.describe_metadata_quorum()
    endpoints = [endpoint for node in quorum.nodes.values() for endpoint in node.endpoints]
    addresses = [str(Address(endpoint.host, endpoint.port)) for endpoint in endpoints]
    return AdminClient(
        bootstrap_controllers=addresses,
        security=cluster.security,
        timeout=cluster.timeouts.operation,
        request_timeout=cluster.timeouts.request,
        connect_timeout=cluster.timeouts.connect,
    )


def _endpoint(text: str) -> RaftVoterEndpoint:
    """Parse `CONTROLLER://localhost:9093`. Raises WrongUsage."""
    from kwire.admin.quorum import RaftVoterEndpoint
    from kwire.net.address import Address

    match = re.fullmatch(r"(?P<name>[\w.-]+)://(?P<address>.+)", text)
    if match is None:
        raise WrongUsage(f"{text!r} is no endpoint: write NAME://HOST:PORT, NAME as in listeners.")
    with usage_errors():
        address = Address.parse(match["address"])
    return RaftVoterEndpoint(name=match["name"], host=address.host, port=address.port)
