"""Pages as the site's generator reads them: links, lists, tables, anchors."""

import pytest

from docs_site.slugs import github_slug
from docs_site.staging import for_generator, site_target, staged, with_links
from tests.support.markdown import headings
from tests.support.paths import DOCS


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("../reference/output.md", "reference/output.md"),
        ("../reference/output.md#one", "reference/output.md#one"),
        ("#here", "#here"),
        ("../images/watch.svg", "images/watch.svg"),
        ("../../README.md#install", "README.md"),
        ("../../CONTRIBUTING.md#style", "contributing/contributing.md#style"),
        ("../../kwire/errors.py", None),
        ("../../kwire/cli", None),
        ("../conformance/reports", None),
    ],
)
def test_a_link_leads_to_a_page_of_the_site_or_nowhere(link: str, target: str | None) -> None:
    assert site_target(link, "docs/operators/quorum.md") == target


def test_links_to_sources_become_their_text_and_code_stays() -> None:
    page = "[`errors`](../../kwire/errors.py), `[a](../../b.py)` and\n```\n[c](../../d.py)\n```\n"
    expected = "`errors`, `[a](../../b.py)` and\n```\n[c](../../d.py)\n```\n"
    assert with_links(page, "docs/operators/quorum.md", "operators/quorum.md") == expected


def test_a_link_that_shows_a_file_name_shows_the_title() -> None:
    page = "see [output.md](../reference/output.md)"
    staged_page = staged(page, "docs/operators/quorum.md", "operators/quorum.md")
    assert staged_page == "see [The output of commands](../reference/output.md)"


def test_a_page_outside_docs_links_to_pages_in_it() -> None:
    page = "[decision 9](docs/decisions/0009-storage.md)"
    expected = "[decision 9](../decisions/0009-storage.md)"
    assert with_links(page, "CONTRIBUTING.md", "contributing/contributing.md") == expected


@pytest.mark.parametrize(
    ("page", "mended"),
    [
        ("Text:\n- a\n- b\n", "Text:\n\n- a\n- b\n"),
        ("- a\n  more\n- b\n", "- a\n    more\n- b\n"),
        ("1. a\n\n   ```\n   x\n   ```\n   more\n2. b\n", None),
        ("| a |\n|---|\n| `x\\|y` |\n", "| a |\n|---|\n| <code>x&#124;y</code> |\n"),
        ("```\n- a\n- b\n```\n", "```\n- a\n- b\n```\n"),
    ],
)
def test_markdown_means_the_same_to_the_generator(page: str, mended: str | None) -> None:
    if mended is None:
        mended = "1. a\n\n    ```\n    x\n    ```\n    more\n\n2. b\n"
    assert for_generator(page) == mended


def test_anchors_are_githubs_on_every_page() -> None:
    """The site links to `page.html#anchor` where the page has `page.md#anchor`."""
    wrong = [
        (page.name, heading, github_slug(heading.replace("`", ""), "-"), anchor)
        for page in DOCS.rglob("*.md")
        for heading, anchor in headings(page.read_text())
        if github_slug(heading.replace("`", ""), "-") != anchor
    ]
    assert wrong == []
