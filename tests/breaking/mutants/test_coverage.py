"""The share of seen fields, and the ratchet of docs/reference/conformance-coverage.md."""

from pathlib import Path

import pytest

from breaking.mutants import pages
from breaking.mutants.exempt import exemptions
from breaking.mutants.hunt import Verdict
from breaking.mutants.mutant import Mutant, fields_of, mutants_of
from breaking.mutants.pages import missed
from breaking.mutants.table import by_field, merged, share

VERSIONS = range(4)


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A page of two parts, one with a field that is known to be missed."""
    copy = tmp_path / "page.md"
    parts = ("broker responses", "broker responses missed", "exempt")
    copy.write_text("".join(f"<!-- {name}: begin -->\n\n<!-- {name}: end -->\n" for name in parts))
    monkeypatch.setattr(pages, "PAGE", copy)
    return copy


def test_a_field_that_was_seen_is_not_taken_for_one_that_is_missed(page: Path) -> None:
    neutral, _ = mutants()
    seen = by_field([Verdict(mutant=neutral, met=3, seen_by="groups/states/1")])
    lost = by_field([Verdict(mutant=neutral, met=3)])
    pages.write_pages("broker", seen, is_request=False)
    field = "`ListGroupsResponse groups[].group_id`"
    assert pages.newly_missed("broker", lost, is_request=False) == [field]
    pages.write_pages("broker", lost, is_request=False)
    assert pages.newly_missed("broker", lost, is_request=False) == [field]
    assert "| ListGroups | 1 | 0 | 0 % |" in page.read_text()


def test_what_is_known_to_be_missed_stays_so_until_it_is_seen(page: Path) -> None:
    neutral, _ = mutants()
    lost = by_field([Verdict(mutant=neutral, met=3)])
    pages.write_pages("broker", lost, is_request=False)
    assert pages.newly_missed("broker", lost, is_request=False) == []
    assert "| `ListGroupsResponse groups[].group_id` | neutral |" in page.read_text()


def mutants() -> list[Mutant]:
    (field,) = (f for f in fields_of(16, VERSIONS) if f.path == "groups[].group_id")
    return [mutant for mutant in mutants_of(field, VERSIONS) if mutant.below is None]


def test_a_field_is_covered_if_each_mutant_that_is_met_is_seen() -> None:
    neutral, other = mutants()
    seen = Verdict(mutant=neutral, met=3, seen_by="groups/states/1")
    for verdict, covered in [
        (Verdict(mutant=other, met=1), 0),
        (Verdict(mutant=other, met=0), 1),
        (Verdict(mutant=other, met=1, seen_by="groups/states/1"), 1),
    ]:
        row = share("ListGroups", by_field([seen, verdict]))
        assert (row.fields, row.covered, row.touched) == (1, covered, 1)


def test_what_no_check_meets_is_missed() -> None:
    fields = by_field([Verdict(mutant=mutant, met=0) for mutant in mutants()])
    assert missed(fields) == [("`ListGroupsResponse groups[].group_id`", "never met")]


def test_the_best_of_two_servers_counts() -> None:
    neutral, other = mutants()
    first = [Verdict(mutant=neutral, met=1), Verdict(mutant=other, met=0)]
    second = [Verdict(mutant=neutral, met=1, seen_by="a/b/1"), Verdict(mutant=other, met=2)]
    assert merged([first, second]) == second


def test_each_exemption_is_of_a_field_and_has_a_reason() -> None:
    for line in exemptions():
        assert line.reason.endswith("."), line
