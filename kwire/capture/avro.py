"""Avro as captures need it: long, string, bytes, enum, fixed, array, map, union with null, record.

A schema becomes a reader and a writer of its values once (Avro specification, "Binary encoding").
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from json import dumps
from typing import Any

AvroReader = Callable[[bytes, int], tuple[Any, int]]
"""Returns the value at a position, and its end. Raises BadAvro, IndexError if the bytes end before.

One raises IndexError at once, however many elements an array claims to have."""

AvroWriter = Callable[[Any], bytes]
"""Returns the encoded value."""

NULL, PRESENT, END = b"\0", b"\2", b"\0"
"""The choice of null, or of another value, in a union with null; the end of an array or a map."""

_EMPTY = 0xC15D213AA4D7A795
"""The CRC-64-AVRO of nothing."""


class BadAvro(ValueError):
    """The bytes are no value of the schema."""


def long_bytes(value: int) -> bytes:
    """Return a number as Avro's int and long: zigzag, seven bits a byte, the lowest first."""
    value = value << 1 ^ value >> 63
    if value < 0x80:
        return bytes((value,))
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def read_long(data: bytes, position: int) -> tuple[int, int]:
    """Return the number at a position, and its end. Raises BadAvro, IndexError."""
    value = data[position]
    position += 1
    if value >= 0x80:
        value, shift = value & 0x7F, 7
        while (byte := data[position]) >= 0x80:
            value |= (byte & 0x7F) << shift
            position, shift = position + 1, shift + 7
            if shift >= 70:
                raise BadAvro("a number is too long")
        value |= byte << shift
        position += 1
        if value >> 64:
            raise BadAvro("a number is too long")
    return value >> 1 ^ -(value & 1), position


def block_head(data: bytes, position: int) -> tuple[int, int, int] | None:
    """Return the count and the size of a block, and the end of its head; None if there is none."""
    try:
        count, position = read_long(data, position)
        size, position = read_long(data, position)
    except (BadAvro, IndexError):
        return None
    return count, size, position


def read_bytes(data: bytes, position: int) -> tuple[bytes, int]:
    """Return the bytes at a position, and their end. Raises BadAvro, IndexError."""
    size, start = read_long(data, position)
    return _read_fixed(size, data, start)


def _read_fixed(size: int, data: bytes, start: int) -> tuple[bytes, int]:
    end = start + size
    if size < 0:
        raise BadAvro("a size is negative")
    if end > len(data):
        raise IndexError("bytes are cut")
    return data[start:end], end


def _read_text(data: bytes, position: int) -> tuple[str, int]:
    raw, end = read_bytes(data, position)
    try:
        return raw.decode(), end
    except UnicodeDecodeError:
        raise BadAvro("a text is not in UTF-8") from None


def _read_choice(values: list[Any], data: bytes, position: int) -> tuple[Any, int]:
    index, end = read_long(data, position)
    if not 0 <= index < len(values):
        raise BadAvro("a choice that the schema does not have")
    return values[index], end


def _read_optional(read: AvroReader, data: bytes, position: int) -> tuple[Any, int]:
    is_present = data[position]
    if is_present == 0:
        return None, position + 1
    if is_present == 2:
        return read(data, position + 1)
    raise BadAvro("a choice that the schema does not have")


def _read_items(read: AvroReader, data: bytes, position: int) -> tuple[list[Any], int]:
    items = []
    count, position = read_long(data, position)
    while count:
        if count < 0:  # the size of the block in bytes follows
            count, (_size, position) = -count, read_long(data, position)
        for _ in range(count):
            item, position = read(data, position)
            items.append(item)
        count, position = read_long(data, position)
    return items, position


def _read_entry(read: AvroReader, data: bytes, position: int) -> tuple[tuple[str, Any], int]:
    key, position = _read_text(data, position)
    value, position = read(data, position)
    return (key, value), position


def _read_map(read: AvroReader, data: bytes, position: int) -> tuple[dict[str, Any], int]:
    entries, end = _read_items(partial(_read_entry, read), data, position)
    return dict(entries), end


