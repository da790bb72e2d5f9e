"""The filter of the page matches what kwire's does, and points at the same column."""

from collections.abc import Iterator
from pathlib import Path

from selenium.webdriver import Chrome

from kwire.messages.a00_produce import PartitionProduceData, ProduceRequest, TopicProduceData
from kwire.messages.a01_fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from kwire.messages.a03_metadata import MetadataResponse
from kwire.messages.a08_offset_commit import OffsetCommitRequest, OffsetCommitResponse
from kwire.messages.a52_vote import VoteRequest, VoteResponse
from kwire.proxy import DecodedFlow, Flow
from kwire.proxy.flows.language import BadExpression, parse
from kwire.proxy.flows.match_target import MatchTarget
from kwire.proxy.flows.terms import FLAGS, TERMS
from kwire.trace.rows import masked
from tests.support.browser import chromium
from tests.support.trace_pages import collect, example_flows, flow_of, open_trace

__all__ = ["chromium"]

EXPRESSIONS = (
    *("~api Fetch", "~api fetch,vote", "~api Describe*", "~api *e*r*s*", "~key 1", "~key 52-55"),
    *("~key 0,1", "~v 4-17", "~v 13+", "~v 4,7", "~client app", "~client a?p", "~client *o*o?"),
    *(
        "~client *",
        '~client ""',
        "~node 3000",
        "~from 3000-3002",
        "~to 1,2",
        "~node 1",
        "~connection 3",
        "~connection 2-5,7",
    ),
    *("~err *", "~err NOT_CONTROLLER", "~err 41,6", "~err -1", "!~err *", "~lat >4ms"),
    *("~lat <=4ms", "~lat ==2s", "~lat 100us", "~lat <1m", "~topic orders", "~topic *order*"),
    *("~topic name-?*", "~partition orders-0", "~partition *-1", "~group *", "~group group_id*"),
    *("~transaction *", "~transaction *_id*", "~size >1KiB", "~size 100", "~size <0.05kB"),
    *("~response", "!~response", "voter_id==3000", "voter_id>=0", "request.voter_id!=3000"),
    *("topics.partitions.partition==0", "response.error_code==0", "error_code!=0"),
    *("cluster_id==null", "cluster_id!=null", "records!=null", "host==host*"),
    *("group_id=='billing'", "name==*name*", "topic_id==AAAAAAAAAAAAAAAAAAAAAA", "value>0.5"),
    *("validate_only==true", "validate_only!=true", "assignment==null", "hmac==00*", "acks<0"),
    *("producer_id==-1", "producer_id==9223372036854775807", "producer_id<0", "broker_ids!=1"),
    *("~api Fetch & ~lat >1ms", "~api Fetch ~v 12", "~api Fetch | ~api Vote & !~v 0"),
    *("!(~api Fetch | ~response)", "(~api Fetch)", "! ! ~api Vote", "voter_id==+3_000"),
    *('~client "a p"', r'~client "a\"p"', "member_id==null", "new_isr!=1", "group_id<h"),
)

FAULTS = (
    *("", "  ", "~lst 3", "~api", "~api Fetch &", "~api Fetch & ~lst 3", "foo bar", "foo", "foo=="),
    *(
        "~api Fetch )",
        "(~api Fetch",
        "~api Nope",
        "  ~api   Nope",
        "~v x",
        "~lat 5 parsecs",
        "~lat",
    ),
    *("~api Fetch foo bar", "no_such_field==1", "~api Fetch & no_such_field==1", "records==1"),
    *(
        "!",
        "~err NO_SUCH",
        "~node x",
        "~connection x",
        "~node 5-3",
        '~client "open',
        "~api Fetch | | ~v 1",
        "&",
    ),
    *(
        "~api Fetch ~response x",
        "~size 3 miles",
        "~key -",
    ),
)

MATCHES = """
const [expressions, count] = arguments;
return expressions.map((source) => {
  const test = parseExpression(source);
  return [...Array(count).keys()].map(test);
});
"""
COLUMNS = """
return arguments[0].map((source) => {
  try { parseExpression(source); return null; } catch (error) { return error.column; }
});
"""


def flows() -> Iterator[Flow]:
    yield from example_flows()
    produce = ProduceRequest(
        acks=0,
        topic_data=[
            TopicProduceData(name="orders", partition_data=[PartitionProduceData(index=1)])
        ],
    )
    yield flow_of(produce, None, 9, number=1, client_id=None)
    fetch = FetchRequest(topics=[FetchTopic(topic="orders", partitions=[FetchPartition()])])
    yield flow_of(fetch, FetchResponse(error_code=6), 12, number=2, client_id="bob bob", peer=3000)
    yield flow_of(fetch, None, 12, number=3, client_id="a p", peer=3001, node_id=None)
    commit = OffsetCommitRequest(group_id="billing", topics=[])
    yield flow_of(commit, OffsetCommitResponse(topics=[]), 8, number=4, client_id='a"p')
    yield flow_of(VoteRequest(voter_id=3000), VoteResponse(error_code=41), 2, number=5, latency=2.0)
    unread = flow_of(fetch, MetadataResponse(topics=[]), 12, number=6)
    unread.request_copy = b"\\0\\1"
    yield unread


def test_the_page_matches_the_same_flows(chromium: Chrome, tmp_path: Path) -> None:
    collected = collect(flows())
    kept = [flow for _, flow in collected.flows()]
    open_trace(chromium, tmp_path, collected)
    found = chromium.execute_script(MATCHES, EXPRESSIONS, len(kept))
    wrong, untelling = [], []
    for expression, answers in zip(EXPRESSIONS, found, strict=True):
        parsed = parse(expression)
        expected = [parsed.test(MatchTarget.of_flow(DecodedFlow(masked(flow)))) for flow in kept]
        untelling += [expression] * (len(set(expected)) == 1)
        wrong += [
            (expression, flow.api, flow.version, answer, right)
            for flow, answer, right in zip(kept, answers, expected, strict=True)
            if answer != right
        ]
    assert wrong == []
    assert untelling == ["~client *"]


def test_faults_are_at_the_same_column(chromium: Chrome, tmp_path: Path) -> None:
    open_trace(chromium, tmp_path, collect([flow_of(FetchRequest(), None, 12)]))
    columns = []
    for fault in FAULTS:
        try:
            parse(fault)
        except BadExpression as error:
            columns.append(error.column)
    assert chromium.execute_script(COLUMNS, FAULTS) == columns


def test_the_page_has_every_term(chromium: Chrome, tmp_path: Path) -> None:
    open_trace(chromium, tmp_path, collect([flow_of(FetchRequest(), None, 12)]))
    terms = chromium.execute_script("return [Object.keys(TERMS), Object.keys(FLAGS)]")
    assert [set(names) for names in terms] == [set(TERMS), set(FLAGS)]
