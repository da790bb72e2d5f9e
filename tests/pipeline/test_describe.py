"""The documentation of the tables is the tables."""

import pytest

from kwire.pipeline.schemas import TABLES
from tests.support.paths import DOCS
from tests.support.pipeline.table_markdown import markdown

DOCUMENT = DOCS / "reference" / "pipeline-tables.md"


@pytest.mark.parametrize("table", TABLES)
def test_the_document_has_every_column(table: str) -> None:
    assert markdown(table) in DOCUMENT.read_text()
