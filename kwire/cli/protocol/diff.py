"""`kwire protocol diff`: the differences between two releases of Kafka."""

from __future__ import annotations

import typer

from kwire.cli.differences import differences_table, end_in_trouble
from kwire.cli.errors import WrongUsage
from kwire.cli.options import argument, option, reads_options, repeated
from kwire.cli.output import OutputOptions


@reads_options
def diff(
    *,
    one: str = argument(metavar="RELEASE", help="A release of Kafka, as 3.9.1."),
    other: str = argument(metavar="RELEASE", help="Another one, as 4.4.0."),
    api: list[str] = repeated(
        metavar="NAME", help="Only this API or message: Fetch, FetchRequest, 1. Repeatable."
    ),
    only: str | None = option(
        metavar="SECTIONS",
        help="Only these, separated by commas: messages, versions, listeners, fields,"
        " features, errors, configs.",
    ),
    printed: OutputOptions,
) -> None:
    """Compare two releases of Kafka, from the older to the newer.

    Prints messages, their versions, listeners and fields, levels of features, error codes and
    configurations that were added, removed or changed. Exit code 0 for no difference, 1 for some, 2
    for trouble, such as a release that is not known.

    \b
    kwire protocol diff 3.9.1 4.4.0
    kwire protocol diff 3.9.1 4.4.0 --api Fetch --api Vote
    kwire protocol diff 4.3.1 4.4.0 --only errors,configs --json
    """
    from kwire.messages.registry import UnknownMessage
    from kwire.protocol import ProtocolSection, UnknownRelease, compare

    output = printed.output(both=True)
    names = [name.strip().lower() for name in (only or "").split(",") if name.strip()]
    for name in names:
        if name not in list(ProtocolSection):
            known = ", ".join(ProtocolSection)
            raise WrongUsage(f"--only {name}: there is no such section, only {known}.")
    try:
        found = compare(one, other, sections=[ProtocolSection(n) for n in names], apis=api)
    except (UnknownRelease, UnknownMessage) as error:
        end_in_trouble(error, output)
    facts = {"equal": not found.differences, "old": found.old, "new": found.new}
    output.show(differences_table(found.differences, facts))
    if found.differences:
        raise typer.Exit(1)
