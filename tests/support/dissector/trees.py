"""Wireshark's trees (PDML) beside the JSON of messages."""

from __future__ import annotations

import struct
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

from kwire.codec.json_form import UNKNOWN_TAGS, camel

REPEATED = {"kafka.error_code", "kafka.left_over"}
"""Fields that repeat what another one shows."""

EMPTY, NULL = "kafka.empty", "kafka.null"
"""Fields whose value is the label of an array without elements, or of what is null."""


def roots(frame: Element, name: str) -> list[Element]:
    """Return the elements of a frame that are the field `name` (`kafka.vote.request`)."""
    return [field for field in frame.iter("field") if field.get("name") == name]


def differences(expected: dict[str, Any], element: Element, path: str = "") -> Iterator[str]:
    """Yield the fields in which a struct in the tree is not this JSON."""
    members = _members(element)
    wanted = dict(expected)
    tags = {
        show(child): _base64(next(iter(child)))
        for child in element
        if child.get("name") == "kafka.unknown_tag"
    }
    if tags != wanted.pop(UNKNOWN_TAGS, {}):
        yield f"{path}: unknown tags {tags}"
    for name in [name for name in wanted if name.startswith("_")]:
        wanted[name[1:]] = wanted.pop(name)
    if members.keys() != wanted.keys():
        yield f"{path}: members {sorted(members)}, wanted {sorted(wanted)}"
        return
    for name, value in wanted.items():
        yield from _compare_member(value, members[name], f"{path}.{name}")


def _members(element: Element) -> dict[str, list[Element]]:
    """Return the elements of each member; those of an array have one name."""
    members: dict[str, list[Element]] = {}
    for child in element:
        name = child.get("name") or ""
        if name in (EMPTY, NULL):
            members.setdefault(camel(show(child)), []).append(child)
        elif name.startswith("kafka.") and name != "kafka.unknown_tag" and name not in REPEATED:
            label = name.rpartition(".")[2].removesuffix("_entry")
            members.setdefault(camel(label), []).append(child)
    return members


def _compare_member(value: Any, elements: list[Element], path: str) -> Iterator[str]:
    if isinstance(value, list):
        if not value:
            if [element.get("name") for element in elements] != [EMPTY]:
                yield f"{path}: not shown as empty"
        elif len(elements) != len(value):
            yield f"{path}: {len(elements)} elements, wanted {len(value)}"
        else:
            for index, (entry, child) in enumerate(zip(value, elements, strict=True)):
                yield from _compare(entry, child, f"{path}[{index}]")
    elif len(elements) != 1:
        yield f"{path}: is there {len(elements)} times"
    else:
        yield from _compare(value, elements[0], path)


def _compare(value: Any, element: Element, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        yield from differences(value, element, path)
    elif not _is_shown(value, element):
        yield f"{path}: {show(element)!r} ({element.get('value')}), wanted {value!r}"


def _is_shown(value: Any, element: Element) -> bool:
    """True if the element shows the value, and its bytes are the value's."""
    data, shown = raw(element), show(element)
    match value:
        case None:
            return element.get("name") == NULL
        case bool():
            return shown == str(int(value))
        case int():
            return shown == str(value)
        case float():
            return data == struct.pack(">d", value) and float(shown) == float(f"{value:.15g}")
    if element.get("name") == NULL:
        return False
    if _base64(element) == value and shown.replace(":", "") == data.hex():
        return True  # bytes
    if shown == urlsafe_b64encode(data).decode().rstrip("=") == value:
        return True  # a UUID
    if value in ("NaN", "Infinity", "-Infinity"):
        return float(shown) == float(value) or shown.lower().lstrip("-") == "nan"
    text = data.decode("utf-8", "surrogateescape")
    return bool(text == value) and (shown == value or not _is_plain(value))


def _is_plain(text: str) -> bool:
    """True for text that Wireshark shows without escapes."""
    return text.isprintable() and "\\" not in text and '"' not in text


def show(element: Element) -> str:
    """Return the value as Wireshark shows it."""
    return element.get("show") or ""


def raw(element: Element) -> bytes:
    """Return the bytes that the element stands for."""
    return bytes.fromhex(element.get("value") or "")


def _base64(element: Element) -> str:
    return b64encode(raw(element)).decode()
