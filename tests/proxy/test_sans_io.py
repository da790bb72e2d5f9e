"""Below the service, decisions are apart from IO: few modules know of sockets and clocks."""

import ast
from pathlib import Path

import kwire.proxy

IO_MODULES = {
    "admission",
    "client",
    "departure",
    "given_addresses",
    "handshake",
    "served_cluster",
    "native_loop",
    "new_listeners",
    "proof",
    "reach",
    "receiver",
    "recorder",
    "relay",
    "returned_socket",
    "router",
    "sender",
    "server",
    "modes",
    "side",
    "tap",
    "watching",
}
TERMINAL = {"typer", "rich", "sys"}
BANNED = {"asyncio", "socket", "time", "random", "threading", "select"}


def test_only_some_modules_import_io_or_clocks() -> None:
    folder = Path(kwire.proxy.__file__).parent
    guilty = {}
    for path in folder.rglob("*.py"):
        if path.is_relative_to(folder / "service"):
            continue  # it runs all of them
        found = _imported(ast.parse(path.read_text())) & BANNED
        if found and path.stem not in IO_MODULES:
            guilty[path.name] = found
    assert guilty == {}


def test_nothing_prints() -> None:
    """The command line prints what the service reports."""
    folder = Path(kwire.proxy.__file__).parent
    printing = {
        path.name: found
        for path in folder.rglob("*.py")
        if (found := _imported(ast.parse(path.read_text())) & TERMINAL)
    }
    assert printing == {}


def _imported(tree: ast.Module) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").partition(".")[0])
    return names
