"""docs/kip-866.md: what it names exists, and what it shows is so."""

import re
from dataclasses import dataclass

from kwire.capture.reading import read_capture
from kwire.proxy import DecodedFlow, Flow, summarize
from kwire.proxy.capture.records import events
from kwire.proxy.flows.language import parse
from tests.support.paths import DOCS, FIXTURES, ROOT

PAGE = DOCS / "kip-866.md"
STATES = {"works", "as 3.9", "partly", "brokers"}


@dataclass(frozen=True, slots=True)
class StatementRow:
    """A row of the page, with its cells. modules, tests: what stands in backquotes there."""

    number: int
    state: str
    modules: list[str]
    tests: list[str]
    note: str


def rows() -> list[StatementRow]:
    found = re.findall(
        r"^\| (\d+) \| (.+?) \| (.+?) \| (.*?)\| (.*?)\| (.*?)\|$", PAGE.read_text(), re.M
    )
    return [
        StatementRow(
            int(number),
            state,
            re.findall("`(.+?)`", modules),
            re.findall("`(.+?)`", tests),
            note.strip(),
        )
        for number, _, state, modules, tests, note in found
    ]


def test_the_page_has_the_65_statements_of_the_kip() -> None:
    assert [row.number for row in rows()] == list(range(1, 66))
    for row in rows():
        assert row.state in STATES, row
        if row.state == "works":
            assert row.modules, row
            assert row.tests, row
        else:
            assert row.note, row


def test_every_statement_names_modules_and_tests_that_exist() -> None:
    missing = []
    for row in rows():
        for module in row.modules:
            if not (ROOT / module).exists():
                missing.append(f"{row.number}: {module}")
        for test in row.tests:
            file, _, name = test.partition("::")
            path = ROOT / "tests" / file
            pattern = rf"^(async )?def {name}\("
            if not path.is_file() or not re.search(pattern, path.read_text(), re.MULTILINE):
                missing.append(f"{row.number}: {test}")
    assert not missing


def test_the_lines_of_the_proxy_are_those_of_the_capture() -> None:
    capture = FIXTURES / "migrating" / "recordings" / "kafka-3.9.1" / "rpcs.avro"
    flows = [flow for flow in events(read_capture(capture)) if isinstance(flow, Flow)]
    lines = {f"{flow.api} v{flow.version} {summarize(DecodedFlow(flow))}" for flow in flows}
    shown = re.findall(r"^3000 → \d +(\w+ v\d) .*?(KRaft controller .*)$", PAGE.read_text(), re.M)
    assert len(shown) == 4
    assert {f"{api} {summary}" for api, summary in shown} <= lines


def test_the_expressions_are_of_the_filter_language() -> None:
    table = PAGE.read_text().partition("| expression | selects |")[2]
    expressions = re.findall(r"^\| `(.+?)` \|", table, re.M)
    assert len(expressions) == 4
    for expression in expressions:
        parse(expression)
