"""Code in documents: what is an expression, a field, a name or a command is one of kwire's."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import indent

import pytest

from kwire.text.yaml_data import read_yaml_data
from tests.support.code_of_pages import command_problem, commands_of, span_problem
from tests.support.markdown import CodeBlock, all_blocks, code_spans
from tests.support.pages import PAGES, name_of
from tests.support.paths import ROOT

pytestmark = pytest.mark.xdist_group("pages")  # one process reads the code and the commands

NOT_KWIRES = {
    "--add-scram": "of kafka-storage",
    "--conf": "of spark-submit",
    "--conf spark.executorEnv.AWS_REGION=…": "of spark-submit",
    "--controllers java": "of a script in fixtures/",
    "--kwire-cluster-scope session": "of pytest",
    "--kwire-conform-": "the beginning of pytest's options",
    "--kwire-kafka FOLDER": "of pytest",
    "--kwire-kafka-version 4.4.0": "of pytest",
    "--preserve-throttles": "of kafka-reassign-partitions",
    "--quorum kwire": "of a script in benchmarks/",
    "--quorum kwire-alone": "of a script in benchmarks/",
    "clock.skew.seconds": "the end of a key",
    "expected.audience": "the end of a key",
    "expected.issuer": "the end of a key",
    "kwire topics list --out": "a word that is begun, to be completed",
    "kwire.find": "a preference of Wireshark's",
    "listener.name.controller.max.connections": "a key with the listener's name before it",
    "register_table": "Trino's",
    "scope.claim.name": "the end of a key",
    "sub.claim.name": "the end of a key",
    "try_parse_json": "Spark's",
    "zookeeper.max.in.flight.requests": "Kafka's key, which kwire does not have",
    "zookeeper.ssl.keystore": "the beginning of Kafka's keys",
}
"""Spans of code that belong to others, and whose."""


def blocks(*languages: str) -> Iterator[tuple[str, CodeBlock]]:
    for page in PAGES:
        for block in all_blocks(page.read_text()):
            if block.language in languages:
                yield f"{name_of(page)}:{block.line}", block


@pytest.mark.parametrize(
    ("span", "problem"),
    [
        ("topics.partitions.voter_id", "nothing has this name"),
        ("topics.0.partitions.1.candidate_epoch=7", "no message has a field"),
        ("~api Fetsh", "no API is called"),
        ("candidate_epoch==7", "no message has a field"),
        ("VoteRequests", None),
        ("VotesRequest", "no message of this name"),
        ("kwire quorums status", "kwire has no command quorums"),
        ("kwire quorum state", "kwire quorum has no command state"),
        ("kwire quorum status --all", "kwire quorum status has no --all"),
        ("--alle", "no command has --alle"),
        ("kwire.admin.transactions.Transactions", "nothing has this name"),
        ("kwire.admin.AdminClient", None),
        ("~api Fetch\\|Vote", "column"),
        ("request.voter_id", None),
        ("topics.hits", "nothing has this name"),
        ("rule.hits", None),
        ("rule.hats", "nothing has this name"),
    ],
)
def test_what_is_wrong_is_seen(span: str, problem: str | None) -> None:
    found = span_problem(span)
    assert found is None if problem is None else problem in (found or "")


@pytest.mark.parametrize("folder", sorted({page.parent for page in PAGES}), ids=lambda f: f.name)
def test_code_in_prose_is_what_it_looks_like(folder: Path) -> None:
    """Expressions, fields, edits, messages, options, commands, keys and names in Python."""
    problems = {
        f"{name_of(page)}: {span}": problem
        for page in PAGES
        if page.parent == folder
        for span in dict.fromkeys(code_spans(page.read_text()))
        if span not in NOT_KWIRES and (problem := span_problem(span))
    }
    assert problems == {}


def test_no_exception_is_left_over() -> None:
    spans = {span for page in PAGES for span in code_spans(page.read_text())}
    assert NOT_KWIRES.keys() - spans == set()


def test_a_command_in_a_block_takes_what_it_is_given() -> None:
    problems = {
        f"{place}: {' '.join(words)}": problem
        for place, block in blocks("", "console", "sh", "shell")
        for words in commands_of(block)
        if (problem := command_problem(words[1:], is_whole=True))
    }
    assert problems == {}


@pytest.mark.parametrize(
    ("language", "reader"),
    [
        ("python", lambda text: compile(text, "page", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)),
        ("yaml", lambda text: read_yaml_data(text)),
        ("json", lambda text: json.loads(text.replace(", …", ""))),
    ],
)
def test_a_block_of_data_or_of_python_is_read(
    language: str, reader: Callable[[str], object], subtests: pytest.Subtests
) -> None:
    for place, block in blocks(language):
        with subtests.test(place):
            reader(block.text)


ONE_PROGRAM = {"docs/engineers/codec.md"}
"""Pages whose blocks go on where the one before ended; those of others stand alone."""


TESTS_OF_A_READER = ["--allow-untyped-defs", "--allow-untyped-calls", "--allow-untyped-decorators"]
"""Their functions may do without annotations; what they do is checked."""


def module_of(page: Path) -> str:
    """Return the Python blocks of a page as coroutines of a module."""
    texts = [block.text for block in all_blocks(page.read_text()) if block.language == "python"]
    if name_of(page) in ONE_PROGRAM:
        texts = ["\n".join(texts)]
    return "\n\n".join(
        f"async def block_{number}() -> None:\n{indent(text, '    ')}"
        for number, text in enumerate(texts)
    )


@pytest.mark.costly
@pytest.mark.timeout(600)
def test_the_python_of_the_pages_passes_mypy(tmp_path: Path) -> None:
    for page in PAGES:
        if text := module_of(page):
            (tmp_path / f"{page.stem.lower().replace('-', '_')}_page.py").write_text(text)
    command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", *TESTS_OF_A_READER]
    modules = [str(path) for path in sorted(tmp_path.glob("*.py"))]
    done = subprocess.run([*command, *modules], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == f"Success: no issues found in {len(modules)} source files\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("$ kwire quorum status --bootstrap-controller c:1 | head\nLeaderId: 1\n", None),
        ("kwire topics create \\\n  orders --bootstrap-server b:1  # one\n", None),
        ("$ kwire topics create --bootstrap-server b:1\n", "missing"),
        ("$ kwire topics create t --bootstrap-server\n", "requires an argument"),
        ("x | kwire decode --jason -\n", "No such option"),
    ],
)
def test_a_wrong_command_is_seen(text: str, problem: str | None) -> None:
    found = [
        command_problem(words[1:], is_whole=True) for words in commands_of(CodeBlock(1, "", text))
    ]
    assert len(found) == 1
    assert re.search(problem, found[0] or "") if problem else found == [None]
