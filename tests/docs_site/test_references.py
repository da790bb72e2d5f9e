"""The generated references have all of what the code has."""

import re
from pathlib import Path

import pytest

from command_tree import flags, leaves, tree
from docs_site.command_pages import write_command_pages
from docs_site.configuration_pages import write_configuration_pages
from docs_site.error_pages import advice, error_classes, write_error_page
from docs_site.finding_pages import write_finding_pages
from docs_site.markup import code, prose
from docs_site.python_pages import docstring, public_names, signature, write_python_pages
from docs_site.result_pages import write_result_pages
from docs_site.staging import write
from kwire.configs import group_keys, node_keys, topic_keys
from kwire.conform.registry import all_checks
from kwire.doctor.examine import KINDS
from kwire.error_codes import ErrorCode
from kwire.error_meanings import MEANINGS


@pytest.mark.costly
def test_every_command_has_its_options_and_examples(tmp_path: Path) -> None:
    write_command_pages(tmp_path)
    pages = {page.stem: page.read_text() for page in tmp_path.rglob("*.md")}
    for path in leaves():
        section = (
            pages[path.partition(" ")[0]].partition(f"\n## kwire {path}\n")[2].partition("\n## ")[0]
        )
        hidden = {flag for item in tree()[path].params if item.hidden for flag in item.opts}
        shown = {flag for flag in flags(path) - hidden if code(flag) in section}
        assert shown == flags(path) - hidden, path
        for example in re.findall("^kwire .*", tree()[path].help.partition("\b")[2], re.M):
            assert example in section, path
        assert f"#kwire-{path.replace(' ', '-')})" in pages["README"], path
    assert all("Exit codes: 0 done, 1 failed" in page for page in pages.values())


def test_every_error_code_has_a_meaning_and_what_to_do(tmp_path: Path) -> None:
    assert {*advice()} == {*ErrorCode.__members__}
    assert {*MEANINGS} == {*ErrorCode} - {ErrorCode.NONE}
    write_error_page(tmp_path)
    page = (tmp_path / "reference/errors.md").read_text()
    row = next(line for line in page.splitlines() if code("NOT_CONTROLLER") in line)
    assert row.split(" | ")[1:] == [
        "41 retriable",
        "this node is not the active controller",
        "Ask the active controller; kwire does so. |",
    ]
    assert all(code(error.name) in page for error in error_classes())


def test_a_command_that_the_advice_names_is_there() -> None:
    named = re.findall(r"`kwire ([a-z -]+)`", " ".join(advice().values()))
    assert len(named) > 20
    assert [name for name in named if name not in tree()] == []


def test_exceptions_are_found_through_their_bases() -> None:
    classes = {error.name: error for error in error_classes()}
    assert classes["TooLarge"].bases == ("BatchError",)
    assert classes["DuplicateVoter"].module == "kwire.admin.errors"
    assert "_Hidden" not in classes
    assert "ErrorCode" not in classes


def test_every_public_configuration_key_is_there(tmp_path: Path) -> None:
    write_configuration_pages(tmp_path)
    folder = tmp_path / "reference/configuration"
    for name, keys in (
        ("topics", topic_keys.KEYS),
        ("nodes", node_keys.KEYS),
        ("groups", group_keys.KEYS),
    ):
        page = (folder / f"{name}.md").read_text()
        shown = {key.name for key in keys.values() if f"| {code(key.name)} |" in page}
        assert shown == {key.name for key in keys.values() if not key.internal}
    topics = (folder / "topics.md").read_text()
    assert re.search(
        r"<code>retention.ms</code> \| long \| <code>604800000</code> \| at least -1", topics
    )


@pytest.mark.costly
def test_every_finding_and_check_is_there(tmp_path: Path) -> None:
    write_finding_pages(tmp_path)
    findings = (tmp_path / "reference/findings.md").read_text()
    checks = (tmp_path / "reference/checks.md").read_text()
    assert [kind.id for kind in KINDS if code(kind.id) not in findings] == []
    assert [check.id for check in all_checks() if code(check.id) not in checks] == []


@pytest.mark.costly
def test_every_public_name_is_described(tmp_path: Path) -> None:
    write_python_pages(tmp_path)
    admin = (tmp_path / "reference/python/kwire.admin.md").read_text()
    for name, _ in public_names("kwire.admin"):
        assert f"\n## {name}\n" in admin
    create = admin.partition("\n### AdminClient.create_topics\n")[2].partition("\n###")[0]
    assert "async def create_topics(\n    topics: Iterable[NewTopic],\n    *,\n" in create
    assert "- <code>validate&#95;only</code>: True to have the controller check them" in create
    assert "\n### NewTopic\n" in admin  # what create_topics takes


def test_signatures_have_stars_and_defaults() -> None:
    def function(first: int, /, *rest: str, last: bool = True, **more: object) -> None: ...

    shown = signature("function", function)
    assert shown.endswith("(first: int, *rest: str, last: bool = True, **more: object) -> None")


def test_docstrings_become_paragraphs_parameters_and_code() -> None:
    text = """Do it; return `True`.

    one, two: parts of it. three: a <part>.

    1. Begin.
    2. End.

    do_it(one=1)
    """
    assert docstring(text) == (
        "Do it; return <code>True</code>.\n\n"
        "- <code>one</code>, <code>two</code>: parts of it.\n"
        "- <code>three</code>: a &lt;part&gt;.\n\n"
        "1. Begin.\n2. End.\n\n"
        "```python\ndo_it(one=1)\n```\n"
    )


def test_prose_is_safe_in_a_table() -> None:
    assert prose("a|b *c* `d|e_f` [g]") == (r"a&#124;b \*c\* <code>d&#124;e&#95;f</code> \[g\]")
    assert prose("see docs/debuggers/watch.md.", "reference/command/proxy.md") == (
        "see [debuggers/watch.md](../../debuggers/watch.md)."
    )


def test_the_page_of_results_says_which_runs_there_were_not(tmp_path: Path) -> None:
    write(tmp_path / "build/conformance/kfake.md", "Every FAIL.\n")
    write(tmp_path / "build/conformance/results/kfake.json", "{}")
    write_result_pages(tmp_path / "pages", tmp_path / "build")
    page = (tmp_path / "pages/reference/results.md").read_text()
    conformance, _, faults = page.partition("## Conformance")[2].partition("## Faults")
    assert "(results/conformance-kfake.md)" in conformance
    assert "There is no data of a run here" not in conformance
    assert "**There is no data of a run here**: nobody had called `make faults`" in faults
    report = tmp_path / "pages/reference/results/conformance-kfake.md"
    assert report.read_text() == "# Conformance: kfake\n\nEvery FAIL.\n"
    assert (report.parent / "kfake.json").exists()
