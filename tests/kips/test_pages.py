"""docs/kips: the pages are those of their files, and everything that they name exists."""

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import groupby
from zipfile import ZipFile

import pytest

import real_kafka
from command_tree import tree
from kips.data import Kip, Refusal, Statement, read_kips
from kips.pages import page
from kwire.conform.registry import all_checks
from kwire.error_codes import ErrorCode
from tests.support.paths import DOCS, ROOT

KIPS = read_kips()
CHECKS = {check.id: check for check in all_checks()}
CODES = "|".join(code.name for code in ErrorCode if code)


def test_the_pages_are_those_of_the_files() -> None:
    """`python -m kips` writes them."""
    written = {path.stem: path.read_text() for path in (DOCS / "kips").glob("kip-*.md")}
    assert written == {kip.page: page(kip) for kip in KIPS}


def named() -> Iterator[tuple[str, Statement | Refusal]]:
    """Yield all statements and error codes, with a name for a failure."""
    for kip in KIPS:
        for section in kip.sections:
            where = f"{kip.page}, {section.title}"
            yield from ((f"{where}: {row.says}", row) for row in section.statements)
            if section.refusals:
                yield from ((f"{where}: {row.code}", row) for row in section.refusals.codes)


def test_everything_that_the_pages_name_exists() -> None:
    """After a move: put the new names into fixtures/kips/*.yaml, and run `python -m kips`."""
    assert not [f"{where}: {name}" for where, row in named() for name in missing(row)]


def missing(row: Statement | Refusal) -> Iterator[str]:
    """Yield the names in a row that stand for nothing."""
    yield from (test for test in row.tests if not is_test(test))
    yield from (check for check in row.checks if check not in CHECKS)
    if isinstance(row, Refusal):
        yield from [row.code] if row.code not in ErrorCode.__members__ else []
    else:
        yield from (module for module in row.modules if not (ROOT / module).exists())
        yield from (command for command in row.commands if command not in tree())


def is_test(test: str) -> bool:
    """Return True for a function of a file, and the id of a parameter in it."""
    path, _, name = test.partition("::")
    function, _, parameter = name.removesuffix("]").partition("[")
    has_parameter = not parameter or f'"{parameter}"' in source(path)
    return function in functions(path) and has_parameter


@cache
def source(path: str) -> str:
    file = ROOT / "tests" / path
    return file.read_text() if file.is_file() else ""


@cache
def functions(path: str) -> set[str]:
    return set(re.findall(r"^(?:async )?def (test_\w+)\(", source(path), re.MULTILINE))


def test_every_statement_says_what_its_state_needs() -> None:
    for where, row in named():
        if isinstance(row, Refusal):
            assert row.tests, where
            assert bool(row.checks) is not bool(row.why), where
        elif row.state == "works":
            assert row.modules, where
            assert row.tests, where
        else:
            assert row.note, where
            assert row.state != "as Kafka" or (row.java and (row.tests or row.checks)), where


def test_every_check_of_a_kip_stands_on_its_page() -> None:
    for kip in KIPS:
        cited = {id for id, check in CHECKS.items() if check.source.title.lower() == kip.page}
        assert not cited - set(checks_of(kip))


def checks_of(kip: Kip) -> Iterator[str]:
    for section in kip.sections:
        for row in (*section.statements, *(section.refusals.codes if section.refusals else ())):
            yield from row.checks


def test_the_codes_of_a_request_stand_in_the_order_in_which_they_are_looked_for() -> None:
    """The functions that answer it name their codes in their docstrings, step by step."""
    for kip in KIPS:
        for refusals in (section.refusals for section in kip.sections if section.refusals):
            for function in refusals.functions:
                told = iter([refusal.code for refusal in refusals.codes])
                missing = [code for code in codes_of(function) if code not in told]
                assert not missing, function


def codes_of(function: str) -> list[str]:
    """Return the codes that a docstring names, without what the KIP has in their place."""
    module, _, name = function.partition(":")
    text = re.sub(r"\(.*?\)", "", getattr(import_module(module), name).__doc__, flags=re.DOTALL)
    return [code for code, _ in groupby(re.findall(rf"\b({CODES})\b", text))]


@pytest.mark.java
def test_the_classes_and_schemas_that_the_pages_name_are_in_the_jars() -> None:
    for kip in KIPS:
        files = files_of(kip.release)
        for section, statement in kip.statements():
            for name in statement.java:
                is_schema = name.endswith(".json")
                file = f"common/message/{name}" if is_schema else f"{name.replace('.', '/')}.class"
                assert file in files, (kip.page, section.title, statement.says)


@cache
def files_of(release: str) -> set[str]:
    """Return the names of all files in the jars of a release."""
    files: set[str] = set()
    for jar in real_kafka.class_path(release):
        with ZipFile(jar) as archive:
            files |= set(archive.namelist())
    return files


def test_links_lead_somewhere() -> None:
    """Within the page, and to other files; a heading is checked on these pages only."""
    for path in (DOCS / "kips").glob("*.md"):
        anchors = {anchor(title) for title in re.findall(r"^#+ (.+)$", path.read_text(), re.M)}
        for file, heading in re.findall(r"\]\((?!https)([^)#]*)#?([^)]*)\)", path.read_text()):
            assert (path.parent / file).exists(), (path.name, file)
            assert file or heading in anchors, (path.name, heading)


def anchor(title: str) -> str:
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
