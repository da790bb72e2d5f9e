"""`kwire migration`: a migration from ZooKeeper (KIP-866); commands are imported when called."""

from __future__ import annotations

import typer

from kwire.cli.lazy import lazy_group

app = typer.Typer(
    cls=lazy_group(
        {
            "status": "kwire.cli.migration.status:status",
            "watch": "kwire.cli.migration.watch:watch",
            "verify": "kwire.cli.migration.verify:verify",
            "plan": "kwire.cli.migration.plan:plan",
        }
    ),
    help="Follow a migration from ZooKeeper to KRaft (KIP-866). Nothing is changed.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
