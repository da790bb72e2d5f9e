"""`kwire capture versions`: the versions that clients use, and those that block Kafka 4."""

from __future__ import annotations

from pathlib import Path

import typer

from kwire.cli.capture.files import CAPTURES, files, print_damage, records_of
from kwire.cli.options import reads_options
from kwire.cli.output import OutputOptions, Table, number_columns, text_columns


@reads_options
def versions(captures: list[Path] = CAPTURES, *, printed: OutputOptions) -> None:
    """List the versions that each client uses, those first that Kafka 4 does not answer.

    Needed is the lowest version that Kafka 4 answers (KIP-896), Blocked counts the calls below it:
    they fail after an upgrade. Clients counts the addresses that a client id came from. Damage goes
    to stderr, with exit code 1.

    \b
    kwire capture versions captures/
    kwire capture versions quorum.avro --json | jq '.versions[] | select(.blocked > 0)'
    """
    from kwire.capture import Damage
    from kwire.capture.client_versions import used_versions
    from kwire.capture.editing import events_of

    damages: list[Damage] = []
    used = used_versions(events_of(records_of(files(captures)), damages.append))
    columns = [
        *text_columns("clientId", "api"),
        *number_columns("lowest", "highest", "needed", "blocked", "calls", "clients"),
    ]
    rows = [
        {
            "clientId": usage.client_id,
            "api": usage.api,
            "lowest": usage.lowest,
            "highest": usage.highest,
            "needed": usage.needed,
            "blocked": usage.blocked,
            "calls": usage.calls,
            "clients": len(usage.hosts),
        }
        for usage in used
    ]
    for damage in damages:
        print_damage(damage)
    printed.output().show(Table("versions", columns, rows), empty="No call is in these captures.")
    if damages:
        raise typer.Exit(1)
