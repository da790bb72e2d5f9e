"""The repository's Python files as the rules of the house read them, each parsed once."""

from __future__ import annotations

import ast
import re
import sys
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
    """A module, class, function, or alias of a type at the top of a module.

    kind: one of these words. lines: of code, without comments.
    """

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
        elif node in module.body and (alias := _alias(node)):
            definitions.append(Definition("alias", alias, node.lineno, None))
        elif isinstance(node, ast.Import):
            imports.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            imports.add(node.module or "")
            imports.update(f"{node.module}.{alias.name}" for alias in node.names)
    return SourceFile(path, tuple(definitions), frozenset(imports))


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        for nest in _NESTS:
            yield from _statements(getattr(statement, nest, ()))


def _alias(node: ast.stmt) -> str | None:
    """Return the name that a statement gives a type; None if it does not.

    An Annotated type of a command's option or of a field is a declaration of that, not an alias.
    """
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            named_as_class = re.fullmatch(r"_*[A-Z]\w*[a-z]\w*", name)
            return name if named_as_class and _is_type(value) else None
        case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias")):
            return name
    if sys.version_info >= (3, 12) and isinstance(node, ast.TypeAlias):
        return node.name.id
    return None


def _is_type(value: ast.expr) -> bool:
    match value:
        case ast.Subscript(value=ast.Name(id="Annotated")):
            return False
        case ast.Call(func=ast.Name(id="NewType")) | ast.BinOp(op=ast.BitOr()):
            return True
    return isinstance(value, ast.Name | ast.Attribute | ast.Subscript)


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> Definition:
    docstring = ast.get_docstring(node)
    body = node.body[1:] if docstring else node.body
    first = (body or node.body)[0].lineno
    code = lines[first - 1 : node.end_lineno]
    length = sum(1 for line in code if not line.lstrip().startswith("#"))
    return Definition("function", node.name, node.lineno, docstring, length)
