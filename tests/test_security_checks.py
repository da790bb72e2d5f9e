"""`make audit` and `make secrets`: what is not known, or not reviewed, fails."""

import json
from pathlib import Path

import pytest

import dependency_audit
import secret_scan
from dependency_audit import NoAnswer, audit, names_of, report
from secret_scan import Found, faults, read, scan, written

# From pip-audit's README, shortened.
FLASK = {
    "name": "flask",
    "version": "0.5",
    "vulns": [
        {"id": "PYSEC-2019-179", "fix_versions": ["1.0"], "aliases": ["CVE-2019-1010083"]},
        {"id": "PYSEC-2018-66", "fix_versions": ["0.12.3"], "aliases": ["CVE-2018-1000656"]},
    ],
}
JINJA = {"name": "jinja2", "version": "3.0.2", "vulns": []}
# Printed by pip-audit 2.10.1, with the exit code 0, where PyPI's JSON was not to be had.
SKIPPED = {
    "name": "jinja2",
    "skip_reason": "Dependency not found on PyPI and could not be audited: jinja2 (3.0.2)",
}


def answers(**by_service: object) -> dependency_audit.Ask:
    """Return what asks these services; one that is missing gives no answer."""

    def ask(service: str) -> str:
        if service not in by_service:
            raise NoAnswer(f"{service}: it does not answer")
        return json.dumps({"dependencies": by_service[service], "fixes": []})

    return ask


def test_each_package_that_was_looked_up_and_has_nothing_is_clean() -> None:
    result = audit(answers(pypi=[JINJA]), frozenset({"jinja2"}))
    assert result.is_clean
    assert report(result) == ["1 packages: no vulnerability of them is known."]


def test_a_vulnerability_is_named_with_the_version_that_mends_it() -> None:
    result = audit(answers(pypi=[FLASK, JINJA]), frozenset({"flask", "jinja2"}))
    assert not result.is_clean
    assert report(result) == [
        "VULNERABLE: flask 0.5 has PYSEC-2019-179 (fixed in 1.0), PYSEC-2018-66 (fixed in 0.12.3)"
    ]


@pytest.mark.parametrize(
    "ask",
    [
        answers(),
        answers(pypi=[SKIPPED]),
        answers(pypi=[SKIPPED], osv=[SKIPPED]),
        answers(pypi=[], osv=[]),
    ],
    ids=["no service", "skipped", "skipped by both", "left out"],
)
def test_what_cannot_be_looked_up_is_not_known_and_never_clean(ask: dependency_audit.Ask) -> None:
    result = audit(ask, frozenset({"jinja2"}))
    assert not result.is_clean
    (line,) = report(result)
    assert line.startswith("NOT KNOWN: 1 packages could not be looked up, jinja2 for instance")


def test_the_second_service_is_asked_for_what_the_first_does_not_know() -> None:
    result = audit(answers(pypi=[SKIPPED], osv=[JINJA]), frozenset({"jinja2"}))
    assert result.is_clean


def test_all_constraints_have_to_be_known() -> None:
    names = names_of(dependency_audit.FILE.read_text())
    assert {"cryptography", "aiohttp"} < names
    assert not audit(answers(pypi=[JINJA]), names).is_clean


AWS = "AKIA" + "Z7XQ3GTVW2KLMNP4"
KEY = "-----BEGIN RSA " + "PRIVATE KEY-----"
WORD = "pass" + 'word = "zx81-Spectrum!"'
ALLOWED = f"{WORD}  # pragma: allowlist " + "secret"


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (f"key = '{AWS}'", "AWS Access Key"),
        (KEY, "Private Key"),
        (WORD, "Secret Keyword"),
        (ALLOWED, "Secret Keyword"),
    ],
)
def test_a_secret_in_a_file_is_found_wherever_it_is(tmp_path: Path, line: str, kind: str) -> None:
    (tmp_path / "kept.py").write_text(f"first = 1\n{line}\n")
    found = scan("kept.py", tmp_path)
    assert [(one.file, one.kind, one.line) for one in found] == [("kept.py", kind, 2)]
    (fault,) = faults(found, {})
    assert fault.startswith(f"kept.py:2: {kind}, which nobody has reviewed")
    assert AWS not in fault
    assert "Spectrum" not in fault


def test_only_a_row_with_a_reason_is_a_review_and_rows_of_nothing_are_faults() -> None:
    found = [Found("a.py", "Secret Keyword", "12ab34cd56", 7)]
    text = written(found, {})
    assert faults(found, read(text)) != []
    reviewed = read(text.replace("12ab34cd56\t", "12ab34cd56\tmade up for the test"))
    assert faults(found, reviewed) == []
    assert written([found[0]._replace(file="b.py")], reviewed).endswith("\tmade up for the test\n")
    assert faults([], reviewed) == [
        "a.py: its Secret Keyword 12ab34cd… is gone: take the row out of 0090-secrets.tsv"
    ]


def test_each_row_of_the_list_has_a_reason_and_its_file_is_there() -> None:
    reviewed = read(secret_scan.REVIEWED.read_text())
    assert reviewed
    assert all(reviewed.values())
    assert {file for file, _, _ in reviewed} <= set(secret_scan.tracked())
