"""Writes what a benchmark measured into docs/reference/performance.md."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "performance.md"


def write_section(name: str, text: str) -> None:
    """Put Markdown in the place of what stands between the marks of this name."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
    page = PAGE.read_text()
    assert begin in page
    fresh = re.sub(f"{begin}.*{end}", lambda _: f"{begin}{text}\n{end}", page, flags=re.DOTALL)
    PAGE.write_text(fresh)
