"""Reports of a run: JSON and back, expectations, JUnit, the page, the comparison of two runs."""

from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree.ElementTree import fromstring

import msgspec
import pytest

from kwire.conform.check import FIRST
from kwire.conform.reaction import ConnectionState
from kwire.conform.registry import all_checks
from kwire.conform.report.comparison import differences
from kwire.conform.report.document import (
    BadDocument,
    RunDocument,
    document_of,
    read_document,
    to_json,
)
from kwire.conform.report.expected import BadExpectations, Expectations, read_expectations
from kwire.conform.report.html_matrix import to_html
from kwire.conform.report.junit import to_junit
from kwire.conform.result import CheckResult, ConformanceRun, of_family, skipped
from kwire.conform.target import Target
from kwire.conform.transcript import Chunk
from kwire.conform.vocabulary import ConformanceVerdict as V
from kwire.net.address import Address

FIRST_ID, SECOND_ID, THIRD_ID = (f"versions/kip-35/{number}" for number in (1, 2, 3))
HOSTILE = "no answer\x1b[31m <script>alert(1)</script>\x00"
BYTES = (
    Chunk(sent=True, peer="127.0.0.1:9092", data=b"\0\0\0\1\x2a", size=5),
    Chunk(sent=False, peer="127.0.0.1:9092", data=b"", size=70_000),
)
FAILED = CheckResult(
    id=FIRST_ID,
    answer=V.FAIL,
    connection=ConnectionState.RESET,
    connection_verdict=V.FAIL,
    expected="error 35 UNSUPPORTED_VERSION",
    came=HOSTILE,
    chunks=BYTES,
    seconds=0.25,
)
MEMBERS = [
    CheckResult(id=f"{SECOND_ID}/Fetch-v1", answer=V.PASS),
    replace(FAILED, id=f"{SECOND_ID}/Fetch-v2"),
]


def document(*results: CheckResult, problem: str = "", name: str = "tested") -> RunDocument:
    target = Target(address=Address("127.0.0.1", 9092), nodes={1: Address("127.0.0.1", 9092)})
    run = ConformanceRun(target=target, results=results, problem=problem, seconds=1.5)
    return document_of(run, (FIRST, *all_checks()), started=1_800_000_000.0, name=name)


@cache
def bad() -> RunDocument:
    """Return a run of which one check and one of a family failed."""
    return document(
        CheckResult(id=FIRST.id, answer=V.PASS),
        FAILED,
        of_family(SECOND_ID, MEMBERS),
        skipped(THIRD_ID, "it is for a controller"),
    )


@cache
def good() -> RunDocument:
    """Return a run of the same checks that all passed."""
    return document(*(CheckResult(id=check.id, answer=V.PASS) for check in bad()), name="other")


def expecting(folder: Path, checks: str) -> Expectations:
    file = folder / "expected.yaml"
    file.write_text(f"server: tested 1.0\nchecks:\n{checks}")
    return read_expectations(file)


def known(check_id: str, verdict: str = "FAIL") -> str:
    return f"  {check_id}:\n    verdict: {verdict}\n    why: it always was so\n"


