"""`kwire diff`: two clusters, or a cluster and what it was, compared key by key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from kwire.cli.differences import differences_table, end_in_trouble
from kwire.cli.errors import WrongUsage
from kwire.cli.event_loop import run
from kwire.cli.metadata_sources import ContentOptions, MetadataSource, SourceOptions
from kwire.cli.options import argument, flag, reads_options
from kwire.cli.output import Output, OutputOptions

if TYPE_CHECKING:
    from kwire.cluster_document.comparison import Comparison
    from kwire.cluster_document.document import ClusterDocument, DocumentSection


@reads_options
def diff(
    *,
    old: str = argument(
        metavar="OLD",
        help="An exported file, a .checkpoint, a folder __cluster_metadata-0,"
        " controllers:HOST:PORT,... or profile:NAME. A log may have @OFFSET behind it.",
    ),
    new: str | None = argument(
        default=None,
        metavar="[NEW]",
        help="The same. Without it the cluster of the options is the new one.",
    ),
    sources: SourceOptions,
    printed: OutputOptions,
    content: ContentOptions,
    ignore_ids: bool = flag("--ignore-ids", help="Do not tell that a topic was created anew."),
) -> None:
    """Compare two clusters, files or metadata logs. Prints old and new of each value.

    Sections that one side lacks are not compared, nor are values of passwords. Ids of topics tell
    that one was deleted and created anew; those of two different clusters are not compared. Exit
    code 0 for no difference, 1 for some, 2 for trouble.

    \b
    kwire diff nightly.yaml --bootstrap-controller localhost:9093
    kwire diff profile:staging profile:production --only topics,acls
    kwire diff 00000000000000000178-0000000001.checkpoint /var/lib/kafka/__cluster_metadata-0
    kwire diff /var/lib/kafka/metadata@178 /var/lib/kafka/metadata@latest
    """
    chosen = content.sections()
    if new is not None and sources.names_cluster:
        raise WrongUsage("give OLD and NEW, or OLD and the options of a cluster.")
    pair = sources.source(old), sources.cluster() if new is None else sources.source(new)
    output = printed.output(both=True)
    try:
        comparison = _compare(pair, chosen, content.assignments, ignore_ids)
    except WrongUsage:
        raise
    except Exception as error:
        end_in_trouble(error, output)
    _show(comparison, pair, output)
    if comparison.differences:
        raise typer.Exit(1)


def _compare(
    pair: tuple[MetadataSource, MetadataSource],
    chosen: tuple[DocumentSection, ...],
    assignments: bool,
    ignore_ids: bool,
) -> Comparison:
    from kwire.cluster_document.comparison import compare

    documents = run(_documents(pair, chosen, assignments))
    comparison = compare(*documents, chosen, ignore_ids=ignore_ids)
    if not comparison.compared:
        wanted = ", ".join(chosen) or "sections"
        raise WrongUsage(f"{pair[0]} and {pair[1]} have no {wanted} in common.")
    return comparison


async def _documents(
    pair: tuple[MetadataSource, MetadataSource],
    chosen: tuple[DocumentSection, ...],
    assignments: bool,
) -> tuple[ClusterDocument, ClusterDocument]:
    """Read both sides at once. Replicas are told where asked for, or where a file has them."""
    import asyncio

    from kwire.cluster_document.document import ClusterDocument
    from kwire.cluster_document.from_image import document_of

    read = await asyncio.gather(*(source.read() for source in pair))
    with_replicas = assignments or any(
        isinstance(side, ClusterDocument) and side.has_assignments for side in read
    )
    old, new = (
        side
        if isinstance(side, ClusterDocument)
        else document_of(side, chosen, assignments=with_replicas)
        for side in read
    )
    return old, new


def _show(
    comparison: Comparison, pair: tuple[MetadataSource, MetadataSource], output: Output
) -> None:
    facts = {
        "equal": not comparison.differences,
        "old": str(pair[0]),
        "new": str(pair[1]),
        "compared": list(comparison.compared),
        "notCompared": list(comparison.not_compared),
    }
    table = differences_table(comparison.differences, facts if output.is_document else {})
    output.show(table, empty=f"no difference in {', '.join(comparison.compared)}")
    if comparison.not_compared:
        output.say(f"not compared, since one side lacks it: {', '.join(comparison.not_compared)}")
