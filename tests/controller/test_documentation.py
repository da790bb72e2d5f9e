"""The pages of the controller name tests for every pitfall, and they are there."""

import re

from tests.support.controller.live.listed_differences import FETCH_SNAPSHOT, LISTED, documented_rows
from tests.support.controller.live.tool_steps import count_of_steps, every_step
from tests.support.controller.operator_events import EVERY_KIND, documented_row
from tests.support.paths import ROOT

BUILT = ROOT / "docs" / "contributing" / "controller.md"
ROW = re.compile(r"^\| (\d+) \| .* \| (.*) \|$", re.MULTILINE)
TEST = re.compile(r"`([\w/]+\.py)::(\w+)`")


def test_every_pitfall_of_the_first_controller_has_a_test_that_exists() -> None:
    rows = ROW.findall(BUILT.read_text())
    assert [int(number) for number, _ in rows] == list(range(1, 22))
    for number, cell in rows:
        tests = TEST.findall(cell)
        assert tests, f"pitfall {number} has no test"
        for file, name in tests:
            text = (ROOT / "tests" / file).read_text()
            assert re.search(rf"^(async )?def {name}\(", text, re.MULTILINE), f"{file}::{name}"


def test_the_table_of_differences_is_the_list_that_the_scripted_session_is_held_against() -> None:
    rows = documented_rows("| step | kwire | Kafka | release | why |")
    assert rows == [row.cells for row in LISTED]
    assert FETCH_SNAPSHOT.cells in documented_rows(
        "| FetchSnapshot of | kwire | Kafka | release | why |"
    )


def test_the_table_of_command_lines_has_what_the_comparison_runs() -> None:
    counts = count_of_steps()
    text = (ROOT / "docs" / "engineers" / "controller.md").read_text()
    rows = re.findall(r"^\| ([^|]+) \| (\d+) \|$", text, re.MULTILINE)
    assert rows == [(name, str(count)) for name, count in counts.items()]
    assert f"runs {sum(counts.values())} command lines" in text
    assert len(every_step()) == sum(counts.values())


def test_the_table_of_events_has_every_event() -> None:
    rows = documented_rows("| event | line | what happened | fields |")
    assert rows == [documented_row(kind)[:-1] for kind in EVERY_KIND]
    text = (ROOT / "docs" / "engineers" / "controller.md").read_text()
    assert all(f" {documented_row(kind)[-1]} |\n" in text for kind in EVERY_KIND)
