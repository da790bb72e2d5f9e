"""The pages of documents that tell how things are today."""

from pathlib import Path

from tests.support.paths import DOCS, ROOT

HISTORY = {"decisions", "reports"}
"""Folders of pages that tell what was, and of what other programs print."""

MADE = {"kips"}
"""Folders of pages that are made of what they name, and tested by tests/kips."""

PAGES = [
    page
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md")))
    if not (HISTORY | MADE).intersection(page.parts)
]


def name_of(page: Path) -> str:
    """Return the path of a page in the repository."""
    return str(page.relative_to(ROOT))
