"""Breaks lines of generated code that are too long, the way Python formatters do."""

from __future__ import annotations

import re
from collections.abc import Iterator

WIDTH = 100
OPENING = "([{"
CLOSING = ")]}"


def laid_out(text: str, depth: int) -> list[str]:
    """Return the lines of a statement, or of an element of a list, at `depth` levels."""
    indent = "    " * depth
    if len(indent) + len(text) <= WIDTH:
        return [indent + text]
    split = _brackets(text)
    if split is None:
        return [indent + line for line in _parted(text)]
    head, body, tail = split
    inner = f"{indent}    {body}"
    if len(inner) <= WIDTH and not head.endswith(("= (", " (")) and head != "(":
        return [indent + head, inner, indent + tail]
    lines = [indent + head]
    for element in _elements(body):
        lines += _element(element, depth + 1)
    return [*lines, indent + tail]


def _element(element: str, depth: int) -> list[str]:
    return laid_out(f"{element},", depth)


def _parted(text: str) -> list[str]:
    """Break a line without brackets: a condition, an assignment, or a choice of two values."""
    if text.startswith("if "):
        first, *rest = text[3:-1].split(" or ")
        return ["if (", f"    {first}", *(f"    or {part}" for part in rest), "):"]
    target, equals, value = text.partition(" = ")
    if equals:
        return [f"{target} = (", *(f"    {part}" for part in _choice(value)), ")"]
    return _choice(text)


def _choice(text: str) -> list[str]:
    return re.split(r" (?=if |else )", text)


def _brackets(text: str) -> tuple[str, str, str] | None:
    """Text around and inside the brackets to break at: the first ones of an unpacking, or the last.

    None where what is in them is not all there is to break.
    """
    if text.startswith(("if ", "elif ")) or re.search(r" if .* else ", _bare(text)):
        return None
    start = 0 if text.startswith("(") else _last_opening(text)
    if start is None:
        return None
    end = _match(text, start)
    return text[: start + 1], text[start + 1 : end], text[end:]


def _last_opening(text: str) -> int | None:
    level = 0
    for index in range(len(text) - 1, -1, -1):
        level += (text[index] in CLOSING) - (text[index] in OPENING)
        if text[index] in OPENING and not level:
            return index
    return None


def _match(text: str, start: int) -> int:
    level = 0
    for index in range(start, len(text)):
        level += (text[index] in OPENING) - (text[index] in CLOSING)
        if not level:
            return index
    raise AssertionError(f"unbalanced: {text}")


def _bare(text: str) -> str:
    """Return the text without what stands in brackets."""
    level, outside = 0, []
    for character in text:
        level -= character in CLOSING
        if not level:
            outside.append(character)
        level += character in OPENING
    return "".join(outside)


def _elements(body: str) -> Iterator[str]:
    level, start = 0, 0
    for index, character in enumerate(body):
        level += (character in OPENING) - (character in CLOSING)
        if character == "," and not level:
            yield body[start:index].strip()
            start = index + 1
    if body[start:].strip():
        yield body[start:].strip()
