"""The fields that the dissector registers in Wireshark: a display filter name and a type each."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

PREFIX = "kafka"
"""Filter names begin with it, as those of Wireshark's own dissector do."""

TYPES = {
    "int8": "INT8",
    "int16": "INT16",
    "uint16": "UINT16",
    "int32": "INT32",
    "uint32": "UINT32",
    "int64": "INT64",
    "float64": "DOUBLE",
    "boolean": "BOOLEAN",
    "uuid": "STRING",  # as Kafka prints it, in base64
    "string": "STRING",
    "bytes": "BYTES",
    "records": "BYTES",
}
"""The type in Wireshark of each kind of value."""

STRUCT = "NONE"
ELEMENT = "UINT32"
"""An element of an array of structs is shown by its index."""

_NUMBERS = frozenset({"INT8", "INT16", "INT32", "UINT16", "UINT32"})


class ProtoField(msgspec.Struct, frozen=True, kw_only=True):
    """One field: its filter name without `kafka.`, its Wireshark type, its table of names.

    label: what the tree shows, the name's last part if it is empty.
    """

    name: str
    type: str
    values: str = ""
    label: str = ""


class ProtoFields:
    """All fields, numbered from 1. The same name in request and response is one field."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._fields: list[ProtoField] = []

    def add(self, name: str, type: str, values: str = "", label: str = "") -> int:
        """Return the number of a field, registered if it is new.

        A name has one type in Wireshark. If a request has names where its response has structs,
        the second one gets a suffix.
        """
        number = self._numbers.get(name)
        if number is None:
            self._fields.append(ProtoField(name=name, type=type, values=values, label=label))
            number = self._numbers[name] = len(self._fields)
        elif not _is_similar(self._fields[number - 1].type, type):
            suffix = "entry" if type == ELEMENT else "value"
            return self.add(f"{name}_{suffix}", type, values, name.rpartition(".")[2])
        return number

    def __len__(self) -> int:
        return len(self._fields)

    def __iter__(self) -> Iterator[ProtoField]:
        return iter(self._fields)


def _is_similar(registered: str, type: str) -> bool:
    return registered == type or {registered, type} <= _NUMBERS


def snake(name: str) -> str:
    """Return `add_raft_voter` for `AddRaftVoter`, `kraft_version` for `KRaftVersion`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.replace("KRaft", "Kraft"))
    return words.lower()
