"""`kwire acls`: list, add and remove ACLs, as kafka-acls does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import typer

from kwire.admin import registry
from kwire.cli.admin.acl_options import AclGrantees, AclGrants, AclResources
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.confirm import YES, confirm
from kwire.cli.errors import WrongUsage
from kwire.cli.lazy import command_group
from kwire.cli.options import flag, option, repeated
from kwire.cli.output import ERROR, MESSAGE, Column, Output, Table, dry_run_facts, text_columns
from kwire.cli.watching import WATCH, ask_and_show
from kwire.text.untrusted import harmless

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.admin.acls import AclBinding, AclFilter
    from kwire.admin.outcomes import Outcomes
    from kwire.cli.admin.acl_words import AclWords
    from kwire.errors import KwireError

app = command_group("List, add and remove ACLs.")

PRINCIPAL = repeated("--principal", metavar="User:NAME", help="Allowed or denied. Repeatable.")


def _pattern(default: str) -> Any:
    """Declare the option of the pattern type in a filter."""
    return option(
        "--resource-pattern-type",
        default=default,
        metavar="TYPE",
        help="literal, prefixed, any of both, or match: every pattern the name falls under.",
    )


COLUMNS = text_columns(
    "resourceType",
    "resourceName",
    "patternType",
    "principal",
    "host",
    "operation",
    "permissionType",
)


@app.command("list")
@asks_cluster(registry.DESCRIBE_ACLS)
def describe_acls(
    cluster: ClusterOptions,
    output: Output,
    *,
    resources: AclResources,
    pattern_type: str = _pattern("any"),
    principals: list[str] = PRINCIPAL,
    operations: list[str] = repeated("--operation", metavar="NAME", help="Read, … Repeatable."),
    watch: float | None = WATCH,
) -> None:
    """List ACLs, by default all.

    \b
    kwire acls list --principal User:alice --bootstrap-server localhost:9092
    kwire acls list --topic orders --resource-pattern-type match --bootstrap-server localhost:9092
    """
    from kwire.cli.admin.acl_words import AclWords, acl_values

    words = AclWords(
        resources=resources,
        pattern_type=pattern_type,
        principals=principals,
        grants=AclGrants(operations=operations),
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
    *,
    resources: AclResources,
    pattern_type: str = option(
        "--resource-pattern-type", default="literal", metavar="TYPE", help="literal or prefixed."
    ),
    grantees: AclGrantees,
    grants: AclGrants,
    dry_run: bool = flag("--dry-run", help="Show which would be added, and add none."),
) -> None:
    """Add ACLs. Every named principal gets every named operation on every named resource.

    Without --operation they are for ALL operations.

    \b
    kwire acls add --producer --topic orders --allow-principal User:alice --bootstrap-server b:9092
    """
    from kwire.cli.admin.acl_words import AclWords

    words = AclWords(
        resources=resources, pattern_type=pattern_type, grantees=grantees, grants=grants
    )
    bindings = words.bindings()
    _warn_of_hosts(output, words)
    output.show(cluster.run(lambda admin: _add(admin, bindings, dry_run)))


@app.command("remove")
@asks_cluster(registry.DELETE_ACLS)
def delete_acls(
    cluster: ClusterOptions,
    output: Output,
    *,
    resources: AclResources,
    pattern_type: str = _pattern("literal"),
    principals: list[str] = PRINCIPAL,
    grantees: AclGrantees,
    grants: AclGrants,
    dry_run: bool = flag("--dry-run", help="Show which would be removed, and remove none."),
    yes: bool = YES,
) -> None:
    """Remove the ACLs that match all options. An option that is not given matches any.

    They are listed first, and exactly those are removed.

    \b
    kwire acls remove --topic orders --allow-principal User:alice --bootstrap-server b:9092
    """
    from kwire.cli.admin.acl_words import AclWords

    words = AclWords(
        resources=resources,
        pattern_type=pattern_type,
        principals=principals,
        grantees=grantees,
        grants=grants,
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
