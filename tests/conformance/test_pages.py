"""The pages of the matrix: a row a server, every verdict explained, no server's words as markup."""

import msgspec
import pytest

from clients.programs import PROGRAMS
from conformance import results
from conformance.clients import slug_of
from conformance.pages import BEGIN, END, proxy_differences, server_page, with_rows
from conformance.results import KEPT, PAGE, keep, last_result
from conformance.servers import servers
from kwire.conform.reaction import ConnectionState
from kwire.conform.report.document import BytesPart, CheckPart, RunDocument, ServerPart
from kwire.conform.report.expected import Expectations
from kwire.conform.vocabulary import ConformanceVerdict

PASS, FAIL, DIED = ConformanceVerdict.PASS, ConformanceVerdict.FAIL, ConformanceVerdict.DIED


def check(number: int, verdict: ConformanceVerdict, **more: object) -> CheckPart:
    part = CheckPart(
        id=f"versions/kip-511/{number}",
        verdict=verdict,
        answer=verdict,
        connection=ConnectionState.OPEN,
        connection_verdict=PASS,
        sentence=f"Sentence {number}.",
        source="KIP-511",
        bytes=(BytesPart(sent=True, peer="h:1", size=4, hex="00120063"),),
    )
    return msgspec.structs.replace(part, **more)


def run(*checks: CheckPart, name: str = "sample 1.0") -> RunDocument:
    server = ServerPart(
        address="127.0.0.1:1",
        role="broker",
        security="PLAINTEXT",
        cluster_id=None,
        nodes={},
        voters=(),
        api_versions={},
    )
    return RunDocument(
        name=name,
        kwire="0",
        server=server,
        started_ms=0,
        seconds=1.0,
        problem="",
        suspects=(),
        counts={"FAIL": 1},
        checks=checks,
    )


def test_a_run_replaces_the_row_of_its_server_and_no_other() -> None:
    before = rows_of(PAGE.read_text())
    page = with_rows(PAGE.read_text(), {"kfake": run(check(1, PASS), name="a|b")})
    after = rows_of(page)
    assert [row for row in after if row not in before] == [
        "| [a\\|b](../conformance/reports/kfake.md) | `kfake` | 1970-01-01 | 0 "
        "| 0 | 0 | 0 | 0 | 1 | 0 | 1 |"
    ]
    assert len(after) == len(before)
    assert with_rows(page, {}) == page


def rows_of(page: str) -> list[str]:
    """Return the lines of the table."""
    return page.partition(BEGIN)[2].partition(END)[0].splitlines()


def test_the_page_has_a_row_for_every_server_in_their_order() -> None:
    names = [row.split("`")[1] for row in rows_of(PAGE.read_text())[2:]]
    assert names == [peer.slug for peer in servers()]


def test_a_page_explains_what_failed_with_sentence_and_bytes() -> None:
    failed = check(2, FAIL, expected="error 35", came="error 0")
    text = server_page(run(check(1, PASS), failed), Expectations())
    assert "### versions/kip-511/2\n\n- Sentence 2. Source: KIP-511." in text
    assert "FAIL: expected error 35; came error 0" in text
    assert "> 00120063\n" in text
    assert "versions/kip-511/1" not in text


def test_checks_with_the_same_outcome_are_explained_together() -> None:
    refused = {"expected": "no error", "came": "error 1"}
    numbers = (check(number, FAIL, **refused) for number in (1, 2, 3))
    text = server_page(run(*numbers, check(4, FAIL, expected="a", came="b")), Expectations())
    assert "### versions/kip-511/1 and 2 more\n" in text
    assert "- `versions/kip-511/3`: Sentence 3. Source: KIP-511." in text
    assert text.count("FAIL: expected no error; came error 1") == 1
    assert "### versions/kip-511/4\n" in text


def test_words_of_a_server_are_no_markup() -> None:
    text = server_page(run(check(2, FAIL, expected="x", came="<b>|`\x1b[2J")), Expectations())
    assert "came \\<b\\>\\|\\`" in text
    assert "\x1b" not in text


def test_behind_the_proxy_a_check_that_ends_otherwise_is_told() -> None:
    kafka, proxy = run(check(1, PASS), check(2, FAIL)), run(check(1, PASS), check(2, PASS))
    assert proxy_differences(kafka, proxy) == ["versions/kip-511/2: FAIL; behind the proxy PASS"]
    assert proxy_differences(kafka, kafka) == []


def test_a_kept_result_has_the_bytes_that_explain_a_verdict(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setattr(results, "RESULTS", tmp_path_factory.mktemp("results"))
    long = BytesPart(sent=False, peer="h:1", size=1000, hex="00" * 1000)
    assert last_result("sample") is None
    keep("sample", run(check(1, PASS), check(2, FAIL, bytes=(long,) * 20)))
    kept = last_result("sample")
    assert kept is not None
    passed, failed = kept
    assert passed.bytes == ()
    assert [len(part.hex) for part in failed.bytes] == [2 * KEPT] * 6


def test_expectations_are_of_the_matrices_and_can_be_read() -> None:
    slugs = {*(peer.slug for peer in servers()), *map(slug_of, PROGRAMS)}
    for file in sorted(results.EXPECTATIONS.glob("*.yaml")):
        assert file.stem in slugs, f"no server and no client is called {file.stem}"
        assert results.expectations_of(file.stem).verdicts
