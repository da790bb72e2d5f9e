"""Checks stay as they are: expectations, and reports that are compared, name them by their ids."""

import hashlib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

from kwire.conform import checks
from kwire.conform.check import CheckSection, gets
from kwire.conform.expectation import expect_equal
from kwire.conform.registry import all_checks, section_modules
from kwire.conform.server import Server
from kwire.conform.vocabulary import Deviation, kip
from kwire.error_codes import ErrorCode

KNOWN = Path(__file__).with_name("sentences.tsv")
"""The id of each check and the first 12 digits of the SHA-256 of its sentence and source.

`gone` in their place for a check that there was: its number is never given again.
"""
GONE = "gone"


def test_every_id_has_its_sentence_and_source() -> None:
    known = [line.split("\t") for line in KNOWN.read_text().splitlines()]
    declared = [[check.id, digest(f"{check.sentence} ({check.source})")] for check in all_checks()]
    changed = [entry for entry in declared if entry not in known]
    assert not changed, f"if this is meant, write it to {KNOWN.name}"
    assert declared == [entry for entry in known if entry[1] != GONE], (
        "ids are not given up, and have their order: a check of another can"
    )


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def test_every_module_with_a_section_is_in_the_report() -> None:
    found = {
        module.name.removeprefix(f"{checks.__name__}.")
        for module in walk_packages(checks.__path__, f"{checks.__name__}.")
        if hasattr(import_module(module.name), "SECTION") and not module.ispkg
    }
    assert found == set(section_modules())


def test_a_sentence_that_has_no_end_ends_with_the_code() -> None:
    assert gets("An empty name gets", ErrorCode.INVALID_TOPIC_EXCEPTION) == (
        "An empty name gets INVALID_TOPIC_EXCEPTION."
    )
    assert gets("An empty name is refused.", 17) == "An empty name is refused."


def test_a_number_is_given_once() -> None:
    section = CheckSection("test/numbers", "Of a test")
    declare: Callable[..., object] = section.check(1, kip(4, "DeleteTopics"))

    async def _(server: Server) -> None:
        """Nothing is asked."""

    declare(_)
    with pytest.raises(AssertionError, match="test/numbers/1 is given twice"):
        declare(_)


def test_reports_have_codes_as_servers_send_them() -> None:
    with pytest.raises(Deviation) as caught:
        expect_equal("errors", {"a": 3}, {"a": ErrorCode.NONE})
    assert (caught.value.expected, caught.value.came) == ("errors {'a': 0}", "errors {'a': 3}")
