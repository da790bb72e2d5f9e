"""Sentences of errors in the words of the command line.

Rooms below `cli` write parameters and operations as Python has them, in backticks: `timeout`,
`allow_unlisted=True`, `create_topics`. A user of a command reads --timeout, --allow-unlisted and
kwire topics create.
"""

from __future__ import annotations

import re

_NAMED = re.compile(r"`([a-z][a-z_]*)(=True)?`")

OPTIONS = {
    "additional": "--additional",
    "allow_unlisted": "--allow-unlisted",
    "bootstrap_controllers": "--bootstrap-controller",
    "bootstrap_servers": "--bootstrap-server",
    "initial_controllers": "--initial-controllers",
    "ignore_formatted": "--ignore-formatted",
    "kafka": "--kafka",
    "no_initial_controllers": "--no-initial-controllers",
    "release_version": "--release-version",
    "set_features": "--features",
    "standalone": "--standalone",
    "targets": "--target",
    "throttle": "--throttle",
    "timeout": "--timeout",
}
"""The options that stand for parameters which sentences of errors name."""


def command_words(sentence: str) -> str:
    """Return a sentence with options and commands in place of parameters and operations."""
    return _NAMED.sub(_option_or_command, sentence) if "`" in sentence else sentence


def _option_or_command(named: re.Match[str]) -> str:
    if option := OPTIONS.get(named[1]):
        return option
    from kwire.admin.registry import OPERATIONS  # `kwire --help` does without

    commands = {row.name: row.command for row in OPERATIONS if row.command}
    command = commands.get(named[1])
    return f"`kwire {command}`" if command else named[0]
