"""Checks the code of Markdown pages with kwire's own parsers: expressions, fields, commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import typer

from command_tree import is_group, tree
from kwire.errors import InvalidValue
from kwire.messages.registry import all_messages
from kwire.proxy.flows.field_paths import check_field
from kwire.proxy.flows.language import parse
from kwire.proxy.flows.terms import FLAGS, TERMS
from tests.support.markdown import CodeBlock
from tests.support.paths import ROOT

EXPRESSION = re.compile(r"[!(]*~[a-z]|[a-z_][\w.]*[=!<>]=\S")
EDIT = re.compile(r"(?:\w+Re(?:quest|sponse)\.)?([a-z_]+(?:\.\w+)+)=\S.*")
"""A field that is set, with an index in its path: `topics.0.name=orders`."""
MESSAGE = re.compile(r"([A-Z]\w+(?:Request|Response))(?: v\d+)?")
NAME = re.compile(r"[a-z]\w*(?:\.\w+)*\.[A-Za-z_]\w*|[a-z][a-z0-9]*_\w*[a-z]")
"""A name with a dot, or one of several words: of a field, a key, a module, a file, a function."""
USAGE_ERROR: Any = typer.BadParameter.__base__
"""Of the click that typer brings."""
OTHERS = re.compile(
    r"(org\.|kafka\.|sun\.)"  # Java's classes, and fields of Wireshark
    r"|kafka_|.*_(total|seconds)$"  # metrics: tests/exporter and tests/proxy hold their pages
    r"|spark\.|net\."  # Spark's and Linux's
    r"|.*\.(yaml|json|csv|properties|avro|pcap|example)$"  # files and hosts of whoever reads
)
"""Names that are not kwire's."""
OPTION = re.compile(r"--[a-z][\w-]+(?=[ =,]|$)")
PLACEHOLDER = re.compile(r"\[?[A-Z@]+|.*…")


def span_problem(span: str) -> str | None:
    """Return what kwire's own parser says against a span of code; None if that has no objection."""
    span = span.replace("\\|", "|")
    if span.startswith("kwire "):
        return command_problem(words_of(span)[0][1:], is_whole=False)
    if span.startswith("--"):
        unknown = [flag for flag in OPTION.findall(span) if flag not in all_flags()]
        return f"no command has {', '.join(unknown)}" if unknown else None
    try:
        if EXPRESSION.match(span):
            if span not in (*TERMS, *FLAGS):
                parse(span)
        elif (edit := EDIT.fullmatch(span)) and re.search(r"\.\d", edit[1]):
            check_field(re.sub(r"\.\d+", "", edit[1]))
    except InvalidValue as error:
        return str(error)
    if message := MESSAGE.fullmatch(span):
        return None if message[1] in names_of_messages() else "no message of this name"
    return None if not NAME.fullmatch(span) or is_name(span) else "nothing has this name"


def is_name(name: str) -> bool:
    """True for a field, a module and what is in it, a file, and a name that the code has."""
    return (
        is_field(name)
        or bool(OTHERS.match(name))
        or name in names()
        or name in files()
        or name in names_of_messages()
        or is_in_module(name)
        or is_attribute(name)
    )


def is_attribute(name: str) -> bool:
    """True for `fault.hits`: an attribute that the code has, of something that is no field."""
    thing, _, attribute = name.partition(".")
    return f".{attribute}" in names() and "." not in attribute and not is_field(thing)


def is_field(path: str) -> bool:
    """True for the path of a field, or for the end of one."""
    try:
        check_field(path)
    except InvalidValue:
        return path in structs()
    return True


@cache
def structs() -> frozenset[str]:
    """Return the names of the fields of all messages that hold structs, such as `topics`."""
    return frozenset(name for message in all_messages() for name in message.fields)


def is_in_module(path: str) -> bool:
    """True for the dotted name of a module of kwire, or of what it has."""
    parts = path.split(".")
    for length in range(len(parts), 0, -1):
        try:
            value: Any = import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            if not hasattr(value, part):
                return part in getattr(value, "__annotations__", ())
            value = getattr(value, part)
        return True
    return False


@cache
def names_of_messages() -> frozenset[str]:
    """Return the names of all messages, as Kafka has them and as filters' methods have them."""
    whole = {message.__name__ for message in all_messages()}
    whole |= {re.sub(r"(Record|Message|Value|Key)$", "", name) for name in whole}
    return frozenset(whole | {re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower() for name in whole})


