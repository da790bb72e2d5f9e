"""`kwire pipeline report`: one HTML page with figures from the tables."""

from __future__ import annotations

from pathlib import Path

import typer

from kwire.cli.errors import WrongUsage
from kwire.cli.options import option, reads_options
from kwire.cli.pipeline.analyse import FOLDER, PeriodOptions
from kwire.cli.pipeline.commands import SparkOptions, progress


@reads_options
def report(
    *,
    tables: str = FOLDER,
    output: Path = option(
        "--output", "-o", default=..., metavar="FILE", help="The page, written over."
    ),
    before: str | None = option(
        metavar="DIR", help="Tables of an earlier night: report what changed since."
    ),
    times: PeriodOptions,
    title: str | None = option(metavar="TEXT", help="Its heading; the folder by default."),
    engine: SparkOptions,
) -> None:
    """Report what the tables contain, as one HTML page that loads nothing: the quorum's leaders
    and votes, throughput, topics, latencies, errors, versions, controller load, in-sync replicas,
    rebalances, transactions, heartbeats, verdicts. With --before: what changed from one night to
    the other.

    \b
    kwire pipeline report tables --output report.html
    kwire pipeline report tables-tuesday --before tables-monday --output report.html
    """
    from kwire.pipeline.installed import REPORTING, require_spark

    require_spark(*REPORTING)
    from kwire.permissions import write_private
    from kwire.pipeline.opening import open_tables, tables_in
    from kwire.pipeline.report import render, sections

    if not output.parent.is_dir():
        raise WrongUsage(f"{output.parent} is no folder: make it, or choose another --output.")
    for folder in filter(None, (tables, before)):
        tables_in(folder)  # before Spark takes its time to start
    period = times.period()
    with engine.session() as spark, progress(spark) as on_step:
        earlier = open_tables(spark, before) if before else None
        made = sections(spark, open_tables(spark, tables), on_step, earlier, period)
    heading = f"From {before} to {tables}" if before else f"Kafka as recorded in {tables}"
    write_private(output, render(made, title or heading))
    typer.echo(f"{output}: {output.stat().st_size / 1_000_000:.1f} MB")
