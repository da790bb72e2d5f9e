"""Results of checks in sentences, for every report."""

from __future__ import annotations

from collections.abc import Iterator

from kwire.conform.report.document import CheckPart
from kwire.text.untrusted import harmless

_EXCERPT = 4096
"""Hex digits of one chunk."""


def reaction_text(check: CheckPart) -> str:
    """Return one sentence about the result of a check: `FAIL: expected …; came …`."""
    parts = []
    if check.expected:
        parts.append(f"expected {check.expected}; came {check.came}")
    if check.reason:
        parts.append(check.reason)
    if check.bad_end:
        parts.append(f"{check.bad_end} afterwards")
    parts += [f"left behind: {text}" for text in check.left_behind]
    verdict = check.verdict.value
    return f"{verdict}: {'; '.join(parts)}" if parts else verdict


def hex_lines(check: CheckPart) -> Iterator[str]:
    """Yield a line of hex for what was sent and for what came; those of members for a family."""
    for part in check.bytes:
        if part.silent:
            yield f"< {harmless(part.peer)} nothing within {part.silent:.3g} s"
            continue
        way = ">" if part.sent else "<"
        yield f"{way} {harmless(part.peer)} {part.size} bytes {part.hex[:_EXCERPT]}"
    for member in check.members:
        if member.verdict.is_bad:
            yield f"{member.id}: {harmless(reaction_text(member))}"
            yield from hex_lines(member)
