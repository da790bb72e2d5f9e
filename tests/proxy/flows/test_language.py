"""The filter language says what is so of an RPC, what nobody knows yet, and where it is wrong."""

from difflib import get_close_matches
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kwire.messages.a01_fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from kwire.messages.a06_update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from kwire.messages.a19_create_topics import CreatableTopic, CreateTopicsRequest
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.proxy import DecodedFlow, Flow
from kwire.proxy.flows import field_paths, terms
from kwire.proxy.flows.effort import LOOKS
from kwire.proxy.flows.language import BadExpression, parse
from kwire.proxy.flows.match_target import MatchTarget
from tests.support.proxy.dialogue import Dialogue, answered, asked


def vote(error: int = 0) -> MatchTarget:
    """Return a Vote of node 3001 to node 3000, answered after a second."""
    dialogue = Dialogue()
    dialogue.ask(asked(VoteRequest(cluster_id="c", voter_id=3000), 2, 1, "raft-client-3001"))
    dialogue.answer(answered(VoteResponse(error_code=error), 2, 1))
    return MatchTarget.of_flow(DecodedFlow(dialogue.flows[0]))


def fetch() -> MatchTarget:
    dialogue = Dialogue()
    request = FetchRequest(topics=[FetchTopic(topic_id=UUID(int=1))], max_bytes=7)
    dialogue.ask(asked(request, 17, 1, "broker-1"))
    dialogue.answer(answered(FetchResponse(error_code=41), 17, 1))
    return MatchTarget.of_flow(DecodedFlow(dialogue.flows[0]))


def full_update() -> MatchTarget:
    dialogue = Dialogue()
    request = UpdateMetadataRequest(controller_id=3001, is_k_raft_controller=True, type=2)
    dialogue.ask(asked(request, 8, 1))
    dialogue.answer(answered(UpdateMetadataResponse(), 8, 1))
    return MatchTarget.of_flow(DecodedFlow(dialogue.flows[0]))


TRUE = (
    "~api Vote",
    "~api vote",
    "~api Fetch,Vo*",
    "~key 52",
    "~v 2",
    "~v 1-3 ~key 50+",
    "~client raft-client-*",
    "~node 3000 & ~node 3001",
    "~from 3001 & ~to 3000",
    "!~from 3000",
    "~from 1,3001 & ~to 2999-3000 & ~node 1,3000-3002",
    "!~from 1,3002 & !~to 3001-3009",
    "~err *",
    "~err NOT_CONTROLLER,NONE",
    "~err 41",
    "~lat >=1s & ~lat<2s",
    "~lat 1000ms",
    "~size > 10 & ~size <1KiB",
    "cluster_id==c",
    "request.cluster_id=='c'",
    'cluster_id=="?"',
    "cluster_id!=d",
    "voter_id>=3000 voter_id<3001",
    "response.error_code==41",
    "!(~api Fetch | ~v 3) & !!~api Vote",
    "~api Fetch & ~v 1 | ~api Vote",
    "~response & ~api Vote",
)


def test_what_is_so_of_a_vote_is_found_and_its_opposite_is_not(subtests: pytest.Subtests) -> None:
    for text in TRUE:
        with subtests.test(text):
            assert parse(text)(vote(41)) is True
            assert parse(f"!({text})")(vote(41)) is False


@pytest.mark.parametrize(
    "text", ["~topic __cluster_metadata", "~topic AAAA*", "topics.topic_id!=x", "max_bytes==7"]
)
def test_topics_are_found_by_name_id_and_field(text: str) -> None:
    assert parse(text)(fetch())
    assert not parse("~topic orders")(fetch())


@pytest.mark.parametrize("text", ["type==2", "is_k_raft_controller==true", "~from 3001"])
def test_a_full_update_of_a_kraft_controller_is_found(text: str) -> None:
    assert parse(f"~api UpdateMetadata & {text}")(full_update())
    assert not parse(f"!({text})")(full_update())


