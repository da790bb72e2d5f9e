"""`kwire quorum remove-controller`: RemoveRaftVoter, after checks."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from kwire.cli.bootstrap import TIMEOUT, AsJson, Controller, Server, Timeout, admin_client
from kwire.cli.voter_change import (
    DirectoryId,
    DryRun,
    Force,
    VoterChangeOptions,
    VoterId,
    change_voters,
)

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.admin.voter_change_plan import VoterChangePlan


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
    options = VoterChangeOptions(voter_id, directory_id, dry_run, force, timeout, as_json)
    client = admin_client(bootstrap_server, bootstrap_controller, timeout)
    parsed_id = options.directory_id

    async def plan(admin: AdminClient) -> VoterChangePlan:
        from kwire.admin.voter_change_plan import plan_removal

        return await plan_removal(admin, voter_id, directory_id=parsed_id)

    async def send(admin: AdminClient, directory_id: UUID, planned: VoterChangePlan) -> None:
        await admin.remove_raft_voter(voter_id, directory_id)

    change_voters(options, client, plan, send, "remove", "Removed")
