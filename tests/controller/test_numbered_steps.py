"""The numbered steps of a docstring stand as `# 3.` at the code that does them."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

from kwire import controller

ROOMS = ("raft", "handlers", "state_machine", "replicas", "configs", "quotas")
SOURCES = sorted(
    path for room in ROOMS for path in (Path(controller.__file__).parent / room).rglob("*.py")
)


def steps(docstring: str) -> set[int]:
    """The numbers of the steps that are not done in another file, which the step then names."""
    found = re.findall(r"^(\d+)\. +((?:.|\n(?!\n|\d+\. ))*)", docstring, re.MULTILINE)
    return {int(number) for number, text in found if not re.search(r"`[a-z_]+\.[a-z_]+", text)}


def marks(lines: list[str]) -> set[int]:
    """The numbers in comments such as `# 3.`, `# 2., 3.` and `# 3.–6.`."""
    source = io.StringIO("".join(lines))
    numbers: set[int] = set()
    for token in tokenize.generate_tokens(source.readline):
        if token.type == tokenize.COMMENT:
            for first, last in re.findall(r"\b(\d+)\.(?:–(\d+)\.)?", token.string):
                numbers |= set(range(int(first), int(last or first) + 1))
    return numbers


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_step_is_marked_where_it_is_done(source: Path) -> None:
    text = source.read_text(encoding="utf-8")
    marked = marks(text.splitlines(keepends=True))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
            missing = steps(ast.get_docstring(node) or "") - marked
            assert not missing, f"{getattr(node, 'name', source.name)}: {missing}"
