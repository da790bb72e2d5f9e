"""Test kio or kafka-python with what `kwire vectors export DIR` wrote.

python codec_vectors.py DIR kio
"""

import dataclasses
import json
import re
import sys
from base64 import b64encode, urlsafe_b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from enum import Enum
from functools import cache, partial
from importlib import import_module
from io import BytesIO
from math import isinf
from pathlib import Path
from typing import Any
from uuid import UUID

Codec = tuple[Callable[[bytes], Any], Callable[[Any], bytes]]
"""Reads the body of a message, and writes it."""


@cache
def kio(name: str, version: int) -> Codec | None:
    """Return kio's reader and writer of a version; None if it does not have it."""
    import kio.serial

    api = re.sub(r"(Request|Response)$", "", name)
    kind = name.removeprefix(api).lower() or "data"
    folder = re.sub(r"(?<!^)([A-Z])", r"_\1", api).lower()
    try:
        cls = getattr(import_module(f"kio.schema.{folder}.v{version}.{kind}"), name)
    except (ImportError, AttributeError):
        return None
    read, write = kio.serial.entity_reader(cls), kio.serial.entity_writer(cls)

    def written(message: Any) -> bytes:
        buffer = BytesIO()
        write(buffer, message)
        return buffer.getvalue()

    return lambda data: read(data, 0)[0], written


@cache
def kafka_python(name: str, version: int) -> Codec | None:
    """Return kafka-python's reader and writer of a version; None if it does not have it."""
    for package in ("metadata", "consumer", "producer", "admin"):
        cls = getattr(import_module(f"kafka.protocol.{package}"), name, None)
        is_rpc = name.endswith(("Request", "Response"))
        if cls is not None and is_rpc and cls.min_version <= version <= cls.max_version:
            return partial(cls.decode, version=version), lambda message: message.encode()
    return None


CODECS = {"kio": kio, "kafka-python": kafka_python}
RECORDS = ("records", "unalignedRecords")
NO_ID = urlsafe_b64encode(bytes(16)).rstrip(b"=").decode()
"""The UUID of zeros, for which both codecs have None."""


def problem(codec: Codec, row: dict[str, Any]) -> str | None:
    """Return what is wrong with a codec's reading of a line, in a few words."""
    data = bytes.fromhex(row["hex"])
    try:
        message = codec[0](data)
    except Exception as error:
        is_right = row.get("accepted") is False
        return None if is_right else f"refused: {type(error).__name__}"
    if row.get("accepted") is False:
        return "accepted"
    wrong = next(differences(row["json"], message), None)
    if wrong is not None:
        return f"read otherwise: {wrong.rpartition('.')[2]}"
    if "mutation" in row:
        return None
    try:
        return None if codec[1](message) == data else "written otherwise"
    except Exception as error:
        return f"not written: {type(error).__name__}"


def differences(expected: Any, value: Any, path: str = "") -> Iterator[str]:
    """Yield the paths where a message is not what Kafka's JSON has."""
    if isinstance(expected, dict):
        members = members_of(value)
        for name, inner in expected.items():
            # Kafka's JSON loses records; names that begin with an underscore are kwire's.
            if name[0] != "_" and name not in RECORDS:
                yield from differences(inner, members.get(short(name)), f"{path}.{name}")
    elif isinstance(expected, list):
        if value is None or len(value) != len(expected):
            yield path
            return
        for inner, element in zip(expected, value, strict=True):
            yield from differences(inner, element, path)
    elif plain(value) != (None if value is None and expected == NO_ID else expected):
        yield path


def members_of(value: Any) -> dict[str, Any]:
    """Return the fields of a struct by their names in lower case."""
    if dataclasses.is_dataclass(value):
        found = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    else:
        found = {name: getattr(value, name) for name in getattr(value, "fields", ())}
    return {short(name): inner for name, inner in found.items()}


def short(name: str) -> str:
    """Return a name as all codecs have it: throttleTimeMs, throttle_time_ms and throttle_time."""
    return name.replace("_", "").lower().removesuffix("ms")


def plain(value: Any) -> Any:
    """Return a scalar as Kafka's JSON has it."""
    match value:
        case Enum():
            return value.value
        case UUID():
            return urlsafe_b64encode(value.bytes).rstrip(b"=").decode()
        case timedelta():
            return value // timedelta(milliseconds=1)
        case datetime():
            return round(value.timestamp() * 1000)
        case float() if isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        case bytes() | memoryview():
            return b64encode(value).decode()
    return value


def check(folder: Path, name: str) -> Counter[tuple[str, str]]:
    """Return how often a codec is right, and what is wrong, for both files of a folder."""
    found: Counter[tuple[str, str]] = Counter()
    for file in ("vectors.jsonl", "mutants.jsonl"):
        with (folder / file).open() as lines:
            for row in map(json.loads, lines):
                codec = CODECS[name](row["name"], row["version"])
                kind = row.get("mutation") or row["example"]
                found[kind, "not known" if codec is None else problem(codec, row) or "right"] += 1
    return found


if __name__ == "__main__":
    for (kind, said), times in sorted(check(Path(sys.argv[1]), sys.argv[2]).items()):
        sys.stdout.write(f"{times:6} {kind}: {said}\n")