@pytest.mark.parametrize(
    "text", ["max_bytes==seven", "max_bytes>null", "cluster_id==x", "voter_id==1", "~err NONE"]
)
def test_what_cannot_be_compared_or_is_not_there_is_not_so(text: str) -> None:
    assert not parse(text)(fetch())


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("~err *", None),
        ("!~err *", None),
        ("~lat >1s", None),
        ("~err * & ~api Fetch", False),
        ("~err * | ~api Vote", True),
        ("~response", False),
        ("!~response", True),
    ],
)
def test_a_request_alone_cannot_tell_everything(text: str, answer: bool | None) -> None:
    flow = vote().flow
    alone = Flow(flow.connection, 52, 2, 1, "me", 0.0, 0.0, 10)
    expression = parse(text)
    assert expression.test(MatchTarget(alone, 10, VoteRequest())) is answer
    assert expression.needs_response


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("~api Vote", [True, True, False]),
        ("~api Vote & ~v 2", [True, False, False]),
        ("~api Vote & voter_id==1", [None, None, False]),
        ("!~api Vote | ~from 1", [None, None, True]),
    ],
)
def test_what_is_so_of_all_messages_of_a_version_is_known_beforehand(
    text: str, answers: list[bool | None]
) -> None:
    expression = parse(text)
    assert [expression.static(*kind) for kind in ((52, 2), (52, 1), (1, 2))] == answers


WRONG = {
    "~v 1 " * 101: (1, "more than 100 terms, comparisons and listed values"),
    "~v " + ",".join("1" * 101): (1, "more than 100 terms"),
    "~client *" + "a?" * 101 + "*": (1, "more than 20 comparisons and patterns"),
    "~topic a* " * 21: (1, "more than 20 comparisons and patterns"),
    "voter_id==1 " * 21: (1, "more than 20 comparisons and patterns"),
    "~v 1 " * 80 + "nope": (401, "'nope' cannot stand here"),
    "": (1, "nothing is here"),
    "~api Fetch &": (13, "ends too early"),
    "~api  Fetsch": (7, "no API is called 'Fetsch'"),
    "~api Fetch & ~lst 3": (14, "there is no term '~lst'; there are ~api"),
    "~api Fetch | | ~v 3": (14, "'|' cannot stand here"),
    "(~api Fetch": (12, "ends too early"),
    "~api Fetch)": (11, "')' cannot stand here"),
    "~v 1 & ~lat 5parsecs": (13, "'5parsecs' is not a time"),
    "~v x": (4, "is not a version"),
    "~key 1.5": (6, "is not an API key"),
    "~node a": (7, "'a' is no node id: write 3000, 3000,3001 or 3000-3002"),
    "~from 1,": (7, "'' is no node id"),
    "~to 3-1": (5, "'3-1' is no node id"),
    "~to -1": (5, "'-1' is no node id"),
    "~node 1-2-3": (7, "'1-2-3' is no node id"),
    "~node ٣": (7, "is no node id"),
    "~node " + "9" * 3000: (7, "is no node id"),
    "~err NOPE": (6, "no error of Kafka's is called 'NOPE'"),
    "~size 3furlongs": (7, "is not a size"),
    "port==": (7, "ends too early"),
    "~api Vote & feild==1": (13, "no message has a field 'feild'"),
    "~v 1 |  (voter_idd == 3)": (10, "did you mean 'voter_id'?"),
    "topics.voter_id==1": (1, "no message has a field 'topics.voter_id'"),
    "~v": (3, "ends too early"),
    "~response 3": (11, "'3' cannot stand here"),
    "~v ~response": (4, "~response stands where it cannot"),
    "~responses": (1, "there is no term '~responses'; there are ~api"),
    "(" * 100: (1, "nested deeper"),
}


TOPICS = 1000


def topics(*, count: int = TOPICS) -> MatchTarget:
    request = CreateTopicsRequest(topics=[CreatableTopic(name="a" * 1000) for _ in range(count)])
    return MatchTarget(Flow(vote().flow.connection, 19, 7, 1, "me", 0.0, 0.0, 10), 10, request)


