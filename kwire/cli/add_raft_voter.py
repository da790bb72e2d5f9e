"""`kwire quorum add-controller`: AddRaftVoter, after checks."""

from __future__ import annotations

import re
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from kwire.cli.bootstrap import TIMEOUT, AsJson, Controller, Server, Timeout, admin_client
from kwire.cli.errors import WrongUsage
from kwire.cli.voter_change import (
    DirectoryId,
    DryRun,
    Force,
    VoterChangeOptions,
    VoterId,
    change_voters,
)

if TYPE_CHECKING:
    from kwire.admin import AdminClient, RaftVoterEndpoint
    from kwire.admin.voter_change_plan import VoterChangePlan


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
    options = VoterChangeOptions(voter_id, directory_id, dry_run, force, timeout, as_json)
    client = admin_client(bootstrap_server, bootstrap_controller, timeout)
    endpoints = [_endpoint(text) for text in endpoint or []]
    parsed_id = options.directory_id

    async def plan(admin: AdminClient) -> VoterChangePlan:
        from kwire.admin.voter_change_plan import plan_addition

        async with AsyncExitStack() as stack:
            controllers = admin
            if not bootstrap_controller and not endpoints:
                controllers = await stack.enter_async_context(await _controllers(admin, timeout))
            return await plan_addition(
                admin, controllers, voter_id, directory_id=parsed_id, endpoints=endpoints
            )

    async def send(admin: AdminClient, directory_id: UUID, planned: VoterChangePlan) -> None:
        await admin.add_raft_voter(voter_id, directory_id, planned.endpoints)

    change_voters(options, client, plan, send, "add", "Added")


async def _controllers(admin: AdminClient, timeout: float) -> AdminClient:
    """Return a client of the controllers: brokers list only brokers in DescribeCluster."""
    from kwire.admin import AdminClient
    from kwire.net.address import Address

    quorum = await admin.describe_metadata_quorum()
    endpoints = [endpoint for node in quorum.nodes.values() for endpoint in node.endpoints]
    addresses = [str(Address(endpoint.host, endpoint.port)) for endpoint in endpoints]
    return AdminClient(bootstrap_controllers=addresses, timeout=timeout)


def _endpoint(text: str) -> RaftVoterEndpoint:
    """Parse `CONTROLLER://localhost:9093`. Raises WrongUsage."""
    from kwire.admin import RaftVoterEndpoint
    from kwire.errors import InvalidValue
    from kwire.net.address import Address

    match = re.fullmatch(r"(?P<name>[\w.-]+)://(?P<address>.+)", text)
    if match is None:
        raise WrongUsage(f"{text!r} is no endpoint: write NAME://HOST:PORT, NAME as in listeners.")
    try:
        address = Address.parse(match["address"])
    except InvalidValue as error:
        raise WrongUsage(f"{error}.") from error
    return RaftVoterEndpoint(name=match["name"], host=address.host, port=address.port)
