"""A rules file says what is wrong with it; each rule does what it says, as often as it says."""

from pathlib import Path

import pytest

from kwire.messages.a01_fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from kwire.messages.a03_metadata import MetadataRequest
from kwire.messages.a19_create_topics import CreatableTopic, CreateTopicsRequest
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.net.frames import decode_request, decode_response
from kwire.proxy import Filters, NoticeKind, Outcome
from kwire.proxy.filters.presets import PRESETS
from kwire.proxy.filters.rules import BadRules, RulesFile, load_rules, read_rules
from kwire.proxy.flows.interest import Direction
from tests.support.proxy.dialogue import answered, asked
from tests.support.proxy.filter_dialogue import HeldDialogue, rule_filters

VOTE = asked(VoteRequest(voter_id=3000), 2, 1, "raft-client-3001")
VOTED = answered(VoteResponse(), 2, 1)


def under(text: str, dice: tuple[float, ...] = ()) -> HeldDialogue:
    """Return a dialogue under the rules of this file, with dice that fall so."""
    rules = read_rules(text)
    falls = iter(dice)
    filters = rule_filters(rules, lambda: next(falls), 0.0)
    return HeldDialogue(filters=Filters(filters, drop_on_error=rules.on_error == "drop"))


def rule(*lines: str, match: str = "~api Vote") -> str:
    return "rules:\n  - match: " + match + "".join(f"\n    {line}" for line in lines)


@pytest.mark.parametrize(
    ("delay", "fall", "seconds"),
    [
        ("2s", (), 2.0),
        ("{from: 1s, to: 3s}", (0.5,), 2.0),
        ("{fixed: 1s, jitter: 200ms}", (0.0,), 0.8),
        ("{fixed: 100ms, jitter: 1s}", (0.0,), 0.0),
    ],
)
def test_a_delay_is_fixed_or_spread(delay: str, fall: tuple[float, ...], seconds: float) -> None:
    dialogue = under(rule(f"delay: {delay}"), fall)
    dialogue.ask(VOTE)
    assert [alarm.due for alarm in dialogue.alarms] == pytest.approx([seconds] if seconds else [])
    dialogue.now_is(seconds)
    assert dialogue.at_node == VOTE


def test_bandwidth_lets_the_bytes_of_a_connection_pass_one_after_the_other() -> None:
    dialogue = under(rule(f"bandwidth: {len(VOTE)}B/s"))
    dialogue.ask(VOTE * 3)
    for second in range(1, 4):
        dialogue.now_is(second - 0.1)
        assert dialogue.at_node == VOTE * (second - 1)
        dialogue.now_is(second)
        assert dialogue.at_node == VOTE * second


def test_drop_close_and_stall() -> None:
    assert under(rule("drop: true")).ask(VOTE) == b""
    stalled = under(rule("stall: true", "delay: 1s"))
    stalled.ask(VOTE)
    stalled.now_is(1.0)
    assert (stalled.at_node, stalled.reasons) == (b"", [])
    closed = under(rule("close: true", "name: the end"))
    closed.ask(VOTE)
    assert closed.reasons == ["closed by rule the end"]


def test_an_error_is_the_answer_of_that_api_to_that_request() -> None:
    topics = [FetchTopic(topic="orders", partitions=[FetchPartition(partition=3)])]
    frame = asked(FetchRequest(topics=topics), 12, 9)
    dialogue = under(rule("error: NOT_LEADER_OR_FOLLOWER", match="~api Fetch"))
    assert dialogue.ask(frame) == b""
    body = decode_response(dialogue.at_client[4:], 1, 12).body
    assert isinstance(body, FetchResponse)
    assert body.error_code == 6
    assert [
        (response.topic, response.partitions[0].partition_index) for response in body.responses
    ] == [("orders", 3)]
    assert body.responses[0].partitions[0].error_code == 6
    assert dialogue.flows[0].outcome is Outcome.ANSWERED


def test_an_error_in_a_response_takes_the_place_of_its_codes() -> None:
    dialogue = under(rule("error: 41", "direction: response"))
    dialogue.ask(VOTE)
    assert dialogue.answer(VOTED) == answered(VoteResponse(error_code=41), 2, 1)


def test_a_patch_sets_a_field_also_in_the_elements_of_arrays() -> None:
    dialogue = under(
        rule("patch: {max_bytes: 9, topics.topic_id: AAAAAAAAAAAAAAAAAAAAAQ}", match="~api Fetch")
    )
    sent = dialogue.ask(asked(FetchRequest(topics=[FetchTopic(), FetchTopic()]), 17, 1))
    body = decode_request(sent[4:]).body
    assert isinstance(body, FetchRequest)
    assert body.max_bytes == 9
    assert [topic.topic_id.int for topic in body.topics] == [1, 1]
    assert dialogue.flows == []
    dialogue.hang_up()
    assert dialogue.flows[0].notes == ("hit by rule patch-dc82", "changed by a filter")


