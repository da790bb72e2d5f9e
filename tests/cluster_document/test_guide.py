"""docs/operators/export.md: its example is a document, and its table names what there is."""

import re

from kwire.cluster_document.comparison import Change
from kwire.cluster_document.document import ClusterDocument, DocumentSection
from kwire.cluster_document.reading import parse_document
from kwire.cluster_document.writing import yaml_text
from tests.support.paths import DOCS

PAGE = (DOCS / "operators" / "export.md").read_text()
(EXAMPLE,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)


def test_the_example_is_a_document_with_every_section() -> None:
    document = parse_document(EXAMPLE, "docs/operators/export.md")
    assert document.model_fields_set == set(ClusterDocument.model_fields)
    assert yaml_text(document) == EXAMPLE


def test_the_guide_names_sections_and_changes() -> None:
    for word in (*DocumentSection, *Change):
        assert re.search(rf"\b{word.value}\b", PAGE), word
