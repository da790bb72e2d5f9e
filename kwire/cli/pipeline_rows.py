"""Rows of Spark as JSON, and as tables on a screen."""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame
    from rich.console import Console

SHARES = ("rate", "share", "closest", "failed_before", "failed_after")
"""Columns of analyses that are printed as per cent."""


def plain(value: Any) -> Any:
    """Return a value for JSON: times in ISO 8601 and UTC, bytes as base64, variants opened."""
    from pyspark.sql.types import VariantVal

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
        case Decimal():
            return str(value)
        case VariantVal():
            return plain(value.toPython())
        case _:
            return value


def json_rows(frame: DataFrame) -> list[dict[str, Any]]:
    """Return all rows, an object each."""
    return [plain(row.asDict(recursive=True)) for row in frame.collect()]


def print_rows(console: Console, frame: DataFrame, top: int) -> None:
    """Print the first rows as a table, and whether there are more, or none."""
    from kwire.cli.screen import table_of
    from kwire.text.untrusted import harmless

    rows = frame.limit(top + 1).collect()
    if not rows:
        console.print("no rows", style="dim")
        return
    numbers = [harmless(name) for name in frame.columns if _is_number([row[name] for row in rows])]
    table = table_of(*map(harmless, frame.columns), right=numbers)
    for row in rows[:top]:
        table.add_row(*(harmless(cell(name, row[name])) for name in frame.columns))
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
