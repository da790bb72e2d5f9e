"""The tables in Markdown, as docs/reference/pipeline-tables.md has them."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from kwire.pipeline.columns import doc_of
from kwire.pipeline.schemas import TABLES
from kwire.pipeline.spark_columns import spark_type
from kwire.pipeline.typed import message_columns, record_columns


def markdown(table: str) -> str:
    """Return the columns of a table in Markdown; those made from declarations share one row."""
    from_declarations = [field.name for field in [*message_columns(), *record_columns()]]
    schema = TABLES[table]
    lines = ["| column | type | meaning |", "| --- | --- | --- |"]
    lines += [
        line for field in schema if field.name not in from_declarations for line in _lines(field)
    ]
    structs = [f"`{field.name}`" for field in schema if field.name in from_declarations]
    if structs:
        lines.append(f"| {', '.join(structs)} | struct | the message, null in all other rows |")
    return "\n".join(lines)


def _lines(field: pa.Field, inside: str = "") -> Iterator[str]:
    name = f"{inside}{field.name}"
    yield f"| {name} | {_type(field)} | {doc_of(field)} |"
    kind = field.type.value_type if isinstance(field.type, pa.ListType) else field.type
    if isinstance(kind, pa.StructType):
        for member in kind:
            yield from _lines(member, f"{name}.")


def _type(field: pa.Field) -> str:
    if isinstance(field.type, pa.ListType):
        of = field.type.value_type
        return (
            f"array<{'struct' if isinstance(of, pa.StructType) else spark_type(of).simpleString()}>"
        )
    return spark_type(field.type).simpleString()
