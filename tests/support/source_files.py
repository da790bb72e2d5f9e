"""The repository's Python files as the rules of the house read them, each parsed once."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.support.paths import ROOT

FOLDERS = ("kwire", "tests", "fixtures", "benchmarks", "docs")
"""The folders of Python files."""

_NESTS = ("body", "orelse", "finalbody", "handlers", "cases")


@dataclass(frozen=True, slots=True)
class Definition:
    """A module, class or function. kind: one of these words. lines: of code, without comments."""

    kind: str
    name: str
    line: int
    docstring: str | None
    lines: int = 0


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file. imports: the modules that it imports, and the names that it imports from them."""

    path: Path
    definitions: tuple[Definition, ...]
    imports: frozenset[str]

    def at(self, definition: Definition) -> str:
        """Return the place of a definition, as `kwire/errors.py:12 KwireError`."""
        return f"{self.path.relative_to(ROOT)}:{definition.line} {definition.name}"


def source_files(*folders: str) -> list[SourceFile]:
    """Return the Python files below folders of the repository, by default below all of them."""
    return [
        source_file(path)
        for folder in folders or FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]


@cache
def source_file(path: Path) -> SourceFile:
    """Parse a file."""
    text = path.read_text()
    module = ast.parse(text)
    lines = text.splitlines()
    definitions = [Definition("module", "module", 1, ast.get_docstring(module))]
    imports: set[str] = set()
    for node in _statements(module.body):
        if isinstance(node, ast.ClassDef):
            docstring = ast.get_docstring(node)
            definitions.append(Definition("class", node.name, node.lineno, docstring))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            definitions.append(_function(node, lines))
        elif isinstance(node, ast.Import):
            imports.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            imports.add(node.module or "")
            imports.update(f"{node.module}.{alias.name}" for alias in node.names)
    return SourceFile(path, tuple(definitions), frozenset(imports))


def _statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    for statement in body:
        yield statement
        for nest in _NESTS:
            yield from _statements(getattr(statement, nest, ()))


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> Definition:
    docstring = ast.get_docstring(node)
    body = node.body[1:] if docstring else node.body
    first = (body or node.body)[0].lineno
    code = lines[first - 1 : node.end_lineno]
    length = sum(1 for line in code if not line.lstrip().startswith("#"))
    return Definition("function", node.name, node.lineno, docstring, length)
