"""The repository's folders that tests read."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FIXTURES = ROOT / "fixtures"
