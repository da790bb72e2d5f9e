"""`kwire migration`: a migration from ZooKeeper (KIP-866); commands are imported when called."""

from __future__ import annotations

from kwire.cli.lazy import command_group

app = command_group(
    "Follow a migration from ZooKeeper to KRaft (KIP-866). Nothing is changed.",
    {
        "status": "kwire.cli.migration.status:status",
        "watch": "kwire.cli.migration.watch:watch",
        "verify": "kwire.cli.migration.verify:verify",
        "plan": "kwire.cli.migration.plan:plan",
    },
)
