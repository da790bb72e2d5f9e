"""`kwire pipeline maintain` and `export`: tables kept small, and given away as plain Parquet."""

from __future__ import annotations

import typer

from kwire.cli.confirm import YES, confirm
from kwire.cli.errors import WrongUsage
from kwire.cli.options import option, reads_options, repeated
from kwire.cli.pipeline.analyse import FOLDER
from kwire.cli.pipeline.commands import AS_JSON, SparkOptions, progress


@reads_options
def maintain(
    tables: str = FOLDER,
    keep_days: int | None = option(
        min=0, metavar="N", help="Remove rows of days before the last N; none else."
    ),
    unused_hours: int = option(
        default=168,
        min=0,
        metavar="N",
        help="Remove files that nothing has needed for so long; 0 only while nothing runs.",
    ),
    target_mb: int = option(
        default=256, min=1, metavar="MB", help="Join small files into files of this size."
    ),
    yes: bool = YES,
    as_json: bool = AS_JSON,
) -> None:
    """Join small files, remove old rows and unused files; finish interrupted ingests.

    Safe to run at any time, and to interrupt. For a timer, after each night. It needs no Spark.
    Files that kwire did not write stay, and are counted on stderr.

    \b
    kwire pipeline maintain tables
    kwire pipeline maintain tables --keep-days 30 --yes
    """
    from dataclasses import asdict

    from kwire.cli.screen import print_json, screen, table_of
    from kwire.pipeline.installed import require_spark
    from kwire.pipeline.opening import tables_in
    from kwire.pipeline.store.maintenance import maintain as run
    from kwire.text.phrases import count

    require_spark()
    tables_in(tables)
    if keep_days is not None:
        confirm(f"Remove rows of more than {count(keep_days, 'day')} ago for good?", yes=yes)
    console = screen(stderr=True)
    with console.status("maintaining") as status:
        done = run(
            tables,
            keep_days=keep_days,
            unused_hours=unused_hours,
            target_bytes=target_mb * 1024 * 1024,
            on_step=status.update,
        )
    for result in done:
        if result.left:
            files = f"{count(result.left, 'file')} that kwire did not write"
            typer.secho(f"{tables}/{result.table}: {files}: left as found.", fg="yellow", err=True)
    if as_json:
        print_json([asdict(result) for result in done])
        return
    columns = ("rows removed", "files joined", "into", "files removed")
    shown = table_of("table", *columns, right=columns)
    for result in done:
        numbers = (result.deleted, result.joined, result.into, result.removed)
        shown.add_row(result.table, *(f"{number:,}" for number in numbers))
    screen().print(shown)


@reads_options
def export(
    *,
    tables: str = FOLDER,
    output: str = option(
        "--output", "-o", default=..., metavar="DIR", help="A new folder, or URL."
    ),
    table: list[str] = repeated(metavar="NAME", help="This table only; may be repeated."),
    engine: SparkOptions,
) -> None:
    """Write tables as plain Parquet, a folder each, for programs that do not read Delta.

    The folder is a copy of this moment; kwire itself does not read it.

    \b
    kwire pipeline export tables --output parquet
    """
    from kwire.pipeline.export import ensure_free, export_tables
    from kwire.pipeline.installed import require_spark
    from kwire.pipeline.opening import open_tables, tables_in

    require_spark()
    there = [*tables_in(tables), "sources"]
    if unknown := sorted(set(table) - set(there)):
        raise WrongUsage(f"{tables} has no table {unknown[0]!r}: {', '.join(there)}.")
    ensure_free(output)
    with engine.session() as spark, progress(spark) as on_step:
        opened = open_tables(spark, tables)
        rows = export_tables({name: opened[name] for name in table or opened}, output, on_step)
    for name, count in rows.items():
        typer.echo(f"{name:14} {count:>12,} rows")
