"""`kwire quorum`: the metadata quorum and its voters; a module per command, named by its RPC."""

from __future__ import annotations

import typer

from kwire.cli.lazy import lazy_group

app = typer.Typer(
    cls=lazy_group(
        {
            "status": "kwire.cli.describe_quorum:status",
            "replication": "kwire.cli.describe_quorum:replication",
            "check": "kwire.cli.quorum_check:check",
            "add-controller": "kwire.cli.add_raft_voter:add_controller",
            "remove-controller": "kwire.cli.remove_raft_voter:remove_controller",
        }
    ),
    help="Describe the metadata quorum and change its voters (KIP-853).",
    no_args_is_help=True,
    rich_markup_mode=None,
)
