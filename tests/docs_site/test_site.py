"""The site as it is built: strictly, for browsers that reach no other host, searched as files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt

from docs_site.build import SiteFailed, build_site, configure, run_zensical
from docs_site.staging import write
from tests.support.browser import chromium
from tests.support.paths import DOCS

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

__all__ = ["chromium"]

pytestmark = [pytest.mark.real, pytest.mark.xdist_group("site")]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole site; that it is built at all says that no link or anchor is dead."""
    into = tmp_path_factory.mktemp("site") / "site"
    build_site(into)
    return into


class Elements(HTMLParser):
    """The elements of a page with their attributes, those of its article apart."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.all: list[tuple[str, dict[str, str | None]]] = []
        self.article: Counter[str] = Counter()
        self._inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.all.append((tag, dict(attrs)))
        self._inside |= tag == "article"
        self.article[tag] += self._inside

    def handle_endtag(self, tag: str) -> None:
        self._inside &= tag != "article"


def pages(site: Path) -> Iterator[tuple[str, Elements]]:
    """Yield the path and the elements of each page."""
    for page in sorted(site.rglob("*.html")):
        yield page.relative_to(site).as_posix(), Elements(page.read_text())


LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
"""The attributes by which an element loads something."""


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    loaded = {
        (name, value)
        for name, page in pages(site)
        for tag, attributes in page.all
        if (value := attributes.get(LOADED.get(tag, "")) or "").startswith(
            ("http:", "https:", "//")
        )
    }
    assert loaded == set()
    styles = "".join(style.read_text() for style in site.rglob("*.css"))
    assert re.findall(r"(?:url\(|@import )[\"']?(?:https?:)?//[^)]*", styles) == []


def test_the_navigation_leads_to_every_page(site: Path) -> None:
    """From the first page on, over the links of the navigation alone."""
    names = {path.relative_to(site).as_posix() for path in site.rglob("*.html")} - {"404.html"}
    found, new = set[str](), {"index.html"}
    while new:
        found |= new
        new = {target for name in new for target in navigated(site, name)} - found
    assert names - found == set()


def navigated(site: Path, name: str) -> Iterator[str]:
    """Yield the pages that the navigation of a page leads to."""
    text = (site / name).read_text()
    for target in re.findall(
        r'<a href="?([^" >#:]+\.html)"?[^>]*class="?md-(?:nav|tabs)__link', text
    ):
        yield ((site / name).parent / target).resolve().relative_to(site.resolve()).as_posix()


COUNTED = ("li", "ol", "ul", "table", "tr", "td", "th", "h2", "h3", "code", "strong", "blockquote")


def test_a_page_means_the_same_in_the_repository(site: Path) -> None:
    """As many lists, items, rows, cells and headings as CommonMark with tables makes of it."""
    differing = {}
    for page in sorted(DOCS.rglob("*.md")):
        name = page.relative_to(DOCS).as_posix()
        rendered = MarkdownIt("commonmark").enable("table").render(page.read_text())
        there = Elements(f"<article>{rendered}</article>").article
        built = site / re.sub(r"(README)?\.md$", lambda m: "index.html" if m[1] else ".html", name)
        here = Elements(re.sub(r"<pre.*?</pre>", "<code>", built.read_text(), flags=re.S)).article
        if found := {tag: (there[tag], here[tag]) for tag in COUNTED if there[tag] != here[tag]}:
            differing[name] = found
    assert differing == {}


def test_search_finds_a_message_in_a_page_that_was_opened_as_a_file(
    site: Path, chromium: Chrome
) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.wait import WebDriverWait

    chromium.get((site / "index.html").as_uri())
    chromium.find_element(By.TAG_NAME, "body").send_keys("/")
    WebDriverWait(chromium, 60).until(
        lambda driver: driver.switch_to.active_element.tag_name != "body"
    )
    chromium.switch_to.active_element.send_keys("AddRaftVoter")
    first = WebDriverWait(chromium, 60).until(lambda driver: results(driver))[0]
    assert first.endswith("reference/messages/apis/add-raft-voter.html")
    assert chromium.get_log("browser") == []  # type: ignore[no-untyped-call]


def results(driver: Chrome) -> list[str]:
    """Return where the results of the search lead to, best first."""
    script = """
        const found = [];
        const visit = root => root.querySelectorAll("*").forEach(element => {
            if (element.shadowRoot) visit(element.shadowRoot);
            if (element.tagName == "A" && element.href.includes("?h=")) found.push(element.href);
        });
        visit(document);
        return found;
    """
    return [str(link).partition("?")[0] for link in driver.execute_script(script)]


def test_a_drawing_is_drawn_without_another_host(site: Path, chromium: Chrome) -> None:
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.wait import WebDriverWait

    chromium.get((site / "contributing/architecture.html").as_uri())
    drawing = WebDriverWait(chromium, 60).until(
        lambda driver: driver.find_element(By.CSS_SELECTOR, "div.mermaid")
    )
    assert drawing.size["height"] > 300
    assert chromium.get_log("browser") == []  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("width", [400, 1400])
def test_no_page_is_wider_than_its_window(site: Path, chromium: Chrome, width: int) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == 400}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wide = []
    for name in (
        "index",
        "operators/quorum",
        "reference/command/proxy",
        "reference/errors",
        "reference/messages/apis/fetch",
        "reference/python/kwire.admin",
        "kips/kip-853",
    ):
        chromium.get((site / f"{name}.html").as_uri())
        if chromium.execute_script("return document.documentElement.scrollWidth") > width:
            wide.append(name)
    assert wide == []


@pytest.mark.parametrize("link", ["gone.md", "other.md#gone"])
def test_a_dead_link_or_anchor_fails_the_build(tmp_path: Path, link: str) -> None:
    write(tmp_path / "docs/README.md", f"# One\n\n[Two]({link})\n")
    write(tmp_path / "docs/other.md", "# Other\n\n[One](README.md)\n")
    configure(tmp_path, ["README.md", "other.md"])
    with pytest.raises(SiteFailed, match="does not exist"):
        run_zensical(tmp_path)
