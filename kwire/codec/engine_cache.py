"""Generated code and native tables on disk, so that a command starts without construct.

A program asks for it with `use_folder`; nothing is written before. A file holds the code or the
tables of one message version, and hashes of itself and of the sources they were made from: a file
that is damaged, of other sources, of another user or open to others is ignored and replaced. Files
are replaced in one step, so that processes may share the folder; where it cannot be written, or
another user may write it, nothing is kept.
"""

from __future__ import annotations

import marshal
import os
import sys
from contextlib import suppress
from functools import cache
from importlib.util import MAGIC_NUMBER, source_hash
from pathlib import Path
from typing import Any

from kwire.codec.fields import ArrayOf, Nullable, StructClass, StructOf
from kwire.codec.reference import Reference
from kwire.permissions import changeable_by_others, create_private, make_private_folder

VARIABLE = "KWIRE_CACHE"
"""Environment variable with the folder; an empty one keeps nothing."""

_HASH = 8
_folder: Path | None = None
_is_trusted: bool | None = None  # None before it was looked at: the folder may not be there yet


def user_folder() -> Path | None:
    """Return the folder for the user's caches, or None where there is none or none is wanted."""
    if VARIABLE in os.environ:
        return Path(os.environ[VARIABLE]) if os.environ[VARIABLE] else None
    try:
        if sys.platform == "win32":
            return Path(os.environ["LOCALAPPDATA"]) / "kwire" / "engines"
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "kwire" / "engines"
        configured = os.environ.get("XDG_CACHE_HOME", "")
        # The XDG specification ignores relative paths.
        caches = Path(configured) if os.path.isabs(configured) else Path.home() / ".cache"
        return caches / "kwire" / "engines"
    except (KeyError, RuntimeError):
        return None


def use_folder(folder: Path | None) -> None:
    """Keep what engines make in this folder from now on; None keeps nothing."""
    global _folder, _is_trusted
    _folder, _is_trusted = folder, None


def is_used() -> bool:
    """True while a folder is used."""
    return _folder is not None


def load(reference: Reference, engine: str) -> Any:
    """Return what `store` has kept of this engine, or None."""
    if _folder is None or not _trusted(_folder) or (key := _key(reference)) is None:
        return None
    try:
        with _path(_folder, reference, engine).open("rb") as file:
            # marshal is code that runs, as in .pyc files: another user's file could be an attack
            # where root runs a command in a user's environment. The open file is asked, not the
            # path, which could change.
            if not _is_own_alone(file.fileno()):
                return None
            content = file.read()
    except OSError:
        return None
    head, payload = content[: 2 * _HASH], content[2 * _HASH :]
    # The first hash tells other sources or another Python, the second one a torn or damaged file.
    if head != key + source_hash(payload):
        return None
    return marshal.loads(payload)


def store(reference: Reference, engine: str, value: Any) -> None:
    """Keep a value of Python's basic types or a code object; a failure to write changes nothing."""
    if _folder is None or (key := _key(reference)) is None:
        return
    try:
        payload = marshal.dumps(value)
    except ValueError:  # a default of a type that marshal does not know
        return
    path = _path(_folder, reference, engine)
    # Processes share the folder: each writes a file of its own and renames it.
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        make_private_folder(_folder)
        if not _trusted(_folder):
            return
        with os.fdopen(create_private(partial), "wb") as file:
            file.write(key + source_hash(payload) + payload)
        os.replace(partial, path)
    except OSError:
        with suppress(OSError):
            partial.unlink()


def _path(folder: Path, reference: Reference, engine: str) -> Path:
    return folder / f"{reference.message}-{reference.version}.{engine}"


def _trusted(folder: Path) -> bool:
    """True if the folder in use is there, and no other user could put a file into it."""
    global _is_trusted
    if _is_trusted is None and folder.is_dir():
        _is_trusted = changeable_by_others(folder) is None
    return bool(_is_trusted)


def _is_own_alone(file: int) -> bool:
    """True unless another user owns the file or may write it: its code runs with our rights."""
    if not hasattr(os, "geteuid"):
        return True
    status = os.fstat(file)
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022


def _key(reference: Reference) -> bytes | None:
    """Return the hash of all sources that a value is made from; None where they cannot be read."""
    modules: set[str] = set()
    _collect(reference.cls, modules, set())
    try:
        return source_hash(b"".join([_machinery(), *map(_source, sorted(modules))]))
    except (OSError, KeyError):
        return None


def _collect(cls: StructClass, modules: set[str], seen: set[StructClass]) -> None:
    """Add the modules that declare a class and the classes inside it."""
    seen.add(cls)
    modules.add(cls.__module__)
    for field in cls.fields.values():
        type_ = field.type
        while isinstance(type_, ArrayOf | Nullable):
            type_ = type_.element if isinstance(type_, ArrayOf) else type_.inner
        if isinstance(type_, StructOf) and type_.cls not in seen:
            _collect(type_.cls, modules, seen)


@cache
def _machinery() -> bytes:
    """Return marshal's version and the hash of each source that makes engines."""
    here = Path(__file__).parent
    sources = [*here.glob("*.py"), *(here / "compiler").glob("*.py"), *(here / "native").iterdir()]
    files = sorted(path for path in sources if path.is_file())
    return MAGIC_NUMBER + b"".join(source_hash(path.read_bytes()) for path in files)


@cache
def _source(module: str) -> bytes:
    file = getattr(sys.modules.get(module), "__file__", None)
    if not module.startswith("kwire.") or file is None:
        raise KeyError(module)
    return source_hash(Path(file).read_bytes())
