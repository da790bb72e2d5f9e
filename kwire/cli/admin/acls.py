"""`kwire acls`: list, add and remove ACLs, as kafka-acls does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from kwire.admin import registry
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.confirm import Yes, confirm
from kwire.cli.errors import WrongUsage
from kwire.cli.output import ERROR, MESSAGE, Column, Output, Table, dry_run_facts
from kwire.cli.watching import Watch, ask_and_show
from kwire.text.untrusted import harmless

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.admin.acls import AclBinding, AclFilter
    from kwire.admin.outcomes import Outcomes
    from kwire.cli.admin.acl_words import AclWords
    from kwire.errors import KwireError

app = typer.Typer(help="List, add and remove ACLs.", no_args_is_help=True, rich_markup_mode=None)

Topic = Annotated[
    list[str] | None, typer.Option("--topic", metavar="NAME", help="`*` for all. Repeatable.")
]
Group = Annotated[
    list[str] | None, typer.Option("--group", metavar="NAME", help="`*` for all. Repeatable.")
]
ClusterWide = Annotated[bool, typer.Option("--cluster", help="The cluster as a whole.")]
TransactionalId = Annotated[
    list[str] | None,
    typer.Option("--transactional-id", metavar="ID", help="`*` for all. Repeatable."),
]
DelegationToken = Annotated[
    list[str] | None,
    typer.Option("--delegation-token", metavar="ID", help="A token's id. Repeatable."),
]
UserPrincipal = Annotated[
    list[str] | None,
    typer.Option(
        "--user-principal", metavar="USER", help="A user whose tokens are meant. Repeatable."
    ),
]
Principal = Annotated[
    list[str] | None,
    typer.Option("--principal", metavar="User:NAME", help="Allowed or denied. Repeatable."),
]
OperationName = Annotated[
    list[str] | None, typer.Option("--operation", metavar="NAME", help="Read, … Repeatable.")
]
Allow = Annotated[
    list[str] | None,
    typer.Option("--allow-principal", metavar="User:NAME", help="`User:*` for all. Repeatable."),
]
Deny = Annotated[
    list[str] | None,
    typer.Option("--deny-principal", metavar="User:NAME", help="Add or match DENY. Repeatable."),
]
AllowHost = Annotated[
    list[str] | None,
    typer.Option("--allow-host", metavar="IP", help="By default any. Repeatable."),
]
DenyHost = Annotated[
    list[str] | None, typer.Option("--deny-host", metavar="IP", help="By default any. Repeatable.")
]
Pattern = Annotated[
    str,
    typer.Option("--resource-pattern-type", metavar="TYPE", help="literal or prefixed."),
]
FilterPattern = Annotated[
    str,
    typer.Option(
        "--resource-pattern-type",
        metavar="TYPE",
        help="literal, prefixed, any of both, or match: every pattern the name falls under.",
    ),
]
Producer = Annotated[
    bool, typer.Option("--producer", help="WRITE, DESCRIBE, CREATE on topics; transactional ids.")
]
Consumer = Annotated[
    bool, typer.Option("--consumer", help="READ, DESCRIBE on topics; READ on groups.")
]
Idempotent = Annotated[
    bool, typer.Option("--idempotent", help="IDEMPOTENT_WRITE, before Kafka 2.8 for producers.")
]

COLUMNS = [
    Column(key="resourceType"),
    Column(key="resourceName"),
    Column(key="patternType"),
    Column(key="principal"),
    Column(key="host"),
    Column(key="operation"),
    Column(key="permissionType"),
]


@app.command("list")
@asks_cluster(registry.DESCRIBE_ACLS)
def describe_acls(
    cluster: ClusterOptions,
    output: Output,
    topic: Topic = None,
    group: Group = None,
    cluster_wide: ClusterWide = False,
    transactional_id: TransactionalId = None,
    delegation_token: DelegationToken = None,
    user_principal: UserPrincipal = None,
    pattern_type: FilterPattern = "any",
    principal: Principal = None,
    operation: OperationName = None,
    watch: Watch = None,
) -> None:
    """List ACLs, by default all.

    \b
    kwire acls list --principal User:alice --bootstrap-server localhost:9092
    kwire acls list --topic orders --resource-pattern-type match --bootstrap-server localhost:9092
    """
    from kwire.cli.admin.acl_words import AclWords, acl_values

    words = AclWords(
        topics=topic or [],
        groups=group or [],
        cluster=cluster_wide,
        transactional_ids=transactional_id or [],
        tokens=delegation_token or [],
        users=user_principal or [],
        pattern_type=pattern_type,
        operations=operation or [],
        principals=principal or [],
    )
    filters = words.filters()

    def show(acls: list[AclBinding]) -> None:
        output.show(Table("acls", COLUMNS, map(acl_values, acls)), empty="no ACLs")

    ask_and_show(cluster, output, lambda admin: _matching(admin, filters), show, watch)


@app.command("add")
@asks_cluster(registry.CREATE_ACLS)
def create_acls(
    cluster: ClusterOptions,
    output: Output,
    topic: Topic = None,
    group: Group = None,
    cluster_wide: ClusterWide = False,
    transactional_id: TransactionalId = None,
    delegation_token: DelegationToken = None,
    user_principal: UserPrincipal = None,
    pattern_type: Pattern = "literal",
    allow_principal: Allow = None,
    deny_principal: Deny = None,
    allow_host: AllowHost = None,
    deny_host: DenyHost = None,
    operation: OperationName = None,
    producer: Producer = False,
    consumer: Consumer = False,
    idempotent: Idempotent = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show which would be added, and add none.")
    ] = False,
) -> None:
    """Add ACLs. Every named principal gets every named operation on every named resource.

    Without --operation they are for ALL operations.

    \b
    kwire acls add --producer --topic orders --allow-principal User:alice --bootstrap-server b:9092
    """
    from kwire.cli.admin.acl_words import AclWords

    words = AclWords(
        topics=topic or [],
        groups=group or [],
        cluster=cluster_wide,
        transactional_ids=transactional_id or [],
        tokens=delegation_token or [],
        users=user_principal or [],
        pattern_type=pattern_type,
        operations=operation or [],
        allow=allow_principal or [],
        deny=deny_principal or [],
        allow_hosts=allow_host or [],
        deny_hosts=deny_host or [],
        producer=producer,
        consumer=consumer,
        idempotent=idempotent,
    )
    bindings = words.bindings()
    _warn_of_hosts(output, words)
    output.show(cluster.run(lambda admin: _add(admin, bindings, dry_run)))


@app.command("remove")
@asks_cluster(registry.DELETE_ACLS)
def delete_acls(
    cluster: ClusterOptions,
    output: Output,
    topic: Topic = None,
    group: Group = None,
    cluster_wide: ClusterWide = False,
    transactional_id: TransactionalId = None,
    delegation_token: DelegationToken = None,
    user_principal: UserPrincipal = None,
    pattern_type: FilterPattern = "literal",
    principal: Principal = None,
    allow_principal: Allow = None,
    deny_principal: Deny = None,
    allow_host: AllowHost = None,
    deny_host: DenyHost = None,
    operation: OperationName = None,
    producer: Producer = False,
    consumer: Consumer = False,
    idempotent: Idempotent = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show which would be removed, and remove none.")
    ] = False,
    yes: Yes = False,
) -> None:
    """Remove the ACLs that match all options. An option that is not given matches any.

    They are listed first, and exactly those are removed.

    \b
    kwire acls remove --topic orders --allow-principal User:alice --bootstrap-server b:9092
    """
    from kwire.cli.admin.acl_words import AclWords

    words = AclWords(
        topics=topic or [],
        groups=group or [],
        cluster=cluster_wide,
        transactional_ids=transactional_id or [],
        tokens=delegation_token or [],
        users=user_principal or [],
        pattern_type=pattern_type,
        operations=operation or [],
        principals=principal or [],
        allow=allow_principal or [],
        deny=deny_principal or [],
        allow_hosts=allow_host or [],
        deny_hosts=deny_host or [],
        producer=producer,
        consumer=consumer,
        idempotent=idempotent,
    )
    if not words.names_something:
        raise WrongUsage("name a resource or a principal: this would remove every ACL.")
    filters = words.filters()
    table = cluster.run(lambda admin: _remove(admin, filters, dry_run=dry_run, yes=yes))
    output.show(table, empty="no ACL matches")


def _warn_of_hosts(output: Output, words: AclWords) -> None:
    if hosts := words.strange_hosts():
        output.warn(f"Kafka compares addresses, never names: no client comes from {hosts[0]!r}")


async def _matching(admin: AdminClient, filters: Iterable[AclFilter]) -> list[AclBinding]:
    found: set[AclBinding] = set()
    for acl_filter in filters:
        found.update(await admin.describe_acls(acl_filter))
    return sorted(found)


async def _add(admin: AdminClient, bindings: list[AclBinding], dry_run: bool) -> Table:
    """Add ACLs; say of each whether it was there before."""
    from kwire.admin.acls import AclFilter
    from kwire.admin.outcomes import Outcomes
    from kwire.cli.admin.acl_words import acl_values

    resources = {
        AclFilter(
            resource_type=binding.resource_type,
            resource_name=binding.resource_name,
            pattern_type=binding.pattern_type,
        )
        for binding in bindings
    }
    before = set(await _matching(admin, resources))
    nothing: Outcomes[AclBinding, None] = Outcomes(dict.fromkeys(bindings))
    outcomes = nothing if dry_run else await admin.create_acls(bindings)
    return Table.of_outcomes(
        "acls",
        [*COLUMNS, Column(key="isNew")],
        outcomes,
        lambda binding, _: {**acl_values(binding), "isNew": binding not in before},
        key_values=acl_values,
        facts=dry_run_facts(dry_run),
    )


async def _remove(
    admin: AdminClient, filters: Iterable[AclFilter], *, dry_run: bool, yes: bool
) -> Table:
    """Show the ACLs, ask, and remove exactly those: others may have been added since."""
    from kwire.admin.acls import AclFilter
    from kwire.admin.outcomes import Outcomes
    from kwire.cli.admin.acl_words import acl_values

    found = await _matching(admin, filters)
    if dry_run or not found:
        facts = dry_run_facts(dry_run)
        columns = [*COLUMNS, ERROR, MESSAGE]
        return Table("acls", columns, map(acl_values, found), facts=facts)
    if not yes:
        typer.echo("\n".join(harmless(str(binding)) for binding in found), err=True)
    confirm(f"Remove {len(found)} ACLs?", yes=yes)
    exact = {AclFilter.of(binding): binding for binding in found}
    removed = await admin.delete_acls(exact)
    by_binding = {exact[key]: _first_error(value) for key, value in removed.entries().items()}
    return Table.of_outcomes(
        "acls",
        COLUMNS,
        Outcomes(by_binding),
        lambda binding, _: acl_values(binding),
        key_values=acl_values,
    )


def _first_error(value: Outcomes[AclBinding, None] | KwireError) -> KwireError | None:
    """Return why an ACL was not removed: its filter was refused, or itself could not be."""
    from kwire.errors import KwireError

    return value if isinstance(value, KwireError) else next(iter(value.failed.values()), None)
