"""The construct tree of one version of a message: its fields in the order of the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from construct import Construct, Flag, Float64b, Renamed

from kwire.codec import constructs

if TYPE_CHECKING:
    from rich.tree import Tree

LENGTHS = {"int16": "2-byte length", "int32": "4-byte length"}


def as_data(record: constructs.ObjectStruct) -> list[dict[str, Any]]:
    """Return the fields as plain values; those of a struct are under `fields`."""
    plain = [_field(field.name, field.subcon) for field in record.subcons]
    known = record.tags.known.items() if record.tags else ()
    return plain + [{**_field(tag.name, tag.con), "tag": number} for number, tag in known]


def as_tree(title: str, record: constructs.ObjectStruct) -> Tree:
    """Return the fields as a tree to print."""
    from rich.tree import Tree

    tree = Tree(title, style="bold", guide_style="not bold dim")
    _grow(tree, as_data(record))
    if record.tags is not None:
        tree.add("tagged fields", style="not bold dim")
    return tree


def _grow(tree: Tree, fields: list[dict[str, Any]]) -> None:
    from rich.text import Text

    for field in fields:
        tag = f"  tag {field['tag']}" if "tag" in field else ""
        line = Text.assemble(field["name"], ": ", (field["type"], "cyan"), (tag, "yellow"))
        branch = tree.add(line, style="not bold")
        _grow(branch, field.get("fields", []))


def _field(name: str, con: Construct) -> dict[str, Any]:
    inner = con
    while isinstance(inner, (constructs.KafkaArray, constructs.NullableStruct)):
        inner = inner.subcon
    nested = {"fields": as_data(inner)} if isinstance(inner, constructs.ObjectStruct) else {}
    return {"name": name, "type": type_name(con), **nested}


def type_name(con: Construct) -> str:
    """Return a type in words, as `array of Listener, compact length`."""
    match con:
        case Renamed():
            return type_name(con.subcon)
        case constructs.ObjectStruct():
            return con.cls.__name__
        case constructs.NullableStruct():
            return f"{type_name(con.subcon)}, nullable"
        case constructs.KafkaArray():
            return f"array of {type_name(con.subcon)}{_length(con)}"
        case constructs.Records():
            return f"records{_length(con)}"
        case constructs.LengthPrefixed():
            return f"{'string' if isinstance(con, constructs.Text) else 'bytes'}{_length(con)}"
        case constructs.Uuid():
            return "uuid"
    return {Flag: "bool", Float64b: "float64"}.get(con) or constructs.INTEGERS[con]


def _length(con: constructs.LengthPrefixed) -> str:
    """Return the encoding of a length in words, and `nullable` if it may be null."""
    compact = isinstance(con.length, constructs.Compact)
    length = "compact length" if compact else LENGTHS[constructs.INTEGERS[con.length]]
    return f", {length}{', nullable' if con.nullable else ''}"
