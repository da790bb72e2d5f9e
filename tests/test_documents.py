"""Documents: their links lead somewhere, and so do the paths and targets that they name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.markdown import anchors, broken_links, links
from tests.support.paths import DOCS, ROOT

PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
NAMED = re.compile(r"docs/[\w/.-]*\w")
"""A path in docs/, in the text of a module: `docs/debuggers/watch.md`, `docs/decisions/0026`."""


def test_a_link_leads_to_a_file_or_a_heading() -> None:
    broken = {page.relative_to(ROOT): broken_links(page) for page in PAGES}
    assert {str(page): targets for page, targets in broken.items() if targets} == {}


def test_the_readme_leads_to_every_page() -> None:
    """Over any number of links; reports for other projects and the like are in folders."""
    found, new = set[Path](), {ROOT / "README.md", ROOT / "CONTRIBUTING.md"}
    while new:
        found |= new
        targets = (
            (page.parent / link.partition("#")[0]).resolve()
            for page in new
            for link in links(page.read_text())
            if not re.match(r"[a-z]+:", link)
        )
        new = {target for target in targets if target in PAGES} - found
    assert [str(page.relative_to(ROOT)) for page in PAGES if page not in found] == []


@pytest.mark.parametrize("folder", ["kwire", "fixtures", "benchmarks"])
def test_a_document_that_the_code_names_is_there(folder: str) -> None:
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for name in NAMED.findall(path.read_text())
        if not (ROOT / name).exists() and not list(ROOT.glob(f"{name}-*.md"))
    ]
    assert missing == []


def test_a_target_that_a_page_names_is_in_the_makefile() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
    missing = [
        f"{page.relative_to(ROOT)}: make {target}"
        for page in PAGES
        for target in re.findall(r"(?:`|^ {4}|^\$ )make ([a-z]+)", page.read_text(), re.M)
        if target not in targets
    ]
    assert missing == []


def test_nothing_in_docs_is_what_a_command_writes_into_build() -> None:
    """Data of runs and machine-made documents: docs/ has what people wrote and read."""
    allowed = {".md", ".py", ".java", ".ini", ".yaml", ".tsv", ".svg", ".png", ".service", ""}
    strange = [
        str(path.relative_to(ROOT))
        for path in DOCS.rglob("*")
        if path.is_file() and path.suffix not in allowed and "__pycache__" not in path.parts
    ]
    assert strange == ["docs/reference/protocol.schema.json"]


def test_anchors_are_githubs() -> None:
    page = '# A `b` c: d_e\n\n```\n# none\n```\n## [Two](x.md)\n## Two\n<a id="label"></a>\n'
    assert anchors(page) == {"a-b-c-d_e", "two", "two-1", "label"}


def test_links_in_code_are_none() -> None:
    page = "[a](one.md) `[b](two.md)` ![c](three.svg)\n```\n[d](four.md)\n```\n"
    assert list(links(page)) == ["one.md", "three.svg"]
