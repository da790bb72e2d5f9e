"""Plain words, as far as a machine can tell: how docstrings open, names that mean one thing."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.package import PACKAGE, is_generated, sources
from tests.support.paths import ROOT

RIDDLE = re.compile(r"(What|Whether|Where|Who|Whom|Whose|Which|When|Why|How|That)\b")
"""A docstring that opens so asks the reader to turn it round."""


def documented(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the docstring of a module and of all that is defined in it."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, kinds) and (text := ast.get_docstring(node)):
            yield getattr(node, "name", "module"), text


FILES = [
    path
    for folder in ("kwire", "tests", "fixtures", "benchmarks", "docs")
    for path in sorted((ROOT / folder).rglob("*.py"))
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_docstrings_say_what_is_done(path: Path) -> None:
    riddles = {name: text for name, text in documented(path) if RIDDLE.match(text)}
    assert not riddles


def test_a_class_name_means_one_thing() -> None:
    """Among the classes of the package that are written by hand; two alike need a longer name."""
    modules = defaultdict(list)
    for path in sources():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not is_generated(path):
                modules[node.name].append(str(path.relative_to(PACKAGE)))
    assert not {name: files for name, files in modules.items() if len(files) > 1}
