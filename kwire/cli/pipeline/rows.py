"""Rows of Spark, and of DuckDB, as JSON, and as tables on a screen."""

from __future__ import annotations

import json
import sys
from base64 import b64encode
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from textwrap import indent
from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame
    from rich.console import Console

SHARES = ("rate", "share", "closest", "failed_before", "failed_after")
"""Columns of analyses that are printed as per cent."""


def plain(value: Any) -> Any:
    """Return a value for JSON: times in ISO 8601 and UTC, bytes as base64, variants opened."""
    match value:
        case dict():
            return {str(key): plain(member) for key, member in value.items()}
        case list() | tuple():
            return [plain(element) for element in value]
        case datetime():
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case date():
            return value.isoformat()
        case bytes() | bytearray():
            return b64encode(value).decode()
        case Decimal() | UUID() | timedelta() | time():
            return str(value)
        case _ if hasattr(value, "toPython"):  # a variant of Spark's
            return plain(value.toPython())
        case _:
            return value


def print_json_lists(answers: Mapping[str, DataFrame], limit: int) -> None:
    """Print an object with a list of rows for every name, each row as soon as it is there.

    limit: rows of a list at most, 0 for all; stderr tells of those that are left out.
    """
    sys.stdout.write("{")
    for number, (name, frame) in enumerate(answers.items()):
        sys.stdout.write(f"{',' if number else ''}\n  {json.dumps(name)}: ")
        _print_list(frame, limit, margin="  ", name=name)
    sys.stdout.write("\n}\n" if answers else "}\n")


def print_json_list(frame: DataFrame, limit: int) -> None:
    """Print a list of the rows, likewise."""
    _print_list(frame, limit, margin="", name="the query")
    sys.stdout.write("\n")


def _print_list(frame: DataFrame, limit: int, *, margin: str, name: str) -> None:
    """Print a JSON list row by row: all of them need not fit into memory."""
    import typer

    count = 0
    for row in (frame.limit(limit + 1) if limit else frame).toLocalIterator():
        count += 1
        if not limit or count <= limit:
            text = json.dumps(plain(row.asDict(recursive=True)), indent=2)
            separator = "," if count > 1 else "["
            sys.stdout.write(f"{separator}\n{indent(text, f'{margin}  ')}")
    sys.stdout.write(f"\n{margin}]" if count else "[]")
    if limit and count > limit:
        left_out = f"{name}: only the first {limit} rows are printed: --limit 0 prints all."
        typer.secho(left_out, fg="yellow", err=True)


def print_rows(
    console: Console, frame: DataFrame, top: int, *, left_out_if_same: Sequence[str] = ()
) -> None:
    """Print the first rows as a table, and whether there are more, or none.

    left_out_if_same: columns that are not printed if all printed rows have one value in them.
    """
    names, rows = frame.columns, frame.limit(top + 1).collect()
    same = {name for name in left_out_if_same if len({row[name] for row in rows[:top]}) == 1}
    shown = [number for number, name in enumerate(names) if name not in same]
    some = [[row[number] for number in shown] for row in rows]
    print_table(console, [names[number] for number in shown], some, top)


def print_table(
    console: Console, names: Sequence[str], rows: Sequence[Sequence[Any]], top: int
) -> None:
    """Print the first rows as a table, and whether there are more, or none."""
    from kwire.cli.screen import table_of
    from kwire.text.untrusted import harmless

    if not rows:
        console.print("no rows", style="dim")
        return
    columns = zip(names, zip(*rows, strict=True), strict=True)
    numbers = [harmless(name) for name, values in columns if _is_number(values)]
    table = table_of(*map(harmless, names), right=numbers)
    for row in rows[:top]:
        table.add_row(
            *(harmless(cell(name, value)) for name, value in zip(names, row, strict=True))
        )
    console.print(table)
    if len(rows) > top:
        console.print(f"and more: --top shows other than {top} rows", style="dim")


def cell(name: str, value: Any) -> str:
    """Return a value as text for people."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case float() if name in SHARES:
            return f"{value:.2%}"
        case float():
            return f"{value:,.3f}" if abs(value) < 10 else f"{value:,.1f}"
        case int() if name.endswith(("_bytes", "calls", "held")):
            return f"{value:,}"
        case datetime():
            return f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}"[:-3]
        case list() if all(isinstance(element, int | str) for element in value):
            return ", ".join(map(str, value)) or "-"
        case _:
            return str(plain(value))


def _is_number(values: Sequence[Any]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and isinstance(known[0], int | float)
