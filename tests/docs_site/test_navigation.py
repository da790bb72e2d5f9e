"""The site's navigation has every page, and no page that is not there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from docs_site.navigation import PARTS, NavItem, PageGroup, StrayPage, navigation
from docs_site.staging import OUTSIDE, write
from tests.support.paths import DOCS


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """The names of all pages of docs/, and of those that are generated."""
    names = [page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")]
    for name in [*names, *OUTSIDE.values(), *named(PARTS)]:
        if not name.endswith("/"):
            write(tmp_path / name, f"# Title of {name}: more\n")
    return tmp_path


def named(entries: "tuple[str | PageGroup, ...] | object") -> Iterator[str]:
    """Yield the pages that the parts name."""
    assert isinstance(entries, list | tuple)
    for entry in entries:
        if isinstance(entry, str):
            yield entry
        else:
            yield from named(entry[1])


def entries_of(found: list[NavItem]) -> Iterator[str]:
    """Yield the pages of a navigation."""
    for item in found:
        if isinstance(item, str):
            yield item
        else:
            for value in item.values():
                yield from (
                    [value]
                    if isinstance(value, str)
                    else entries_of([value] if isinstance(value, dict) else value)
                )


def test_every_page_stands_once_in_the_navigation(pages: Path) -> None:
    found = sorted(entries_of(navigation(pages)))
    assert found == sorted(page.relative_to(pages).as_posix() for page in pages.rglob("*.md"))


def test_the_parts_are_those_of_the_readers(pages: Path) -> None:
    titles = [title for item in navigation(pages) if isinstance(item, dict) for title in item]
    assert titles[:4] == ["Start", "Operators", "Debuggers", "Engineers"]
    assert titles[4:] == ["Reference", "Explanation", "Contributing"]


def test_a_page_without_a_place_is_refused(pages: Path) -> None:
    write(pages / "elsewhere/page.md", "# A page\n")
    with pytest.raises(StrayPage, match=r"no part of the navigation has elsewhere/page\.md"):
        navigation(pages)


def test_a_page_that_is_gone_is_refused(pages: Path) -> None:
    (pages / "operators/quorum.md").unlink()
    with pytest.raises(StrayPage, match=r"are not there: operators/quorum\.md"):
        navigation(pages)


def test_a_page_without_a_title_is_refused(pages: Path) -> None:
    write(pages / "operators/new.md", "No title.\n")
    with pytest.raises(StrayPage, match=r"operators/new\.md has no title"):
        navigation(pages)
