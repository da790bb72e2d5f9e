"""The evidence of a verdict: a report names what in an answer is against the sentence."""

from __future__ import annotations

import re

import pytest

from breaking.run import lacks_evidence, see_fail
from kwire.codec.declaration import Request
from kwire.conform.expectation import answers, closes, judge
from kwire.conform.reaction import ConnectionState, Reaction
from kwire.conform.registry import check_of
from kwire.conform.report.document import check_part
from kwire.conform.report.text import reaction_text
from kwire.conform.result import CheckResult
from kwire.conform.vocabulary import ConformanceVerdict, Deviation
from kwire.messages.a03_metadata import MetadataRequest, MetadataResponse
from kwire.messages.a60_describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from kwire.net.frames import decode_response, encode_response
from scripted_node import Script, ScriptedNode
from tests.conform.breaks.versions.kip_35 import BREAKS
from tests.support.conform.mortal_node import target_of

PASS, FAIL = ConformanceVerdict.PASS, ConformanceVerdict.FAIL

EVIDENCE = {2: r"keys \[", 3: r"key \d+ 2 times", 4: r"key \d+ from 0 to -1", 5: r"key \d+ before"}
"""The faults of a list of APIs, by the number of the check."""


@pytest.mark.parametrize("number", EVIDENCE)
async def test_what_is_wrong_in_a_list_of_apis_is_named(number: int) -> None:
    check = check_of(f"versions/kip-35/{number}")
    scripts: dict[type[Request], Script] = {
        MetadataRequest: lambda frame: MetadataResponse(),
        DescribeClusterRequest: lambda frame: DescribeClusterResponse(),
    }
    async with ScriptedNode(scripts) as node:
        seen = await see_fail(check, await target_of(node), BREAKS[number])
    assert seen.problem == ""
    assert re.match(f"ApiVersionsResponse with no error, {EVIDENCE[number]}", seen.broken.came)


def reaction() -> Reaction:
    frame = encode_response(DescribeClusterResponse(), 2, correlation_id=1)[4:]
    return Reaction(frame=frame, decoded=decode_response(frame, 60, 2))


def test_an_expectation_gives_its_evidence() -> None:
    name = "DescribeClusterResponse with no error"
    assert answers(0).fault(reaction()) == ""
    assert answers(35).fault(reaction()) == name
    assert answers(version=1).fault(reaction()) == f"{name} in a body of v2"
    wrong = answers(0, text="with nodes", lacks=lambda response: "without a node")
    assert wrong.fault(reaction()) == f"{name}, without a node"
    assert closes().fault(reaction()) == name
    assert (wrong | answers(0)).fault(reaction()) == ""
    with pytest.raises(Deviation, match="no error, without a node"):
        judge(reaction(), wrong | closes())


@pytest.mark.parametrize(
    ("expected", "came", "lacks"),
    [
        ("no error in the order of the keys", "ApiVersionsResponse with no error", True),
        ("an answer with nodes", "v1: DescribeClusterResponse with no error", True),
        ("no error in the order", "ApiVersionsResponse with no error, key 18 before key 3", False),
        ("error 35 UNSUPPORTED_VERSION", "ApiVersionsResponse with no error", False),
        ("the connection is closed without an answer", "VoteResponse with no error", False),
    ],
)
def test_no_error_is_evidence_only_where_one_was_expected(
    expected: str, came: str, lacks: bool
) -> None:
    result = CheckResult(id="a/b/1", answer=FAIL, expected=expected, came=came)
    assert lacks_evidence(result) == lacks


def test_an_end_of_the_connection_is_told_once() -> None:
    closed = CheckResult(
        id="a/b/1",
        answer=FAIL,
        expected="an answer",
        came="no answer, the connection is closed",
        connection=ConnectionState.CLOSED,
        connection_verdict=FAIL,
    )
    assert reaction_text(check_part(closed)).count("closed") == 1


@pytest.mark.parametrize("came", ["", "one cluster id"])
def test_there_is_no_verdict_without_evidence(came: str) -> None:
    with pytest.raises(AssertionError, match="without evidence"):
        Deviation("one cluster id", came)


def test_a_demand_in_words_has_evidence() -> None:
    with pytest.raises(AssertionError, match="evidence"):
        answers(0, text="in the order of the keys")
