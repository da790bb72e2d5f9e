"""Habits of Apache Kafka: a server that has others DIFFERS, and FAILs with as_java."""

from dataclasses import replace

import pytest

from kwire.conform.check import CheckSection, exchange
from kwire.conform.expectation import answers
from kwire.conform.reaction import ConnectionState
from kwire.conform.result import CheckResult
from kwire.conform.run_check import run_check
from kwire.conform.vocabulary import ConformanceVerdict as V
from kwire.conform.vocabulary import SentenceSource, guide, kafka
from kwire.error_codes import ErrorCode
from kwire.messages.a16_list_groups import ListGroupsRequest, ListGroupsResponse
from scripted_node import HANG_UP, SILENCE, Raw, Script, ScriptedNode
from tests.support.conform.mortal_node import target_of

HABIT, DOCUMENT = kafka("KafkaApis.handleListGroupsRequest"), guide("ListGroups API")


async def result_of(
    source: SentenceSource, script: Script, *, as_java: bool = False
) -> CheckResult:
    section = CheckSection("test/habits", "Of a test")
    section[1] = exchange(
        "A group is refused with",
        source,
        send=ListGroupsRequest(),
        expect=answers(ErrorCode.INVALID_REQUEST),
    )
    async with ScriptedNode({ListGroupsRequest: script}) as node:
        target = replace(await target_of(node), as_java=as_java)
        return await run_check(next(iter(section)), target)


def other_answer(frame: object) -> ListGroupsResponse:
    return ListGroupsResponse()


async def test_another_answer_than_kafkas_differs() -> None:
    assert (await result_of(DOCUMENT, other_answer)).verdict is V.FAIL
    assert (await result_of(HABIT, other_answer)).verdict is V.DIFFERS
    assert (await result_of(HABIT, other_answer, as_java=True)).verdict is V.FAIL


async def test_an_end_of_the_connection_differs() -> None:
    result = await result_of(HABIT, lambda frame: HANG_UP)
    assert (result.answer, result.connection_verdict) == (V.DIFFERS, V.DIFFERS)
    assert result.connection is ConnectionState.CLOSED
    strict = await result_of(HABIT, lambda frame: HANG_UP, as_java=True)
    assert (strict.answer, strict.connection_verdict) == (V.FAIL, V.FAIL)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("script", [lambda frame: SILENCE, lambda frame: Raw(data=b"\0\0\0\1x")])
async def test_silence_and_what_is_no_answer_fail(script: Script) -> None:
    assert (await result_of(HABIT, script)).verdict is V.FAIL
