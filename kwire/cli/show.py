"""`kwire show`: the declarations of Kafka's messages, for all versions or for one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kwire.cli.errors import WrongUsage

if TYPE_CHECKING:
    from kwire.codec.declaration import Message


def show(
    message: Annotated[
        str | None,
        typer.Argument(metavar="MESSAGE", help="Its schema name, such as AddRaftVoterRequest."),
    ] = None,
    version: Annotated[
        int | None, typer.Option(metavar="N", help="Show the fields that this version has.")
    ] = None,
    compiled: Annotated[
        bool, typer.Option("--compiled", help="Show the Python that reads and writes --version.")
    ] = False,
    every: Annotated[bool, typer.Option("--list", help="List all messages instead.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")] = False,
) -> None:
    """Show how a message is declared.

    Without --version the declaration that all its versions share is printed, with it the construct
    tree of that version: what stands on the wire, in its order.

    \b
    kwire show AddRaftVoterRequest
    kwire show FetchResponse --version 17
    kwire show FetchResponse --version 17 --compiled
    kwire show --list
    """
    if every == bool(message):
        raise WrongUsage("name one message, or give --list.")
    if version is not None and every:
        raise WrongUsage("--version belongs to one message.")
    if compiled and (version is None or as_json):
        raise WrongUsage("--compiled needs a --version, and is no JSON.")
    if every:
        _list(as_json)
    elif message and version is not None and compiled:
        _show_compiled(message, version)
    elif message:
        _show(message, version, as_json)


def _list(as_json: bool) -> None:
    from kwire.cli.screen import print_json, screen, table_of
    from kwire.messages.registry import all_messages

    rows = sorted((_facts(cls) for cls in all_messages()), key=_by_kind)
    if as_json:
        print_json(rows)
        return
    table = table_of("Message", "Kind", "Key", "Versions", "Flexible")
    for row in rows:
        key = "" if row["key"] is None else str(row["key"])
        table.add_row(row["name"], row["kind"], key, row["versions"], row["flexible"])
    screen().print(table)


def _by_kind(row: dict[str, Any]) -> tuple[bool, str, int, str]:
    """Return a sort key: RPCs by API key, request and response together; then the rest by kind."""
    key = -1 if row["key"] is None else row["key"]
    rpc = row["kind"] in ("request", "response")
    return (not rpc, "" if rpc else row["kind"], key, row["name"])


def _facts(cls: type[Message]) -> dict[str, Any]:
    return {
        "name": cls.__name__,
        "kind": _kind(cls),
        "key": cls.key,
        "versions": str(cls.versions),
        "flexible": str(cls.flexible),
        "listeners": sorted(cls.listeners),
        "unstable": str(cls.unstable),
        "about": (cls.__doc__ or "").strip(),
    }


def _kind(cls: type[Message]) -> str:
    """Return the kind in words: `metadata record` for a `MetadataRecord`."""
    base = cls.__mro__[1].__name__
    return "".join(f" {c.lower()}" if c.isupper() else c for c in base).strip()


def _show(name: str, version: int | None, as_json: bool) -> None:
    from kwire.cli.screen import print_json, screen
    from kwire.messages.registry import message

    cls = message(name)
    if as_json:
        from kwire.cli.show_construct import as_data

        at = {} if version is None else {"version": version, "fields": as_data(cls.at(version))}
        print_json({**_facts(cls), **at})
        return
    console = screen()
    if version is None:
        from kwire.cli.show_declaration import declaration_text

        console.print(_heading(cls), style="dim")
        _print_python(declaration_text(cls))
        return
    from kwire.cli.show_construct import as_tree

    console.print(as_tree(f"{name} v{version}", cls.at(version)))


def _show_compiled(name: str, version: int) -> None:
    from kwire.codec.compiler import source
    from kwire.messages.registry import message

    _print_python(source(message(name).reference(version)))


def _print_python(text: str) -> None:
    """Print source, in colours in a terminal, character for character in a pipe."""
    from kwire.cli.screen import screen

    console = screen()
    if not console.is_terminal:
        sys.stdout.write(text.rstrip() + "\n")
        return
    from rich.syntax import Syntax

    console.print(Syntax(text.rstrip(), "python", background_color="default", word_wrap=True))


def _heading(cls: type[Message]) -> str:
    """Return the arguments of the class line in words."""
    facts = _facts(cls)
    key = "" if cls.key is None else f", key {cls.key}"
    served = f", served by {' and '.join(facts['listeners'])}" if cls.listeners else ""
    flexible = f", flexible {cls.flexible}" if len(cls.flexible) else ""
    return f"# {facts['kind']}{key}, versions {cls.versions}{flexible}{served}"
