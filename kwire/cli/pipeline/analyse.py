"""`kwire pipeline analyse`, `compare` and `sql`: analyses and queries of the tables."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from kwire.cli.errors import CommandFailed, WrongUsage
from kwire.cli.options import argument, option, reads_options
from kwire.cli.pipeline.commands import AS_JSON, SparkOptions

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from kwire.pipeline.analyses.period import AnalysedPeriod

FOLDER = argument(metavar="TABLES", help="The folder, or URL, that ingest wrote.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodOptions:
    """The options of the period whose rows are read."""

    begin: str | None = option(
        "--from",
        metavar="TIME",
        help="Only rows from this time on, as 2026-11-21T09:30:00Z; without a zone it is UTC.",
    )
    end: str | None = option("--to", metavar="TIME", help="Only rows before this time.")

    def period(self) -> AnalysedPeriod:
        """Return the period. Raises WrongUsage."""
        from kwire.pipeline.analyses.period import AnalysedPeriod

        period = AnalysedPeriod(_time("--from", self.begin), _time("--to", self.end))
        if period.begin and period.end and period.begin >= period.end:
            raise WrongUsage(
                f"--from {self.begin} is not before --to {self.end}: no time is between them."
            )
        return period


@dataclass(frozen=True, slots=True, kw_only=True)
class RowOptions:
    """The options of how many rows are printed."""

    top: int = option(default=20, min=1, metavar="N", help="Rows that a table on a screen shows.")
    limit: int = option(
        default=10_000, min=0, metavar="N", help="Rows of a list that --json prints; 0 is all."
    )


@reads_options
def analyse(
    *,
    tables: str = FOLDER,
    names: list[str] = argument(default=[], metavar="[NAME]...", help="Analyses; all by default."),
    times: PeriodOptions,
    rows: RowOptions,
    engine: SparkOptions,
    as_json: bool = AS_JSON,
) -> None:
    """Print analyses of the tables: latencies, errors, versions, features, elections,
    voter-changes, isr, alter-partitions, controller-load, heartbeats, throughput, topic-bytes,
    client-to-node, rebalances, transactions, checks.

    They are described in docs/debuggers/pipeline.md. Without a NAME: all of them for which there
    are tables.

    \b
    kwire pipeline analyse tables elections voter-changes
    kwire pipeline analyse tables latencies --json | jq '.latencies[0]'
    kwire pipeline analyse tables errors --from 2026-11-26T03:00Z --to 2026-11-26T04:00Z
    """
    from kwire.pipeline.installed import require_spark

    require_spark()
    from kwire.pipeline.analyses import ANALYSES
    from kwire.pipeline.opening import needed, open_tables, tables_in

    if unknown := [name for name in names if name not in ANALYSES]:
        raise WrongUsage(f"no analysis is called {unknown[0]!r}: {', '.join(ANALYSES)}.")
    tables_in(tables)  # before Spark takes its time to start
    period = times.period()
    with engine.session() as spark:
        opened = open_tables(spark, tables)
        possible = [name for name, analysis in ANALYSES.items() if analysis.table in opened]
        for name in names:
            needed(opened, ANALYSES[name].table, tables)
        chosen = {name: ANALYSES[name].rows(opened, period) for name in names or possible}
        titles = {name: f"{name}: {ANALYSES[name].purpose}" for name in chosen}
        _print(chosen, titles, rows.top, rows.limit if as_json else None)


@reads_options
def compare(
    *,
    before: str = argument(metavar="BEFORE", help="A folder of tables."),
    after: str = argument(metavar="AFTER", help="The one beside it."),
    times: PeriodOptions,
    rows: RowOptions,
    engine: SparkOptions,
    as_json: bool = AS_JSON,
) -> None:
    """Compare two recordings, as before and after an upgrade: calls that became slower, calls
    that fail now, clients that use other versions. A row for every API and client.

    \b
    kwire pipeline compare tables-3.9 tables-4.3
    """
    from kwire.pipeline.installed import require_spark

    require_spark()
    from kwire.pipeline.analyses import comparison
    from kwire.pipeline.analyses.latencies import LEAST_CALLS
    from kwire.pipeline.opening import needed, open_tables, tables_in

    for folder in (before, after):
        tables_in(folder)  # before Spark takes its time to start
    period = times.period()
    with engine.session() as spark:
        found = [needed(open_tables(spark, folder), "calls", folder) for folder in (before, after)]
        calls = [period.rows("calls", table) for table in found]
        title = f"{before} and {after}: what became slower first"
        title += f"; behind: fewer than {LEAST_CALLS} calls on a side"
        answers = {"comparison": comparison(*calls)}
        _print(answers, {"comparison": title}, rows.top, rows.limit if as_json else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlRowOptions(RowOptions):
    """The options of how many rows of a query are printed."""

    top: int = option(default=100, min=1, metavar="N", help="Rows that a table on a screen shows.")


@reads_options
def sql(
    *,
    tables: str = FOLDER,
    query: str = argument(metavar="QUERY", help="A query in Spark's SQL."),
    rows: SqlRowOptions,
    engine: SparkOptions,
    as_json: bool = AS_JSON,
) -> None:
    """Ask the tables in SQL: each is a view of its name.

    Bodies of messages are JSON: variant_get(parse_json(body), '$.throttle_time_ms', 'int').

    \b
    kwire pipeline sql tables "select api, count(*) from calls group by api order by 2 desc"
    kwire pipeline sql tables "describe quorum"
    """
    from kwire.pipeline.installed import require_spark

    require_spark()
    from kwire.cli.pipeline.rows import print_json_list, print_rows
    from kwire.cli.screen import screen
    from kwire.pipeline.opening import open_tables, tables_in

    tables_in(tables)  # before Spark takes its time to start
    with engine.session() as spark:
        answer = _answer(spark, open_tables(spark, tables), query)
        if as_json:
            print_json_list(answer, rows.limit)
        else:
            print_rows(screen(), answer, rows.top)


def _time(option: str, text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise WrongUsage(
            f"{option} {text} is no time: give it as 2026-11-21T09:30:00Z; without a zone it is"
            " UTC."
        ) from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _answer(spark: SparkSession, opened: dict[str, DataFrame], query: str) -> DataFrame:
    """Return the rows of a query. Raises WrongUsage for a statement, CommandFailed, ParseException.

    A statement would make, or drop, something in Spark's own catalog, and change no table.
    """
    from pyspark.errors import AnalysisException

    if not _is_query(spark, spark._jsparkSession.sessionState().sqlParser().parsePlan(query)):
        raise WrongUsage(
            "this is no query, and kwire pipeline sql only asks: begin with select, with, from,"
            " values, describe, show or explain."
        )
    for name, table in opened.items():
        table.createOrReplaceTempView(name)
    try:
        return spark.sql(query)
    except AnalysisException as error:
        if error.getCondition() != "TABLE_OR_VIEW_NOT_FOUND":
            raise
        wrong = (error.getMessageParameters() or {}).get("relationName", "").replace("`", "")
        raise CommandFailed(f"no table is called {wrong}: {', '.join(opened)}.") from error


READING, WRITING = ("Describe", "Show", "Explain"), ("Insert", "ExecuteImmediate", "Call")
"""Begins of the names of Spark's plans: of commands that only read, and of others that do not."""


def _is_query(spark: SparkSession, plan: Any) -> bool:
    """Return True if a parsed plan of Spark's, with all below it, changes nothing."""
    jvm: Any = spark._jvm
    command = jvm.java.lang.Class.forName("org.apache.spark.sql.catalyst.plans.logical.Command")
    name = plan.getClass().getSimpleName()
    if name.startswith(READING):
        return True
    if command.isInstance(plan) or name.startswith(WRITING):
        return False
    children = plan.children()
    return all(_is_query(spark, children.apply(n)) for n in range(children.size()))


def _print(
    answers: dict[str, DataFrame], titles: dict[str, str], top: int, limit: int | None
) -> None:
    """Print as tables of `top` rows; as JSON if a limit is given."""
    from kwire.cli.pipeline.rows import print_json_lists, print_rows
    from kwire.cli.screen import screen

    if limit is not None:
        print_json_lists(answers, limit)
        return
    console = screen()
    for number, (name, frame) in enumerate(answers.items()):
        if number:
            console.print()
        console.print(titles[name], style="bold")
        print_rows(console, frame, top, left_out_if_same=["cluster_id"])