@cache
def files() -> frozenset[str]:
    """Return the names of all files of the repository that a page may name, and of modules."""
    folders = (ROOT / name for name in (".github", "kwire", "tests", "fixtures", "docs"))
    paths = [*ROOT.iterdir(), *(path for folder in folders for path in folder.rglob("*"))]
    return frozenset(name for path in paths for name in (path.name, path.stem))


@cache
def names() -> frozenset[str]:
    """Return the words of all code, words joined by dots, and attributes with their dot."""
    folders = [ROOT / name for name in ("kwire", "fixtures")]
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    text = "\n".join(path.read_text() for path in paths if "messages" not in path.parts)
    words = re.findall(r"[a-z]\w*(?:\.\w+)*", text)
    return frozenset([*words, *(f".{word.rpartition('.')[2]}" for word in words)])


@cache
def all_flags() -> frozenset[str]:
    """Return the options of all commands."""
    return frozenset(flag for command in tree().values() for flag in flags_of(command))


def flags_of(command: Any) -> set[str]:
    return {
        flag for option in command.params for flag in (*option.opts, *option.secondary_opts)
    } | {"--help", "-h", "--debug", "--version"}


def commands_of(block: CodeBlock) -> Iterator[list[str]]:
    """Yield the words of each `kwire` in a block of shell lines, from `kwire` on."""
    for line in shell_lines(block):
        for words in words_of(line):
            while words and "=" in words[0]:
                words = words[1:]
            if words and words[0].rpartition("/")[2] == "kwire":
                yield words


def shell_lines(block: CodeBlock) -> list[str]:
    """Return the lines that a reader types: those behind `$ `, else all of them.

    A line goes on behind a backslash, and until a quotation ends.
    """
    lines = re.sub(r"\\\n\s*", "", block.text).splitlines()
    if any(line.startswith("$ ") for line in lines):
        return [line[2:] for line in lines if line.startswith("$ ")]
    whole: list[str] = []
    for line in lines:
        if whole and whole[-1].count('"') % 2:
            whole[-1] += " " + line.strip()
        else:
            whole.append(line)
    return [line for line in whole if re.match(r"(\S*/)?kwire |.*[|(] ?kwire ", line)]


def words_of(line: str) -> list[list[str]]:
    """Return the words of each command of a shell's line, without where its output goes."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;()<>")
    lexer.whitespace_split = True
    lexer.commenters = "#"
    commands: list[list[str]] = [[]]
    redirected = False
    for word in lexer:
        if set(word) <= set("|&;()<>"):
            redirected = "<" in word or ">" in word
            if redirected and commands[-1][-1:] == ["2"]:
                commands[-1].pop()
            commands += [] if redirected else [[]]
        elif redirected:
            redirected = False
        else:
            commands[-1].append(word)
    return [words for words in commands if words]


def command_problem(words: Sequence[str], *, is_whole: bool) -> str | None:
    """Return what is wrong with the words behind `kwire`; None if the command takes them.

    is_whole: the values of options and all arguments have to be there, too.
    """
    words = [
        word
        for before, word in zip(("", *words), words, strict=False)
        if word not in ("…", "...") or before.startswith("--")
    ]
    path: list[str] = []
    while words and " ".join([*path, words[0]]) in tree():
        path.append(words[0])
        words = words[1:]
    if not path:
        is_known = not words or words[0].startswith("-") or PLACEHOLDER.fullmatch(words[0])
        return None if is_known else f"kwire has no command {words[0]}"
    command = tree()[" ".join(path)]
    if is_group(command) and words and not words[0].startswith("-"):
        return f"kwire {' '.join(path)} has no command {words[0]}"
    if is_whole:
        return _parse_problem(command, path, words)
    unknown = [word for word in words if word.startswith("-") and word[1:]]
    unknown = [word for word in unknown if word.partition("=")[0] not in flags_of(command)]
    return f"kwire {' '.join(path)} has no {', '.join(unknown)}" if unknown else None


def _parse_problem(command: Any, path: Sequence[str], words: Sequence[str]) -> str | None:
    context = typer.Context(command, info_name=" ".join(path))
    try:
        values, rest, _ = command.make_parser(context).parse_args([*words])
    except USAGE_ERROR as error:
        return str(error.format_message())
    missing = [
        option.name
        for option in command.params
        if option.required and values.get(option.name) in (None, ())
    ]
    return f"too much: {rest}" if rest else f"missing: {missing}" if missing else None
