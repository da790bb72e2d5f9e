"""`kwire quorum replace`: a controller whose disk was lost votes again, with its new disk."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from kwire.admin import registry
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.errors import CommandFailed
from kwire.cli.options import argument
from kwire.cli.output import Output
from kwire.cli.quorum.voter_change import DRY_RUN, plan_document, print_checks
from kwire.cli.quorum.voters import controllers_of
from kwire.cli.screen import screen
from kwire.text.ids import uuid_text
from kwire.text.untrusted import harmless

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.admin.voter_replacement import VoterReplacement


@asks_cluster(registry.ADD_RAFT_VOTER)
def replace_voter(
    cluster: ClusterOptions,
    output: Output,
    voter_id: int = argument(metavar="ID", help="The node.id of the controller."),
    dry_run: bool = DRY_RUN,
) -> None:
    """Let a controller vote with its new disk in place of the one that it lost (KIP-853).

    First format the new disk with --no-initial-controllers, and start the controller. This command
    waits until it follows, removes the old directory id, adds the new one, and waits until it
    fetches as a voter. Nothing is changed unless all checks pass. If the command was interrupted,
    run it again. Each step may take --timeout.

    \b
    kwire quorum replace 3003 --bootstrap-controller localhost:9093
    """

    async def plan_and_replace(admin: AdminClient) -> VoterReplacement:
        from kwire.admin.voter_replacement import plan_replacement, replace_voter
        from kwire.net.secure_connect import SecureConnect

        seconds = cluster.timeouts.operation
        async with AsyncExitStack() as stack:
            controllers = admin
            if not cluster.controller:
                controllers = await stack.enter_async_context(await controllers_of(cluster, admin))
            planned = await plan_replacement(
                admin,
                controllers,
                voter_id,
                connect=SecureConnect(cluster.security, timeouts=cluster.timeouts),
                wait=None if dry_run else seconds,
            )
        if dry_run or not planned.needed:
            return planned
        if problems := planned.addition.problems:
            text = "; ".join(map(harmless, problems))
            raise CommandFailed(
                f"cannot replace controller {voter_id}: {text}. Nothing was changed."
            )
        for warning in planned.addition.warnings:
            output.warn(warning)
        await replace_voter(admin, planned, timeout=seconds, on_step=output.say)
        return planned

    planned = cluster.run(plan_and_replace)
    output.show_document(
        _document(planned, done=planned.needed and not dry_run),
        lambda: _print(planned, dry_run=dry_run),
    )
    if dry_run and planned.needed and planned.addition.problems:
        output.failed = True
        output.warn(f"controller {voter_id} cannot be replaced")


def _document(planned: VoterReplacement, *, done: bool) -> dict[str, object]:
    old = planned.old_directory_id
    return {
        **plan_document(planned.addition, done=done),
        "oldDirectoryId": uuid_text(old) if old else None,
        "needed": planned.needed,
    }


def _print(planned: VoterReplacement, *, dry_run: bool) -> None:
    if not planned.needed:
        text = "votes with the disk that it has, and fetches: nothing to replace"
        screen().print(f"Controller {planned.voter_id} {text}")
    elif dry_run:
        screen().print(f"DRY RUN of replacing the disk of controller {planned.voter_id}")
        print_checks(planned.addition)
