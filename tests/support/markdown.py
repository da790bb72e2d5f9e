"""Links, anchors, code spans and code blocks of Markdown pages, as GitHub reads them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

_FENCED = re.compile(r"^( *)(```|~~~).*?^\1\2", re.M | re.S)
_CODE = re.compile(r"`[^`\n]+`")
_BLOCK = re.compile(r"^(?P<margin> *)```(\w*)\n(.*?)^(?P=margin)```$", re.M | re.S)
_INDENTED = re.compile(r"(?<=\n\n)(?: {4}.*\n|\n(?= {4}))+")
_LINK = re.compile(r"\]\(([^()\s]+)\)")
_HEADING = re.compile(r"^#{1,6} (.+?)\s*$", re.M)
_LABEL = re.compile(r"<a (?:id|name)=\"([^\"]+)\"")


def links(page: str) -> Iterator[str]:
    """Yield the targets of a page's links and pictures, in order; none inside code."""
    return (link[1] for link in _LINK.finditer(_CODE.sub("``", _FENCED.sub("", page))))


def code_blocks(page: str, language: str) -> list[str]:
    """Return the text of the fenced blocks of a language, in order, without their indentation."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^\1```", page, re.M | re.S)
    return [dedent(text) for _, text in found]


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """A block of code. line: of its first line in the page. language: empty if none is named."""

    line: int
    language: str
    text: str


def all_blocks(page: str) -> list[CodeBlock]:
    """Return the fenced and the indented blocks of a page, in order."""
    fenced = [(block.start(), block[2], dedent(block[3]), 1) for block in _BLOCK.finditer(page)]
    prose = _BLOCK.sub(lambda block: re.sub(r"[^\n]", ".", block[0]), page)
    indented = [
        (block.start(), "", re.sub(r"^ {4}", "", block[0], flags=re.M), 0)
        for block in _INDENTED.finditer(prose)
    ]
    return [
        CodeBlock(page.count("\n", 0, start) + 1 + fence, language, text)
        for start, language, text, fence in sorted(fenced + indented)
    ]


def code_spans(page: str) -> Iterator[str]:
    """Yield the code between backquotes in the prose, in order."""
    return (span[0].strip("`") for span in _CODE.finditer(_FENCED.sub("", page)))


def anchors(page: str) -> set[str]:
    """Return the anchors of a page: its headings, numbered where one comes again, and labels."""
    found = set(_LABEL.findall(_FENCED.sub("", page)))
    seen: Counter[str] = Counter()
    for _, anchor in headings(page):
        found.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        seen[anchor] += 1
    return found


def headings(page: str) -> Iterator[tuple[str, str]]:
    """Yield the text of each heading, without its links, and its anchor, without a number."""
    for heading in _HEADING.findall(_FENCED.sub("", page)):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        yield text, re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def broken_links(page: Path) -> list[str]:
    """Return the links of a page to files and anchors that are not there."""
    return [target for target in links(page.read_text()) if not _is_whole(page, target)]


def _is_whole(page: Path, target: str) -> bool:
    if re.match(r"[a-z]+:", target):
        return True  # an address elsewhere
    name, _, anchor = target.partition("#")
    file = page.parent / name if name else page
    if not anchor or file.suffix != ".md":
        return file.exists()
    return file.is_file() and anchor in anchors(file.read_text())
