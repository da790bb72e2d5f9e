"""Bytes as people paste them: hex with spaces, colons or 0x, and dumps of xxd and other tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from kwire.cli.errors import CommandFailed

_DUMP = re.compile(
    r"\s*(?:0x)?(?P<offset>[0-9a-f]{4,})(?:: *|  +)(?P<rest>[0-9a-f]{2}.*)", re.IGNORECASE
)
"""A line of xxd, tcpdump (a colon), hexdump -C or Wireshark (two spaces or more)."""

_SPACED = re.compile(r"(?:[0-9a-f]{2} |[0-9a-f]{2}$|[0-9a-f]{4} )", re.IGNORECASE)
_ASCII_COLUMN = re.compile(r"\|| {3}")
_END = re.compile(r"\s*[0-9a-f]{7,}\s*", re.IGNORECASE)
_NOISE = re.compile(r"0x|\\x|[\s,:;_\-]", re.IGNORECASE)


def parse_hex(text: str) -> bytes:
    """Parse hex in any of these forms. Raises CommandFailed if it is not whole bytes of hex."""
    lines = [line for line in text.splitlines() if line.strip()]
    digits = "".join(_dump(lines) if _is_dump(lines) else (_NOISE.sub("", line) for line in lines))
    strange = next((c for c in digits if c not in "0123456789abcdefABCDEF"), None)
    if strange is not None:
        raise CommandFailed(f"{strange!r} is no hex digit.")
    if len(digits) % 2:
        raise CommandFailed(
            f"{len(digits)} hex digits are no whole bytes: is the last one missing?"
        )
    return bytes.fromhex(digits)


def looks_like_hex(data: bytes) -> bool:
    """Return True if a file has hex as text rather than the bytes themselves."""
    try:
        parse_hex(data.decode("ascii"))
    except (UnicodeDecodeError, CommandFailed):
        return False
    return True


def _is_dump(lines: list[str]) -> bool:
    """Return True if the first line has an offset, which is 0, before its bytes."""
    first = _DUMP.fullmatch(lines[0]) if lines else None
    return bool(first and int(first["offset"], 16) == 0 and _SPACED.match(first["rest"]))


def _dump(lines: Iterable[str]) -> Iterator[str]:
    """Yield the hex digits of each line, without its offset and its column of characters."""
    for line in lines:
        if line.strip() == "*":
            raise CommandFailed("the dump leaves repeated lines out (*): make it with hexdump -v.")
        match = _DUMP.fullmatch(line)
        if match:
            has_colon = ":" in line[: match.start("rest")]
            column = re.compile(r"  ") if has_colon else _ASCII_COLUMN
            yield _NOISE.sub("", column.split(match["rest"], maxsplit=1)[0])
        elif not _END.fullmatch(line):
            yield _NOISE.sub("", line)
