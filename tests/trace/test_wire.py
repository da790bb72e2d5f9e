"""The page's decoder gives the trees that kwire prints, of every API and version."""

from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome

from kwire.cli.flows.record_tree import record_trees
from kwire.proxy import DecodedFlow, Tree, flow_trees
from kwire.trace.rows import masked
from tests.support.browser import chromium
from tests.support.trace_pages import collect, example_flows, open_trace

__all__ = ["chromium"]

TREES = """
const bare = ([name, value, children]) => [name, value, children.map(bare)];
return [...TRACE.flows.n.keys()].map((i) => [0, 1].map((direction) => {
  try { const tree = treeOf(i, direction); return tree && bare(tree); }
  catch (error) { return String(error); }
}));
"""


def as_lists(tree: Tree) -> list[Any]:
    return [tree.name, tree.value, [as_lists(child) for child in tree.children]]


def test_trees_of_all_messages_are_those_of_kwire(chromium: Chrome, tmp_path: Path) -> None:
    flows = list(example_flows())
    open_trace(chromium, tmp_path, collect(flows))
    shown = chromium.execute_script(TREES)
    assert len(shown) == len(flows)
    for flow, trees in zip(flows, shown, strict=True):
        decoded = DecodedFlow(masked(flow))
        expected = [as_lists(tree) for tree in flow_trees(decoded, record_trees)]
        answered = [tree for tree in trees if tree is not None]
        assert answered == expected, f"{flow.api} v{flow.version}"