@pytest.mark.parametrize(
    ("text", "looks"),
    [
        ("num_partitions==2", TOPICS),
        (" | ".join(["num_partitions==2"] * 20), 20 * TOPICS),
        ("topics.configs.name==x", TOPICS),
        ("request.timeout_ms==1", 0),
        ("name==b", 2 * TOPICS),  # also the configs' names are looked for
        ("name==*b*", (2 + 2 + 1000 // 100) * TOPICS),
        ("name==*" + "?" * 99 + "b*", 2 * TOPICS),  # the first name is not compared any more
    ],
)
def test_an_expression_looks_at_few_values(text: str, looks: int) -> None:
    target = topics()
    parse(text).test(target)
    assert target.effort.looks <= LOOKS
    if not target.is_cut:
        assert target.effort.looks == looks


@pytest.mark.parametrize("text", ["num_partitions==-1", "!num_partitions==-1", "~topic *b*"])
def test_what_would_need_more_looks_than_a_message_may_have_is_unknown(text: str) -> None:
    expression = parse(text)
    target = topics(count=2)
    assert expression.test(target) is not None
    assert not target.is_cut
    target = topics(count=2)
    target.effort.looks = LOOKS - 1
    assert expression.test(target) is None
    assert target.is_cut
    assert target.effort.looks == LOOKS - 1


class Read(str):
    """A text that counts how often it is read as a number."""

    __slots__ = ("times",)

    def __int__(self) -> int:
        self.times = getattr(self, "times", 0) + 1
        return 7


def test_a_text_is_read_as_a_number_once_for_all_values() -> None:
    text = Read("7")
    test = terms.field_test("num_partitions", "==", text).test
    assert test(topics()) is False
    assert text.times == 1


@pytest.mark.parametrize("field", ["records", "response.responses.partitions.records"])
def test_records_are_asked_for_but_not_made_text(field: str) -> None:
    partition = PartitionData(partition_index=0, records=b"1")
    response = FetchResponse(responses=[FetchableTopicResponse(partitions=[partition])])
    target = MatchTarget(vote().flow, 10, None, response)
    assert parse(f"{field}!=null")(target)
    for text in (f"{field}==31", f"{field}<null"):
        with pytest.raises(BadExpression, match="records are not compared as text: only"):
            parse(text)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("voter_idd", "voter_id"),
        ("erorr_code", "error_code"),
        ("request.topics.partitions.repl_icas_partition", ""),
        ("topics.partitons.partition_index", "topics.partitions.partition_index"),
        ("x" * 3000, ""),
    ],
)
def test_a_wrong_field_is_compared_with_few_names(
    wrong: str, right: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[int] = []

    def count(word: str, names: list[str], n: int) -> list[str]:
        compared.append(len(names))
        return get_close_matches(word, names, n)

    monkeypatch.setattr(field_paths, "get_close_matches", count)
    with pytest.raises(BadExpression) as caught:
        parse(f"{wrong}==1")
    assert sum(compared) <= 50
    assert f"did you mean {right!r}?" in str(caught.value) if right else compared


def test_an_error_points_at_its_column(subtests: pytest.Subtests) -> None:
    for text, (column, reason) in WRONG.items():
        with subtests.test(text[:80]):
            with pytest.raises(BadExpression) as caught:
                parse(text)
            assert (caught.value.column, reason in caught.value.reason) == (column, True)
            if len(text) < 80:
                assert str(caught.value).splitlines()[-1].index("^") == column + 1


@given(st.text(alphabet="~apiFetch &|!()<>=1.\"'\\\n*é", max_size=60))
def test_any_text_is_an_expression_or_a_bad_one(text: str) -> None:
    column = 1
    try:
        judge = parse(text)
    except BadExpression as error:
        column = error.column
    else:
        assert judge(VOTE) in (True, False)
    assert 1 <= column <= len(text) + 1


VOTE = vote()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("error_code!=0", [("error_code", 41)]),
        ("~err * | max_bytes>5", [("error_code", 41), ("max_bytes", 7)]),
        ("~topic AAAA* & !max_bytes==8", [("topic", "AAAAAAAAAAAAAAAAAAAAAQ")]),
        ("~size >1", [("size", 62)]),
        ("~api Fetch & ~connection 1", []),
        ("!error_code==0", []),
    ],
)
def test_an_expression_tells_what_it_found(text: str, found: list[tuple[str, object]]) -> None:
    target = fetch()
    expression = parse(text)
    assert expression(target)
    assert list(expression.found(target)) == found


def test_a_look_for_what_was_found_ends_at_the_most_looks() -> None:
    target = topics(count=2)
    target.effort.looks = LOOKS
    assert list(parse("num_partitions==-1").found(target)) == []
    assert target.is_cut
