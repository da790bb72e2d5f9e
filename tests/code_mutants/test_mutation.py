"""Mutations are small changes at the right place, of code that runs, and are applied to it only."""

import ast
from pathlib import Path

import pytest

from code_mutants.mutation import Mutation, mutations
from code_mutants.rooms import ROOMS
from tests.support.paths import ROOT

CHANGES: dict[str, set[tuple[str, str]]] = {
    "return a == b": {("a == b", "(a != b)"), ("return a == b", "return None")},
    "return True": {("True", "False")},
    "return 'text'": set(),
    "b = a < 3": {("a < 3", "(a <= 3)"), ("3", "4")},
    "b = a < b < 3": {("3", "4")},
    "b = a is not None and c": {
        ("a is not None and c", "(a is not None or c)"),
        ("a is not None", "(a is None)"),
    },
    "b = not a": {("not a", "(a)")},
    "b = a // 2": {("a // 2", "(a * 2)"), ("2", "3")},
    "b = 1 if a else c": {("1 if a else c", "(c if a else 1)"), ("1", "2")},
    "b += c": {("b += c", "b = c")},
    "a.b(c)": {("a.b(c)", "pass")},
    "raise a": {("raise a", "pass")},
    "while a: break": {("break", "continue")},
    "while a: continue": {("continue", "break")},
    # What is for readers only, or would change a text.
    "b: Literal[1] = c": set(),
    "b = f'{a + 1}'": set(),
    "'''It has 1 + 2.'''": set(),
}


def mutations_of(folder: Path, text: str) -> list[Mutation]:
    """Return the mutations of a module with this text, which is then in the folder."""
    path = folder / "module.py"
    path.write_text(text)
    return mutations(folder, path)


def applied(folder: Path, text: str, mutation: Mutation) -> str:
    """Return the text of the mutant."""
    path = folder / mutation.path
    path.write_text(text)
    mutation.apply(folder)
    return path.read_text()


def test_each_statement_has_its_mutations(tmp_path: Path, subtests: pytest.Subtests) -> None:
    for statement, expected in CHANGES.items():
        with subtests.test(statement):
            found = mutations_of(tmp_path, f"def f(a, b, c):\n    {statement}\n")
            assert {(m.before, m.after) for m in found} == expected


def test_only_bodies_of_functions_are_changed(tmp_path: Path) -> None:
    text = """\
LIMIT = 1 + 2

@cache(3)
def outer(size: Literal[4] = 5) -> Literal[6]:
    def inner(size: Literal[7]):
        pass

class Thing:
    limit = 8

    async def method(self):
        self.limit = 9
"""
    assert [(m.line, m.before, m.after) for m in mutations_of(tmp_path, text)] == [(12, "9", "10")]


def test_places_are_right_behind_characters_of_several_bytes(tmp_path: Path) -> None:
    text = """\
NAME = "é🙂"  # ü

def f(a, b):
    c = "é🙂" if a == "ß" else 1
    if (a and
            "ß" in b):
        return 2
"""
    mutants = {m.after: applied(tmp_path, text, m) for m in mutations_of(tmp_path, text)}
    assert mutants == {
        "(1 if a == 'ß' else 'é🙂')": text.replace(
            '"é🙂" if a == "ß" else 1', "(1 if a == 'ß' else 'é🙂')"
        ),
        "(a != 'ß')": text.replace('a == "ß"', "(a != 'ß')"),
        "2": text.replace("else 1", "else 2"),
        "(a or 'ß' in b)": text.replace('a and\n            "ß" in b', "(a or 'ß' in b)"),
        "('ß' not in b)": text.replace('"ß" in b', "('ß' not in b)"),
        "3": text.replace("return 2", "return 3"),
    }


def test_another_text_is_not_changed(tmp_path: Path) -> None:
    text = "def f(a):\n    return a + 1\n"
    (mutation, *_) = mutations_of(tmp_path, text)
    other = text.replace("def f", "def function")
    with pytest.raises(ValueError, match=r"module.py:2 has another text than 'return a \+ 1'"):
        applied(tmp_path, other, mutation)
    assert (tmp_path / "module.py").read_text() == other


def test_every_mutant_is_another_program() -> None:
    path = ROOT / "fixtures/code_mutants/mutation.py"
    text = path.read_text()
    found = mutations(ROOT, path)
    assert len(found) > 30
    for m in found:
        mutant = text[: m.start] + m.after + text[m.start + len(m.before) :]
        assert ast.dump(ast.parse(mutant)) != ast.dump(ast.parse(text)), m


def test_the_rooms_have_files_and_tests() -> None:
    for room in ROOMS:
        assert all(list(ROOT.glob(pattern)) for pattern in room.files), room.name
        assert all((ROOT / test).exists() for test in room.tests), room.name
    assert sum(room.count for room in ROOMS) == 100