def _read_record(
    fields: list[tuple[str, AvroReader]], data: bytes, position: int
) -> tuple[dict[str, Any], int]:
    values = {}
    for name, read in fields:
        values[name], position = read(data, position)
    return values, position


def reader(schema: Any) -> AvroReader:
    """Return the reader of a schema; logical types are left as they are encoded."""
    match schema:
        case "int" | "long":
            return read_long
        case "string":
            return _read_text
        case "bytes":
            return read_bytes
        case ["null", some]:
            return partial(_read_optional, reader(some))
        case {"type": "enum", "symbols": symbols}:
            return partial(_read_choice, symbols)
        case {"type": "fixed", "size": size}:
            return partial(_read_fixed, size)
        case {"type": "array", "items": items}:
            return partial(_read_items, reader(items))
        case {"type": "map", "values": values}:
            return partial(_read_map, reader(values))
        case {"type": "record", "fields": fields}:
            return partial(
                _read_record, [(field["name"], reader(field["type"])) for field in fields]
            )
        case {"type": str(name)}:
            return reader(name)
        case _:
            raise AssertionError(f"no part of a capture: {schema}")


def writer(schema: Any) -> AvroWriter:
    """Return the writer of a schema."""
    match schema:
        case "int" | "long":
            return long_bytes
        case "string":
            return lambda text: _sized(text.encode("utf-8", "backslashreplace"))
        case "bytes":
            return _sized
        case ["null", some]:
            write = writer(some)
            return lambda value: NULL if value is None else PRESENT + write(value)
        case {"type": "enum", "symbols": symbols}:
            return lambda symbol: long_bytes(symbols.index(symbol))
        case {"type": "fixed"}:
            return bytes
        case {"type": "array", "items": items}:
            return partial(_write_items, writer(items))
        case {"type": "map", "values": values}:
            key, value = writer("string"), writer(values)
            write_entry: AvroWriter = lambda entry: key(entry[0]) + value(entry[1])  # noqa: E731
            return lambda entries: _write_items(write_entry, entries.items())
        case {"type": "record", "fields": fields}:
            parts = [(field["name"], writer(field["type"])) for field in fields]
            return lambda record: b"".join(write(record[name]) for name, write in parts)
        case {"type": str(name)}:
            return writer(name)
        case _:
            raise AssertionError(f"no part of a capture: {schema}")


def _sized(data: bytes) -> bytes:
    return long_bytes(len(data)) + data


def _write_items(write: AvroWriter, items: Any) -> bytes:
    if not items:
        return END
    return long_bytes(len(items)) + b"".join(map(write, items)) + END


def fingerprint(schema: Any) -> bytes:
    """Return the CRC-64-AVRO of a schema's canonical form, the lowest byte first."""
    value = _EMPTY
    for byte in dumps(_canonical(schema), separators=(",", ":")).encode():
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (_EMPTY if value & 1 else 0)
    return value.to_bytes(8, "little")


_CANONICAL = ("name", "type", "fields", "symbols", "items", "values", "size")
"""The attributes that are kept, in their order."""


def _canonical(schema: Any, namespace: str = "") -> Any:
    """Return the Parsing Canonical Form: full names, and only what changes the encoding."""
    if isinstance(schema, list):
        return [_canonical(part, namespace) for part in schema]
    if not isinstance(schema, dict):
        return schema
    namespace = schema.get("namespace", namespace)
    kept = {key: schema[key] for key in _CANONICAL if key in schema}
    if kept.keys() == {"type"}:
        return _canonical(kept["type"], namespace)
    if kept["type"] in ("record", "enum", "fixed") and namespace:
        kept["name"] = f"{namespace}.{kept['name']}"
    for key in ("type", "items", "values"):
        if key in kept:
            kept[key] = _canonical(kept[key], namespace)
    if "fields" in kept:
        kept["fields"] = [_canonical(field, namespace) for field in kept["fields"]]
    return kept
