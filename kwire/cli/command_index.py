"""The index of commands: what --help and completion say of commands without importing them.

`python -m command_index` writes it from the commands.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("commands.json")


@cache
def index() -> dict[str, Any]:
    """Return the commands by their path, and the parameters that they number."""
    document: dict[str, Any] = json.loads(FILE.read_bytes())
    return document


def parameters(path: str) -> list[dict[str, Any]]:
    """Return the parameters of a command."""
    known = index()
    return [known["parameters"][number] for number in known["commands"][path]["parameters"]]


def children(path: str) -> dict[str, str]:
    """Return the commands of a group with their first sentences, none for a command."""
    start = f"{path} " if path else ""
    return {
        name.removeprefix(start): command["summary"]
        for name, command in index()["commands"].items()
        if name and name.startswith(start) and " " not in name.removeprefix(start)
    }
