"""`kwire apply`: a document of `kwire export` back to a cluster."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from kwire.admin import registry
from kwire.cli.cluster_options import ClusterOptions, asks_cluster
from kwire.cli.confirm import YES, check_answerable, confirm
from kwire.cli.differences import end_in_trouble
from kwire.cli.errors import WrongUsage
from kwire.cli.metadata_sources import ONLY, sections_named
from kwire.cli.options import argument, flag, option
from kwire.cli.output import Output

if TYPE_CHECKING:
    from kwire.admin import AdminClient
    from kwire.admin.registry import OperationRow
    from kwire.cluster_document.apply_plan import ApplyPlan
    from kwire.cluster_document.apply_run import StepErrors
    from kwire.cluster_document.document import ClusterDocument, DocumentSection
    from kwire.errors import KwireError

FEW = 100
"""Steps that are done within a moment, without a word of progress."""


@asks_cluster(registry.CREATE_TOPICS, changes=False)  # --plan is for read-only profiles, too
def apply(
    cluster: ClusterOptions,
    output: Output,
    file: Path = argument(metavar="FILE", help="A document of `kwire export`, or one by hand."),
    plan_only: bool = flag("--plan", help="Print what would change, and change nothing."),
    only: str | None = ONLY,
    features: bool = flag("--features", help="Raise levels of features, too; none is lowered."),
    cluster_id: str | None = option(
        "--cluster-id", metavar="ID", help="The cluster to change, if the document is of another."
    ),
    yes: bool = YES,
) -> None:
    """Give a cluster what a document has: topics, configs, quotas, SCRAM users, ACLs.

    Nothing is removed: what the document does not have is left alone. The plan is printed first,
    and afterwards the cluster is read again. A second call changes nothing; after one that was
    interrupted it does the rest.

    Exit code 0: the cluster has all of the document. 1: something differs or failed. With --plan,
    as `kwire diff`: 0 for nothing to change, 1 for something, 2 for trouble.

    \b
    kwire apply nightly.yaml --plan --bootstrap-server localhost:9092
    kwire apply nightly.yaml --only topics,acls --yes --bootstrap-server localhost:9092
    kwire apply nightly.yaml --allow-unlisted --bootstrap-controller localhost:9093
    """
    from kwire.admin.errors import ReadOnly
    from kwire.cluster_document.reading import read_document

    sections = sections_named(only)
    if cluster.read_only and not plan_only:
        raise ReadOnly("the profile is read-only: take another profile, or --plan")
    check_answerable(f"Apply {file}?", yes=yes or plan_only)
    wish = _Wish(document=read_document(file), sections=sections, set_features=features)
    try:
        seen = cluster.run(lambda admin: _look(cluster, admin, wish))
    except Exception as error:
        if plan_only and not isinstance(error, WrongUsage):
            end_in_trouble(error, output)
        raise
    if not seen.plan.sections:
        raise WrongUsage(f"{file} has no {', '.join(sections) or 'section to apply'}.")
    trouble = _other_cluster(wish.document.cluster_id, seen.cluster_id, cluster_id)
    if plan_only or not seen.plan.steps:
        _show_unasked(seen, trouble, output)
    elif trouble:
        raise WrongUsage(trouble)
    elif seen.unserved is not None:
        raise seen.unserved
    else:
        _ask_and_change(cluster, wish, seen, output, yes=yes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    document: ClusterDocument
    sections: tuple[DocumentSection, ...]
    set_features: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """The plan for a cluster as it is. unserved: the error of what its nodes must not be sent."""

    cluster_id: str | None
    plan: ApplyPlan
    unserved: KwireError | None


async def _look(cluster: ClusterOptions, admin: AdminClient, wish: _Wish) -> _Seen:
    from kwire.admin.errors import ReadOnly
    from kwire.cluster_document.apply_run import check_allowed
    from kwire.errors import UnsupportedEndpointType

    current = await _current(cluster, admin, wish)
    plan = _plan(current, wish)
    try:
        check_allowed(admin.driver, plan)
    except ReadOnly:
        pass  # a profile's: only the plan is wanted
    except UnsupportedEndpointType as error:
        return _Seen(cluster_id=current.cluster_id, plan=plan, unserved=error)
    return _Seen(cluster_id=current.cluster_id, plan=plan, unserved=None)


async def _current(cluster: ClusterOptions, admin: AdminClient, wish: _Wish) -> ClusterDocument:
    """Return what the cluster has: by the metadata log of controllers, or as brokers tell it."""
    if cluster.controller is None:
        from kwire.cluster_document.from_brokers import document_of_brokers

        return await document_of_brokers(admin, wish.document, wish.sections)
    from kwire.cluster_document.from_image import document_of
    from kwire.cluster_document.live_metadata import live_metadata

    metadata = await live_metadata(
        cluster.controller, security=cluster.security, timeouts=cluster.timeouts
    )
    replicas = wish.document.has_assignments
    return document_of(metadata, wish.sections, assignments=replicas, keys=True)


def _plan(current: ClusterDocument, wish: _Wish) -> ApplyPlan:
    from kwire.cluster_document.apply_plan import plan_application

    return plan_application(current, wish.document, wish.sections, set_features=wish.set_features)


def _other_cluster(of_document: str | None, of_cluster: str | None, typed: str | None) -> str:
    """Return why the cluster must not be changed: it is another one than the user may think."""
    if typed is not None and typed != of_cluster:
        return f"--cluster-id {typed}: the cluster is {of_cluster or 'not known'}."
    if of_document is None or of_cluster == of_document or typed is not None:
        return ""
    if of_cluster is None:
        return (
            f"the document is of cluster {of_document}, and the controllers do not tell theirs to"
            " this principal, which needs ALTER on the cluster: grant it, or ask brokers."
        )
    return (
        f"the document is of cluster {of_document}, and this is {of_cluster}: to change it, add"
        f" --cluster-id {of_cluster}."
    )


def _show_unasked(seen: _Seen, trouble: str, output: Output) -> None:
    """Show a plan that is not carried out; exit with 1 if the cluster differs."""
    from kwire.cli.apply_tables import say_left_alone, show_plan
    from kwire.cli.wording import command_words

    show_plan(seen.plan, seen.cluster_id, output)
    say_left_alone(seen.plan, output)
    if trouble and seen.plan.steps:
        output.warn(trouble.removesuffix("."))
    if seen.unserved is not None:
        output.warn(command_words(str(seen.unserved)))
    if seen.plan.differs:
        raise typer.Exit(1)


def _ask_and_change(
    cluster: ClusterOptions, wish: _Wish, seen: _Seen, output: Output, *, yes: bool
) -> None:
    """Carry a plan out if the user agrees; exit with 1 if the cluster differs afterwards."""
    from kwire.cli.apply_tables import say_left_alone, show_plan, show_results

    if not yes and output.is_for_people:
        show_plan(seen.plan, seen.cluster_id, output)
        say_left_alone(seen.plan, output)
    named = f"cluster {seen.cluster_id}" if seen.cluster_id else "the cluster"
    confirm(f"Make {len(seen.plan.steps)} changes in {named}?", yes=yes)
    try:
        left, errors = cluster.run(lambda admin: _carry_out(cluster, admin, wish, seen.plan))
    except KeyboardInterrupt:
        typer.echo("Stopped: a part is done; kwire apply does the rest if called again.", err=True)
        raise
    show_results(seen.plan, left, errors, seen.cluster_id, output)
    if left is None or left.differs:
        raise typer.Exit(1)


async def _carry_out(
    cluster: ClusterOptions, admin: AdminClient, wish: _Wish, plan: ApplyPlan
) -> tuple[ApplyPlan | None, StepErrors]:
    """Return what is left to do, None if the cluster could not be read, and the steps' errors."""
    from kwire.cli.errors import error_sentence
    from kwire.cluster_document.apply_run import run_steps, settled
    from kwire.errors import KwireError

    async def plan_again() -> ApplyPlan:
        return _plan(await _current(cluster, admin, wish), wish)

    errors = await run_steps(admin.driver, plan.steps, _print_progress)
    try:
        return await settled(plan_again, errors, cluster.timeouts.operation), errors
    except KwireError as error:
        typer.secho(f"The cluster was not read again: {error_sentence(error)}", fg="red", err=True)
        return None, errors


def _print_progress(tried: int, steps: int, operation: OperationRow) -> None:
    """Print a line on stderr after each batch of a long plan."""
    if steps > FEW:
        sys.stderr.write(f"{tried} of {steps} changes tried, kwire {operation.command}\n")
        sys.stderr.flush()
