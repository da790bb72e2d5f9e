"""Sentences name commands and options on the command line, and parameters in Python."""

import ast
import re
from collections.abc import Iterator

import pytest

from command_tree import flags, leaves
from kwire.admin import AdminClient
from kwire.admin.errors import ReadOnly
from kwire.admin.registry import OPERATIONS
from kwire.cli.wording import OPTIONS, command_words
from kwire.errors import UnsupportedEndpointType
from tests.support.cli.command import Command
from tests.support.paths import ROOT

OPTION = re.compile(r"(?<![\w-])--[a-z]")
COMMAND = re.compile(r"`kwire [^`]*`|kwire [a-z]+ [a-z-]*[^:,]*")
"""A whole command: its options are right also in a sentence of the library."""

PARAMETER = re.compile(r"`([a-z][a-z_]*)(=True)?`")
PYTHON_ONLY = {"read_only"}
"""Parameters that no command has: a command refuses before, in words of its own."""

NAMES = {row.name for row in OPERATIONS}


def raised(*folders: str) -> Iterator[tuple[str, str]]:
    """Yield where an error is raised, and the constant parts of its sentence."""
    files = [path for folder in folders for path in (ROOT / "kwire" / folder).rglob("*.py")]
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Raise) and node.exc is not None:
                parts = [one.value for one in ast.walk(node.exc) if isinstance(one, ast.Constant)]
                text = "".join(part for part in parts if isinstance(part, str))
                yield f"{path.relative_to(ROOT)}:{node.lineno}", text


def rooms() -> list[str]:
    """The folders below `cli`."""
    folders = [path for path in (ROOT / "kwire").iterdir() if path.is_dir()]
    return [path.name for path in folders if path.name not in ("cli", "__pycache__", "messages")]


def test_no_sentence_of_the_library_names_an_option() -> None:
    wrong = [
        f"{place}: {text}"
        for place, text in raised(*rooms())
        if OPTION.search(COMMAND.sub("", text))
    ]
    assert wrong == []


def test_nothing_that_a_command_prints_names_an_operation_of_python() -> None:
    """Help texts, too. `module:function` is where a command is imported from."""
    methods = re.compile(rf"(?<![\w:.`])({'|'.join(name for name in NAMES if '_' in name)})(?!\w)")
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}"
        for path in (ROOT / "kwire" / "cli").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant)
        if isinstance(node.value, str) and methods.search(node.value)
    ]
    assert wrong == []


def parameters_in(*folders: str) -> set[str]:
    """Return what the sentences of some rooms have in backticks."""
    return {found[1] for _, text in raised(*folders) for found in PARAMETER.finditer(text)}


def test_what_the_library_names_has_an_option_or_a_command() -> None:
    """A parameter in backticks that is neither would be told to a user of a command as it is."""
    named = parameters_in("admin", "logdir")
    assert named
    assert named - OPTIONS.keys() - NAMES - PYTHON_ONLY == set()
    sources = [
        path.read_text() for room in rooms() for path in (ROOT / "kwire" / room).rglob("*.py")
    ]
    named_anywhere = {found[1] for source in sources for found in PARAMETER.finditer(source)}
    assert OPTIONS.keys() - named_anywhere == set()


def test_each_option_is_one_of_a_command() -> None:
    assert set(OPTIONS.values()) <= {flag for path in leaves() for flag in flags(path)}


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("`create_topics` asks brokers", "`kwire topics create` asks brokers"),
        ("give `allow_unlisted=True`", "give --allow-unlisted"),
        ("give it as `bootstrap_controllers`", "give it as --bootstrap-controller"),
        ("give `bootstrap_servers`, or wait", "give --bootstrap-server, or wait"),
        ("remove `lend_rights`", "remove `lend_rights`"),
        ("run `kwire storage format` first", "run `kwire storage format` first"),
    ],
)
def test_parameters_and_operations_become_options_and_commands(sentence: str, told: str) -> None:
    assert command_words(sentence) == told


async def test_python_reads_its_own_names() -> None:
    async with AdminClient(bootstrap_controllers="127.0.0.1:1") as admin:
        said = r"for controllers, .*: give `bootstrap_servers`, or `allow_unlisted=True`$"
        with pytest.raises(UnsupportedEndpointType, match=said):
            await admin.create_topics([])
    async with AdminClient(bootstrap_servers="127.0.0.1:1", read_only=True) as admin:
        with pytest.raises(ReadOnly, match=r"take one without `read_only`$"):
            await admin.create_topics([])


def test_json_has_the_words_of_the_command_line_too(kwire: Command) -> None:
    run = kwire(
        "topics", "delete", "orders", "--yes", "--json", "--bootstrap-controller", "127.0.0.1:1"
    )
    assert run.json["message"].endswith("give --bootstrap-server, or --allow-unlisted")
