"""docs/kips/kip-866.md: what it shows of the proxy is so."""

import re

from kwire.capture.reading import read_capture
from kwire.proxy import DecodedFlow, Flow, summarize
from kwire.proxy.capture.records import events
from kwire.proxy.flows.language import parse
from tests.support.paths import DOCS, FIXTURES

PAGE = DOCS / "kips" / "kip-866.md"


def test_the_lines_of_the_proxy_are_those_of_the_capture() -> None:
    capture = FIXTURES / "migrating" / "recordings" / "kafka-3.9.1" / "rpcs.avro"
    flows = [flow for flow in events(read_capture(capture)) if isinstance(flow, Flow)]
    lines = {f"{flow.api} v{flow.version} {summarize(DecodedFlow(flow))}" for flow in flows}
    shown = re.findall(r"^3000 → \d +(\w+ v\d) .*?(KRaft controller .*)$", PAGE.read_text(), re.M)
    assert len(shown) == 4
    assert {f"{api} {summary}" for api, summary in shown} <= lines


def test_the_expressions_are_of_the_filter_language() -> None:
    table = PAGE.read_text().partition("| expression | selects |")[2]
    expressions = re.findall(r"^\| `(.+?)` \|", table, re.M)
    assert len(expressions) == 4
    for expression in expressions:
        parse(expression)
