"""The page of the clients: a column and a section each, a row a case; kwire's own client passes."""

import asyncio

import pytest

from clients.programs import PROGRAMS
from conformance.clients import CLIENTS_PAGE, run_client, with_clients
from kwire.conform.clients.suite import all_cases
from kwire.conform.reaction import ConnectionState
from kwire.conform.report.document import CheckPart, RunDocument, ServerPart
from kwire.conform.vocabulary import ConformanceVerdict

FAIL, PASS = ConformanceVerdict.FAIL, ConformanceVerdict.PASS
CASE = all_cases()[0]


def run(name: str) -> RunDocument:
    check = CheckPart(
        id=CASE.id,
        verdict=FAIL,
        answer=FAIL,
        connection=ConnectionState.OPEN,
        connection_verdict=PASS,
        sentence=CASE.sentence,
        source="KIP-511",
        expected="an end",
        came="a <wait>",
    )
    client = ServerPart(
        address="sample",
        role="client",
        security="",
        cluster_id=None,
        nodes={},
        voters=(),
        api_versions={},
    )
    return RunDocument(
        name=name,
        kwire="0",
        server=client,
        started_ms=0,
        seconds=1.0,
        problem="",
        suspects=(),
        counts={"FAIL": 1},
        checks=(check,),
    )


def test_the_page_has_every_client_and_every_case() -> None:
    """If a case is new: `python -m conformance --pages` gives it a row."""
    page = CLIENTS_PAGE.read_text()
    assert with_clients(page, {}) == page
    rows = cells_of(page)
    assert list(rows) == [case.id for case in all_cases()]
    assert all(list(row) == list(PROGRAMS) for row in rows.values())
    assert page.count("\n### ") == len(PROGRAMS)


def test_a_run_replaces_the_column_and_the_section_of_its_client_and_no_other() -> None:
    before = CLIENTS_PAGE.read_text()
    after = with_clients(before, {"sarama": run("sarama | 2")})
    changed = {
        (case, client)
        for case, row in cells_of(after).items()
        for client, cell in row.items()
        if cell != cells_of(before)[case][client]
    }
    assert changed == {(CASE.id, "sarama")}
    assert cells_of(after)[CASE.id]["sarama"] == "FAIL"
    assert "### sarama \\| 2\n\n`sarama`, run on 1970-01-01 by kwire 0: 1 FAIL in 1 s." in after
    assert f"- `{CASE.id}` FAIL: expected an end; came a \\<wait\\>." in after
    assert after.count("\n### ") == before.count("\n### ")


@pytest.mark.costly
@pytest.mark.timeout(300)
def test_kwires_own_client_passes_all_that_fits_it() -> None:
    document = asyncio.run(run_client("kwire"))
    verdicts = {check.id: check.verdict for check in document}
    assert set(verdicts.values()) == {PASS, ConformanceVerdict.SKIPPED}
    assert verdicts["client/start/7"] is verdicts["client/start/8"] is PASS


def cells_of(page: str) -> dict[str, dict[str, str]]:
    """Return the verdicts by case and client."""
    lines = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")]
    names = lines[0][2:]
    names[-1] = names[-1].removesuffix(" |")
    return {
        line[0].strip("| `"): dict(
            zip(names, [cell.removesuffix(" |") for cell in line[-len(names) :]], strict=True)
        )
        for line in lines[1:]
    }
