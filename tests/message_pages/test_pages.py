"""The reference of messages: every message on a page, every field a row, every link a page."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from kwire.error_codes import ErrorCode
from kwire.protocol import FieldFact, facts
from kwire.protocol.document import described
from message_pages import write
from message_pages.answers import error_codes
from message_pages.markup import sentence, table
from message_pages.message_sections import INDENT, headers_section, layouts, message_section
from message_pages.pages import pages

MARKDOWN = MarkdownIt("commonmark").enable("table")


@pytest.mark.costly
def test_every_message_has_a_section_on_one_page_that_the_index_names() -> None:
    made = pages()
    sections = [name for text in made.values() for name in re.findall(r"(?m)^## (\w+)$", text)]
    named = [name for name in sections if name not in ("Headers", "Changes")]
    assert sorted(named) == sorted({fact.name for fact in facts().messages})
    links = set(re.findall(r"\]\(([^)]+)\)", made["README.md"]))
    assert links == made.keys() - {"README.md"}
    for path, text in made.items():
        assert _widths(text) == [], path
        assert len(re.findall(r"(?m)^# ", text)) == 1, path


def _widths(text: str) -> list[str]:
    """Return the rows of tables that have more or fewer cells than the row above."""
    lines = text.splitlines()
    rows = [pair for pair in pairwise(lines) if all(line.startswith("|") for line in pair)]
    return [row for above, row in rows if above.count("|") != row.count("|")]


def test_a_section_has_a_row_for_every_field_with_its_sentence() -> None:
    fact = described(layouts("FetchResponse")[-1])
    html = MARKDOWN.render(message_section(fact))
    rows = html.split("<tr>")[2:]

    def flat(fields: tuple[FieldFact, ...]) -> list[FieldFact]:
        return [each for field in fields for each in (field, *flat(field.fields))]

    every = flat(fact.fields)
    assert len(rows) == len(every)
    for row, field in zip(rows, every, strict=True):
        text = re.sub(r"<[^>]+>", "", row)
        assert field.description is not None
        assert text.split("\n")[1].strip("\xa0 ") == field.name
        assert field.description.replace('"', "&quot;") in text
    assert f"{INDENT}{INDENT}HighWatermark |" in message_section(fact)


def test_headers_are_those_of_the_versions() -> None:
    assert "| 0-2 | 1 | 0 |\n| 3-5 | 2 | 0 |" in headers_section("ApiVersions")
    assert "| 0 | 0 | 0 |\n| 1-2 | 1 | 0 |" in headers_section("ControlledShutdown")


def test_names_in_a_sentence_are_code_and_signs_mean_themselves() -> None:
    assert sentence("User:* if client.id is set; ZooKeeper too.") == (
        "User:\\* if `client.id` is set; ZooKeeper too."
    )
    assert sentence("LeaderEpoch of __consumer_offsets, INVALID_REQUEST") == (
        "`LeaderEpoch` of `__consumer_offsets`, `INVALID_REQUEST`"
    )
    html = MARKDOWN.render(table(["a"], [[sentence("a|b <c> [d] _e_ \\")]]))
    assert "<td>a|b &lt;c&gt; [d] _e_ \\</td>" in html


@pytest.mark.costly
def test_the_codes_of_an_api_come_from_its_handler_and_its_operation() -> None:
    codes = error_codes()
    assert ErrorCode.TOPIC_ALREADY_EXISTS in codes["CreateTopics"]
    assert ErrorCode.DUPLICATE_VOTER in codes["AddRaftVoter"]
    assert ErrorCode.NONE not in {code for each in codes.values() for code in each}
    assert codes.keys() <= {fact.api for fact in facts().messages}
    assert len(codes) > 40


@pytest.mark.costly
def test_writing_leaves_no_page_of_before(tmp_path: Path) -> None:
    stray = tmp_path / "pages" / "apis" / "old.md"
    stray.parent.mkdir(parents=True)
    stray.write_text("# Old\n")
    write(tmp_path / "pages")
    files = (tmp_path / "pages").rglob("*.md")
    written = {f.relative_to(tmp_path / "pages").as_posix() for f in files}
    assert written == pages().keys()