def test_probability_count_and_time_window() -> None:
    dialogue = under(rule("drop: true", "probability: 0.5"), (0.4, 0.5, 0.6, 0.1))
    assert dialogue.ask(*[VOTE] * 4) == VOTE * 2
    assert under(rule("drop: true", "count: 2")).ask(*[VOTE] * 5) == VOTE * 3
    window = under(rule("drop: true", "after: 1s", "until: 2s"))
    for second in (0.9, 1.0, 1.9, 2.0):
        window.now_is(second)
        window.ask(VOTE)
    assert window.at_node == VOTE * 2


@pytest.mark.parametrize(
    ("lines", "hit"),
    [
        (("nth: 2",), [2]),
        (("skip: 1", "count: 1"), [2]),
        (("skip: 3",), [4, 5]),
        (("skip: 2", "count: 2"), [3, 4]),
        (("nth: 6",), []),
    ],
)
def test_skip_count_and_nth_say_which_of_the_matching_messages(
    lines: tuple[str, ...], hit: list[int]
) -> None:
    dialogue = under(rule("drop: true", *lines, match="~api Vote & voter_id==3000"))
    other = asked(VoteRequest(voter_id=3001), 2, 1, "raft-client-3001")
    passed = []
    for number in range(1, 6):
        before = len(dialogue.at_node)
        dialogue.ask(other, VOTE)  # what does not match is not counted
        if dialogue.at_node[before:] == other + VOTE:
            passed.append(number)
    assert [number for number in range(1, 6) if number not in passed] == hit


def test_the_nth_message_that_the_dice_spare_has_no_substitute() -> None:
    dialogue = under(rule("drop: true", "nth: 2", "probability: 0.5"), (0.6, 0.1))
    assert dialogue.ask(*[VOTE] * 4) == VOTE * 4


def test_nth_stands_alone_and_nearly_right_names_are_told() -> None:
    for other in ("skip: 1", "count: 1"):
        with pytest.raises(BadRules, match="nth is skip and count in one"):
            read_rules(rule("drop: true", "nth: 2", other))
    with pytest.raises(BadRules, match="did you mean 'INVALID_TXN_STATE'"):
        read_rules(rule("error: INVALID_TXN_STAT"))
    with pytest.raises(BadRules, match="no API is called 'EndTx'; did you mean 'EndTxn'"):
        read_rules(rule("drop: true", match="~api EndTx"))


def test_a_rule_wants_no_messages_that_it_cannot_match() -> None:
    filters = under(rule("drop: true", match="~api Vote & ~v 2 & ~from 1")).filters
    kinds = [(52, 2), (52, 1), (1, 17)]
    assert [bool(filters.handlers(*kind, Direction.REQUEST)) for kind in kinds] == [
        True,
        False,
        False,
    ]
    assert not filters.handlers(52, 2, Direction.RESPONSE)


@pytest.mark.parametrize("on_error", ["forward", "drop"])
def test_a_rule_that_cannot_be_done_is_told_once_with_its_flow(on_error: str) -> None:
    text = rule("error: 41", match="~api Metadata")
    dialogue = under(f"on_error: {on_error}\n{text}")
    frame = asked(MetadataRequest(topics=[]), 4, 1)
    assert dialogue.ask(frame, frame) == (frame * 2 if on_error == "forward" else b"")
    (notice,) = dialogue.notices
    assert notice.kind is NoticeKind.FILTER_FAILED
    assert "no answer to this MetadataRequest can carry an error" in notice.text


CREATE = asked(CreateTopicsRequest(topics=[CreatableTopic(name="a")] * 1000), 7, 1)


def test_a_patch_that_would_make_a_message_much_longer_changes_nothing() -> None:
    patch = "patch: {timeout_ms: 1, topics.name: " + "A" * 5000 + "}"
    dialogue = under(rule(patch, match="~api CreateTopics"))
    assert dialogue.ask(CREATE) == CREATE
    (notice,) = dialogue.notices
    assert "topics.name would make the message 4999000 bytes longer" in notice.text


def test_a_patch_in_the_place_of_another_adds_only_what_it_is_longer() -> None:
    patches = [f"{{match: ~api CreateTopics, patch: {{topics.name: {x * 3000}}}}}" for x in "ABC"]
    dialogue = under("rules:\n  - " + "\n  - ".join(patches))
    # Each takes the place of the one before: the message is three MB longer, not nine.
    assert len(dialogue.ask(CREATE)) == len(CREATE) + 1000 * (2999 + 1)
    assert dialogue.notices == []


