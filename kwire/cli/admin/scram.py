"""`kwire scram`: list, set and delete SCRAM credentials (KIP-554), as kafka-configs does.

A password comes from a prompt, a file or stdin, never from the command line.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kwire.admin import registry
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.confirm import YES, confirm
from kwire.cli.errors import WrongUsage
from kwire.cli.lazy import command_group
from kwire.cli.options import argument, option, repeated
from kwire.cli.output import Column, Output, Table

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.admin.scram import ScramCredentialInfo, ScramDeletion, ScramKey, ScramMechanism

app = command_group("List, set and delete SCRAM credentials of users.")

MECHANISMS = repeated(
    "--mechanism", metavar="NAME", help="SCRAM-SHA-256 or SCRAM-SHA-512. Repeatable."
)
USER = Column(key="user")
MECHANISM = Column(key="mechanism")
ITERATIONS = Column(key="iterations", right=True)


@app.command("list")
@asks_cluster(registry.DESCRIBE_USER_SCRAM_CREDENTIALS)
def describe_user_scram_credentials(
    cluster: ClusterOptions,
    output: Output,
    users: list[str] = argument(default=[], metavar="[USER]...", help="By default all."),
) -> None:
    """List users with SCRAM credentials, mechanisms and iterations.

    \b
    kwire scram list --bootstrap-server localhost:9092
    """
    from kwire.admin.scram import mechanism_text

    def rows(user: str, infos: tuple[ScramCredentialInfo, ...]) -> Iterator[dict[str, Any]]:
        for info in infos:
            mechanism = mechanism_text(info.mechanism)
            yield {"user": user, "mechanism": mechanism, "iterations": info.iterations}

    outcomes = cluster.run(lambda admin: admin.describe_user_scram_credentials(users or None))
    table = Table.of_outcomes("credentials", [USER, MECHANISM, ITERATIONS], outcomes, rows)
    output.show(table, empty="no credentials")


@app.command("set")
@asks_cluster(registry.ALTER_USER_SCRAM_CREDENTIALS)
def set_scram_credentials(
    cluster: ClusterOptions,
    output: Output,
    user: str = argument(metavar="USER", help="The user's name."),
    mechanism: list[str] = MECHANISMS,
    iterations: int = option(
        "--iterations", default=8192, min=4096, max=16384, help="Rounds of hashing."
    ),
    password_file: Path | None = option(
        metavar="FILE", help="The password's file, - for stdin; else it is asked."
    ),
) -> None:
    """Set a user's password for SCRAM, by default SCRAM-SHA-512. The password is not sent.

    \b
    kwire scram set alice --bootstrap-server localhost:9092
    kwire scram set alice --password-file - --bootstrap-server localhost:9092 < secret.txt
    """
    from kwire.cli.secret_input import read_secret, without_echo

    with without_echo():
        from kwire.admin.scram import ScramUpsertion

        mechanisms = _mechanisms(mechanism or ["SCRAM-SHA-512"])
        if not user:
            raise WrongUsage("the name of the user is empty.")
        password = read_secret(password_file, "password", "--password-file", confirm=True)
    upsertions = [
        ScramUpsertion(user=user, mechanism=each, password=password, iterations=iterations)
        for each in mechanisms
    ]

    def row(key: ScramKey, _: None) -> dict[str, Any]:
        return {**_key_values(key), "iterations": iterations}

    outcomes = cluster.run(lambda admin: admin.alter_user_scram_credentials(upsertions))
    columns = [USER, MECHANISM, ITERATIONS]
    output.show(Table.of_outcomes("credentials", columns, outcomes, row, key_values=_key_values))


@app.command("delete")
@asks_cluster(registry.ALTER_USER_SCRAM_CREDENTIALS)
def delete_scram_credentials(
    cluster: ClusterOptions,
    output: Output,
    user: str = argument(metavar="USER", help="The user's name."),
    mechanism: list[str] = MECHANISMS,
    yes: bool = YES,
) -> None:
    """Delete a user's SCRAM credentials, by default all. Open connections stay open.

    \b
    kwire scram delete alice --yes --bootstrap-server localhost:9092
    """
    mechanisms = _mechanisms(mechanism)
    named = ", ".join(each.text for each in mechanisms) or "all SCRAM credentials"
    confirm(f"Delete {named} of {user}?", yes=yes)

    async def delete(admin: AdminClient) -> Table:
        deletions = await _deletions(admin, user, mechanisms)
        outcomes = await admin.alter_user_scram_credentials(deletions)
        return Table.of_outcomes(
            "credentials",
            [USER, MECHANISM],
            outcomes,
            lambda key, _: _key_values(key),
            key_values=_key_values,
        )

    output.show(cluster.run(delete))


async def _deletions(
    admin: AdminClient, user: str, mechanisms: list[ScramMechanism]
) -> list[ScramDeletion]:
    """Return the deletions of these mechanisms, or of all that the user has."""
    from kwire.admin.scram import ScramDeletion

    numbers: list[int] = [*mechanisms]
    if not numbers:
        found = await admin.describe_user_scram_credentials([user])
        numbers = [info.mechanism for info in found[user]]
    return [ScramDeletion(user=user, mechanism=number) for number in numbers]


def _key_values(key: ScramKey) -> dict[str, Any]:
    from kwire.admin.scram import mechanism_text

    return {"user": key.user, "mechanism": mechanism_text(key.mechanism)}


def _mechanisms(words: list[str]) -> list[ScramMechanism]:
    from kwire.admin.scram import ScramMechanism

    by_name = {mechanism.text: mechanism for mechanism in ScramMechanism}
    for word in words:
        if word.upper() not in by_name:
            raise WrongUsage(f"{word!r} is no mechanism: take {' or '.join(by_name)}.")
    return [by_name[word.upper()] for word in dict.fromkeys(words)]
