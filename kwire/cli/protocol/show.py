"""`kwire protocol show`: all APIs by release, a message's fields, and how kwire declares it."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kwire.cli.errors import WrongUsage
from kwire.cli.options import argument, flag, option, reads_options
from kwire.cli.output import Column, Output, OutputForm, OutputOptions, Table, text_columns
from kwire.cli.protocol.commands import RELEASE_OPTION, held_in

if TYPE_CHECKING:
    from kwire.codec.declaration import Message
    from kwire.codec.fields import FieldType, StructClass
    from kwire.protocol import MessageFact


def declaration_text(cls: type[Message]) -> str:
    """Return the source of a class and of every struct inside it, in the module's order."""
    classes = {struct: inspect.getsource(struct).rstrip() for struct in dict.fromkeys(_inside(cls))}
    ordered = sorted(classes, key=lambda struct: inspect.getsourcelines(struct)[1])
    return "\n\n\n".join(classes[struct] for struct in ordered)


def _inside(cls: StructClass) -> Iterator[StructClass]:
    for field in cls.fields.values():
        yield from _structs(field.type)
    yield cls


def _structs(node: FieldType) -> Iterator[StructClass]:
    from kwire.codec.fields import ArrayOf, Nullable, StructOf

    match node:
        case StructOf(cls=cls):
            yield from _inside(cls)
        case ArrayOf(element=inner) | Nullable(inner=inner):
            yield from _structs(inner)


@reads_options
def show(
    *,
    message: str | None = argument(
        default=None, metavar="[MESSAGE]", help="A message, an API or its key: Vote, 52."
    ),
    release: str | None = RELEASE_OPTION,
    version: int | None = option(
        metavar="N", help="Show this version, field by field, as on the wire."
    ),
    declaration: bool = flag("--declaration", help="Show the Python that declares the message."),
    compiled: bool = flag("--compiled", help="Show the Python that reads and writes --version."),
    every: bool = flag("--all", help="List records, headers and other data too."),
    printed: OutputOptions,
) -> None:
    """Show all APIs with their versions in each release, or the fields of a message.

    The fields are those of the newest release that has the message, or of --release. Behind a type
    stand the versions that have the field, and then what the field is for. With --version,
    --declaration and --compiled it is kwire's own declaration that is shown, which joins the
    versions of all releases.

    \b
    kwire protocol show
    kwire protocol show AddRaftVoter
    kwire protocol show FetchRequest --release 3.9.1
    kwire protocol show FetchResponse --version 17
    kwire protocol show FetchResponse --version 17 --compiled
    """
    output = printed.output(both=True)
    own = [name for name, chosen in _own(version, declaration, compiled) if chosen]
    if message is None and own:
        raise WrongUsage(f"{own[0]} belongs to one message.")
    if message is not None and every:
        raise WrongUsage("name one message, or give --all.")
    if declaration and (version is not None or compiled):
        raise WrongUsage("--declaration stands alone: it has all versions.")
    if compiled and version is None:
        raise WrongUsage("--compiled needs a --version.")
    if output.form is not OutputForm.TABLE and (declaration or compiled):
        raise WrongUsage(f"{own[-1]} prints Python, and no other form.")
    if message is None:
        _list(output, release, every=every)
    elif declaration:
        _show_declaration(message)
    elif compiled and version is not None:
        _show_compiled(message, version)
    elif version is not None:
        _show_version(message, version, output)
    else:
        _show_fields(message, release, output)


def _own(version: int | None, declaration: bool, compiled: bool) -> tuple[tuple[str, bool], ...]:
    """Return the options that are about kwire's own declaration, each with True if it is given."""
    return (
        ("--version", version is not None),
        ("--declaration", declaration),
        ("--compiled", compiled),
    )


def _list(output: Output, release: str | None, *, every: bool) -> None:
    """Print messages with a column of versions for each release; in JSON that is an object."""
    from kwire.protocol.overview import overview

    rows = overview(every=every)
    releases = [name for name in rows[0].versions if held_in((name,), release)]
    shown = [row for row in rows if any(row.versions[name] for name in releases)]
    plain = [
        {
            "key": row.key,
            "name": row.name,
            "kind": row.kind,
            "flexible": row.flexible,
            "listeners": list(row.listeners),
            **({"versions": row.versions} if output.is_document else row.versions),
        }
        for row in shown
    ]
    versions = ["versions"] if output.is_document else releases
    columns = (
        Column(key="key", right=True),
        Column(key="name"),
        Column(key="kind", wide=not every),
        *(Column(key=name) for name in versions),
        *text_columns("flexible", "listeners"),
    )
    output.show(Table("messages", columns, plain, key="name"))


def _show_fields(name: str, release: str | None, output: Output) -> None:
    import msgspec

    rows = _layouts(name, release)

    def draw() -> None:
        from kwire.cli.protocol.field_tree import fields_tree
        from kwire.cli.screen import screen

        console = screen()
        for row in rows:
            console.print(fields_tree(row, console.width))

    output.show_document({"messages": [msgspec.to_builtins(row) for row in rows]}, draw)


def _layouts(name: str, release: str | None) -> list[MessageFact]:
    """Return the messages of a name, in the newest release that has them. Raises CommandFailed."""
    from kwire.cli.errors import CommandFailed
    from kwire.protocol import facts
    from kwire.protocol.document import described
    from kwire.protocol.release_facts import known_release, named

    wanted = named(name)
    layouts = {
        fact.name: fact
        for fact in facts().messages
        if fact.name in wanted and held_in(fact.releases, release)
    }
    if not layouts:
        assert release is not None
        raise CommandFailed(f"Kafka {known_release(release)} has no {wanted[0]}.")
    return [described(fact) for fact in layouts.values()]


def _show_version(name: str, version: int, output: Output) -> None:
    from kwire.cli.protocol.construct_tree import as_data, as_tree
    from kwire.cli.screen import screen
    from kwire.messages.registry import message
    from kwire.protocol.release_facts import named

    classes = [message(each) for each in named(name)]
    layouts = [{"name": cls.__name__, "fields": as_data(cls.at(version))} for cls in classes]

    def draw() -> None:
        for cls in classes:
            screen().print(as_tree(f"{cls.__name__} v{version}", cls.at(version)))

    output.show_document({"version": version, "messages": layouts}, draw)


def _show_declaration(name: str) -> None:
    from kwire.messages.registry import message
    from kwire.protocol.release_facts import named

    _print_python("\n\n".join(declaration_text(message(each)) for each in named(name)))


def _show_compiled(name: str, version: int) -> None:
    from kwire.codec.compiler import source
    from kwire.messages.registry import message
    from kwire.protocol.release_facts import named

    texts = [source(message(each).reference(version)) for each in named(name)]
    _print_python("\n\n".join(texts))


def _print_python(text: str) -> None:
    """Print source, in colours in a terminal, character for character in a pipe."""
    from kwire.cli.screen import screen

    console = screen()
    if not console.is_terminal:
        sys.stdout.write(text.rstrip() + "\n")
        return
    from rich.syntax import Syntax

    console.print(Syntax(text.rstrip(), "python", background_color="default", word_wrap=True))