def test_a_document_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_bytes(to_json(bad()))
    assert read_document(file) == bad()
    written = msgspec.json.decode(file.read_bytes())
    assert written["checks"][1]["connectionVerdict"] == "FAIL"
    assert written["checks"][1]["bytes"][0] == {
        "sent": True,
        "peer": "127.0.0.1:9092",
        "size": 5,
        "hex": "000000012a",
        "probe": False,
        "silent": 0.0,
    }
    assert written["counts"]["FAIL"] == 2


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"name": 1}', "\xff", "[" * 100_000])
def test_what_is_no_document_is_told_with_its_file(text: str, tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text(text, encoding="latin-1")
    with pytest.raises(BadDocument, match=r"run\.json is no result of `kwire conform`"):
        read_document(file)


def test_without_expectations_fail_and_died_are_unexpected() -> None:
    assert list(Expectations().unexpected(bad())) == [FIRST_ID, SECOND_ID]
    assert list(Expectations().unexpected(good())) == []


def test_an_expected_failure_is_as_expected_and_its_pass_is_news(tmp_path: Path) -> None:
    expectations = expecting(tmp_path, known(FIRST_ID) + known(f"{SECOND_ID}/Fetch-v2"))
    assert list(expectations.unexpected(bad())) == []
    assert list(expectations.unexpected(good())) == [FIRST_ID]
    assert "it always was so" in expectations.judge(bad().checks[1]).text


def test_a_member_that_fails_beside_an_expected_one_is_news(tmp_path: Path) -> None:
    expectations = expecting(tmp_path, known(f"{SECOND_ID}/Fetch-v1"))
    judgement = expectations.judge(bad().checks[2])
    assert judgement.is_unexpected
    assert "not as expected: Fetch-v1, Fetch-v2" in judgement.text


def test_another_verdict_than_expected_and_skipped(tmp_path: Path) -> None:
    expectations = expecting(tmp_path, known(FIRST_ID, "DIED") + known(THIRD_ID))
    assert list(expectations.unexpected(bad())) == [FIRST_ID, SECOND_ID]
    assert not expectations.expects_death(bad())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "server: this key is needed"),
        ("server: x\nchecks: {nonsense/1: {verdict: FAIL, why: x}}", "no check is called nonsense"),
        (f"server: x\nchecks: {{{FIRST_ID}: {{verdict: BAD, why: x}}}}", "verdict"),
        (f"server: x\nchecks: {{{FIRST_ID}: {{verdict: FAIL}}}}", "why: this key is needed"),
        ("[", "this is no YAML"),
    ],
)
def test_a_file_of_expectations_that_cannot_be_used(text: str, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "expected.yaml"
    file.write_text(text)
    with pytest.raises(BadExpectations, match=reason) as raised:
        read_expectations(file)
    assert str(raised.value).startswith(str(file))


def test_junit_has_a_suite_a_section_and_counts() -> None:
    root = fromstring(to_junit(bad()))
    assert root.attrib["tests"] == "4"
    assert (root.attrib["failures"], root.attrib["skipped"], root.attrib["errors"]) == (
        "2",
        "1",
        "0",
    )
    failure = root.find(".//failure")
    assert failure is not None
    assert failure.attrib["message"].startswith("FAIL: expected error 35 UNSUPPORTED_VERSION")
    assert r"\x1b[31m" in failure.attrib["message"]
    shown = root.find(".//system-out")
    assert shown is not None
    assert "> 127.0.0.1:9092 5 bytes 000000012a" in (shown.text or "")


def test_nothing_in_a_document_breaks_junit() -> None:
    """XML 1.0, 2.2: of the control characters a document may have tab and line ends alone."""
    hostile = "".join(map(chr, range(0x20))) + "\x7f\x85\x9b\u2028\ufffe\uffff\ud800"
    broken = msgspec.structs.replace(
        bad().checks[1], id=f"a{hostile}/1", sentence=hostile, source=hostile, came=hostile
    )
    run = msgspec.structs.replace(bad(), name=hostile, checks=(broken,))
    data = to_junit(run)
    (suite,) = fromstring(data)
    shown = data.decode().replace("\n", "")
    assert shown.isprintable()
    assert suite.attrib["name"].startswith(r"a\x00\x01")
    assert suite[0].attrib["name"].endswith(r"\x85\x9b\u2028\ufffe\uffff\ud800")


def test_junit_skips_what_fails_as_expected(tmp_path: Path) -> None:
    expectations = expecting(tmp_path, known(FIRST_ID) + known(f"{SECOND_ID}/Fetch-v2"))
    root = fromstring(to_junit(bad(), expectations))
    assert (root.attrib["failures"], root.attrib["skipped"]) == ("0", "3")
    again = fromstring(to_junit(good(), expectations))
    assert again.attrib["failures"] == "1"


def test_the_page_has_a_column_a_run_and_nothing_of_a_server_is_markup() -> None:
    page = to_html([bad(), good()])
    assert "<strong>tested</strong>" in page
    assert "<strong>other</strong>" in page
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert page.count('class="verdict FAIL unexpected"') == 2
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_two_runs_differ_in_members() -> None:
    found = [difference.id for difference in differences(bad(), good())]
    assert found == [
        FIRST_ID,
        f"{SECOND_ID}/Fetch-v1",
        f"{SECOND_ID}/Fetch-v2",
        THIRD_ID,
        SECOND_ID,
    ]
    assert not list(differences(bad(), bad()))


def test_failed_checks_in_which_the_same_came_after_one_api_have_a_cause() -> None:
    listed = Chunk(sent=True, peer="a:1", data=bytes.fromhex("0000000800100004000000ff"), size=12)
    same = [
        replace(FAILED, id=name, came="no answer", chunks=(listed,))
        for name in (FIRST_ID, THIRD_ID)
    ]
    other_api = replace(FAILED, id="versions/kip-35/4", came="no answer")
    of_members = of_family(SECOND_ID, [replace(same[0], id=f"{SECOND_ID}/v1")])
    (cause,) = document(*same, other_api, of_members).causes
    assert (cause.api, cause.came) == ("ListGroups", "no answer")
    assert cause.checks == (FIRST_ID, THIRD_ID, SECOND_ID)
    assert document(*same, other_api).causes[0].checks == (FIRST_ID, THIRD_ID)
    differs = replace(same[1], answer=V.DIFFERS, connection_verdict=V.DIFFERS)
    assert document(same[0], other_api, differs).causes == ()