def test_rules_share_the_values_that_they_may_look_at_and_say_what_they_left_out() -> None:
    compare = " | ".join(["num_partitions==2"] * 20)
    rules = [f"{{match: {compare}, drop: true, name: r{number}}}" for number in range(12)]
    dialogue = under("rules:\n  - " + "\n  - ".join(rules))
    assert dialogue.ask(CREATE, CREATE) == CREATE * 2
    # 10 rules look at 20 values of 1000 topics.
    assert [notice.text.split()[3] for notice in dialogue.notices] == [
        "r10.on_request",
        "r11.on_request",
    ]
    assert "not all of the message was compared" in dialogue.notices[0].text


def test_what_is_wrong_with_a_file_is_said_with_its_name(tmp_path: Path) -> None:
    file = tmp_path / "slow.yaml"
    with pytest.raises(BadRules, match=r"cannot read .*slow\.yaml: No such file or directory"):
        load_rules(file)
    file.write_bytes(b"\xff")
    with pytest.raises(BadRules, match=r"slow\.yaml is no text in UTF-8"):
        load_rules(file)
    file.write_text("rules: [3]\nrule: 3")
    with pytest.raises(BadRules) as raised:
        load_rules(file)
    assert all(line.startswith(f"{file}: rule") for line in str(raised.value).splitlines())


WRONG = {
    "rules: [": "this is no YAML",
    rule("drop: true", match="!~api Vote"): "needs quotes around it",
    rule("drop: true", match="!~err *"): "needs quotes around it",
    "rules: [3]": "rules[1]",
    "rule: []": "rule: there is no such key",
    rule("drop: true", match="~api Fetsch"): "rules[1].match: column 6: no API is called 'Fetsch'",
    rule("delay: 5 parsecs"): "'5 parsecs' is not a time",
    rule("delay: {from: 3s, to: 1s}"): "longer than its `to`",
    rule("bandwidth: 0B/s"): "greater than 0",
    rule("drop: true", "close: true"): "only one of",
    rule(): "the rule has no action",
    rule("drop: true", match="~err 3"): "add direction: response",
    rule("error: NOPE"): "no error of Kafka's is called 'NOPE'",
    rule("patch: {voter: 3}"): "no request that can match has a field 'voter'",
    rule("drop: true", "after: 2s", "until: 1s"): "`until` is not after",
    rule("drop: true", "probability: 2"): "probability",
    "rules: [{preset: x}]": "no preset is called 'x'; there are slow-fetch",
    "rules: [{preset: slow-fetch}]": "needs `node`, a node id",
    "[1]": "the file: ",
    "rules: [{name: a, match: ~api Vote, drop: true}, {name: a, match: ~api Vote, close: true}]": (
        "two rules are called 'a': give one of them another name"
    ),
    "x" * 1_000_001: "are too many",
}


@pytest.mark.parametrize(("text", "said"), WRONG.items(), ids=[str(i) for i in range(len(WRONG))])
def test_a_file_that_is_wrong_is_told_what_and_where(text: str, said: str) -> None:
    with pytest.raises(BadRules) as caught:
        read_rules(text)
    assert said in str(caught.value)


def test_an_empty_file_is_no_rules() -> None:
    assert read_rules("") == RulesFile()


def test_every_preset_makes_rules_and_takes_what_rules_take() -> None:
    for name, (_, parameters) in PRESETS.items():
        given = "".join(f", {parameter}: 3001" for parameter in parameters)
        (made,) = read_rules(f"rules: [{{preset: {name}{given}, count: 3}}]").rules
        assert (made.name, made.count) == ("-".join([name, *["3001"] * len(parameters)]), 3)


def names(*rules: str) -> list[str]:
    return [rule.name for rule in read_rules(f"rules: [{', '.join(rules)}]").rules]


def test_a_rule_without_a_name_gets_one_that_others_do_not_change() -> None:
    vote, fetch = "{match: ~api Vote, drop: true}", "{match: ~api Fetch, delay: 1s}"
    assert names(vote, fetch) == names(fetch, vote)[::-1] == ["drop-e9fc", "delay-e5bf"]
    assert names(vote, vote) == ["drop-e9fc", "drop-e9fc-2"]
    late = "{preset: late-heartbeats, node: 2}"
    assert names(late, late, "{name: a, match: ~api Vote, drop: true}") == [
        "late-heartbeats-2",
        "late-heartbeats-2-2",
        "a",
    ]
