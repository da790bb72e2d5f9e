"""Groups whose commands are imported when they are called, listed or suggested.

Importing the modules of all commands takes as long as asking a quorum for its status.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from inspect import cleandoc
from typing import Any

import typer
from typer.core import TyperGroup

from kwire.cli.errors import WrongUsage


def lazy_group(modules: Mapping[str, str]) -> type[TyperGroup]:
    """Return a class of groups that also have these commands: `module:function` by name.

    A `typer.Typer` instead of a function is a group of its own.
    """

    class LazyGroup(TyperGroup):
        """Imports the module of a command when the command is looked up."""

        def list_commands(self, ctx: Any) -> list[str]:
            """Return the names of all commands, importing none."""
            return [*super().list_commands(ctx), *(name for name in modules if not self._has(name))]

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            """Return a command, or None; a name that is unknown imports all for suggestions."""
            # Typer suggests similar names among those in `commands`: it has to know them all.
            for name in [cmd_name] if cmd_name in modules else modules:
                if not self._has(name):
                    self.commands[name] = _command(name, modules[name])
            return self.commands.get(cmd_name)

        def parse_args(self, ctx: Any, args: list[str]) -> Any:
            """Take the options of the group; name its commands where an option of theirs stands."""
            flag = args[0].partition("=")[0] if args else ""
            needs_command = not self.invoke_without_command and ctx.parent is not None
            if needs_command and flag.startswith("--") and self._lacks(ctx, flag):
                names = ", ".join(self.list_commands(ctx))
                raise WrongUsage(
                    f"No such option: {flag}. A command comes before its options: {names}.", ctx=ctx
                )
            return super().parse_args(ctx, args)

        def _lacks(self, ctx: Any, flag: str) -> bool:
            return not any(flag in param.opts for param in self.get_params(ctx))

        def _has(self, name: str) -> bool:
            return name in self.commands

    return LazyGroup


def command_group(help: str, lazy: Mapping[str, str] | None = None) -> typer.Typer:
    """Return a group of commands that prints its help without one. lazy: as of `lazy_group`."""
    group = lazy_group(lazy or {})
    return typer.Typer(cls=group, help=help, no_args_is_help=True, rich_markup_mode=None)


def _command(name: str, location: str) -> Any:
    module, _, attribute = location.partition(":")
    command = getattr(import_module(module), attribute)
    # A group of this one command lets typer name and describe it as it would any other.
    group = typer.Typer(add_completion=False, rich_markup_mode=None)
    group.callback()(lambda: None)
    if isinstance(command, typer.Typer):
        group.add_typer(command, name=name)
    else:
        group.command(name)(command)
    made: Any = typer.main.get_command(group)
    _keep_summaries(made)
    return made.commands[name]


def _keep_summaries(group: Any) -> None:
    """Give every command below a summary for its group's --help, which would cut one of its own."""
    for command in group.commands.values():
        command.short_help = first_sentence(command.help or "")
        if isinstance(command, TyperGroup):
            _keep_summaries(command)


def first_sentence(text: str) -> str:
    """Return the first sentence of a help, in one line."""
    paragraph = cleandoc(text).split("\n\n")[0]
    return re.split(r"(?<=\.)\s", paragraph, maxsplit=1)[0].replace("\n", " ")
