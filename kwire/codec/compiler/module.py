"""The module under construction: its functions, the names they use, and where those come from."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from struct import Struct
from typing import Any
from uuid import UUID

from construct import FormatField

from kwire.codec.compiler import runtime
from kwire.codec.compiler.layout import WIDTH, laid_out
from kwire.codec.constructs import ObjectStruct
from kwire.codec.reference import Reference

RESERVED = {"buf", "data", "end", "i", "known", "n", "obj", "offset", "p", "parts", "tags"}
RESERVED |= {name for name in vars(runtime) if not name.startswith("_")}
"""Names that the code uses for itself."""


class Module:
    """Collects functions and constants; `source` shows them, `run` makes them callable."""

    def __init__(self, reference: Reference) -> None:
        self.title = f"{reference.message} v{reference.version}"
        self.root = reference.struct.cls
        self.version = reference.version
        self.names: dict[str, Any] = {"reference": reference}
        self.constants: dict[str, str] = {}
        self.functions: list[Function] = []
        self._used: set[str] = set()

    def function(self, name: str, parameters: str, does: str) -> Function:
        """Return a new function, named `name` or with a number after it."""
        made = Function(self, _free(name, self.names), parameters, does)
        self.names[made.name] = None
        self.functions.append(made)
        return made

    def uses(self, name: str) -> str:
        """Return the name of something in `kwire.codec.compiler.runtime`."""
        self.names[name] = getattr(runtime, name)
        self._used.add(name)
        return name

    def struct(self, method: str, formats: list[str]) -> str:
        """Return the name of a Struct's `unpack_from` or `pack`, such as `unpack_h2iB`."""
        layout = "".join(_repeated(formats))
        verb = method.removesuffix("_from")
        name = f"{verb}_{layout.replace('?', 'f')}"
        self.constants[name] = f'Struct(">{layout}").{method}'
        return name

    def constant(self, name: str, expression: str) -> str:
        """Return the name of a module-level value."""
        name = _free(name, self.constants)
        self.constants[name] = expression
        return name

    def cls(self, struct: ObjectStruct) -> str:
        """Return the name of the class that a struct becomes."""
        return self._class(struct.cls)

    def _class(self, cls: type) -> str:
        for name, known in self.names.items():
            if known is cls:
                return name
        name = _free(cls.__name__, self.names)
        self.names[name] = cls
        return name

    def value(self, value: Any) -> str:
        """Return an expression for a default: a literal, or a constant for what has none."""
        if isinstance(value, str):
            return f'"{value}"'
        if value is None or isinstance(value, bool | int | bytes | float | tuple | list):
            return repr(value)
        for name, known in self.names.items():
            if known is value:
                return name
        name = _free(f"DEFAULT_{type(value).__name__.upper()}", self.names)
        self.names[name] = value
        self._class(type(value))
        return name

    def default(self, value: Any) -> str:
        """Return an expression for a default of which each object needs its own."""
        return (
            f"{self._class(type(value))}()" if hasattr(value, "unknown_tags") else self.value(value)
        )

    def source(self) -> str:
        """Return the whole module as text."""
        body = self._body()
        gap = "\n\n\n" if body.startswith("def ") else "\n\n"
        return f'"""{self.title}: made by kwire."""\n\n{self._imports()}{gap}{body}'

    def run(self, reference: Reference) -> dict[str, Any]:
        """Return the functions of the module, compiled."""
        # `names` holds the objects themselves, so that a module without a file needs no imports;
        # `source` shows imports for people and for the engine cache.
        namespace: dict[str, Any] = {**self.names, "Struct": Struct}
        exec(compile(self._body(), f"<kwire {self.title}>", "exec"), namespace)
        return namespace

    def _body(self) -> str:
        constants = [f"{name} = {expression}" for name, expression in self.constants.items()]
        head = [f for f in self.functions if f.name not in ("decode", "encode")]
        main = [f for f in self.functions if f.name in ("decode", "encode")]
        structs = [line for line in constants if "Struct(" in line]
        tables = [line for line in constants if "Struct(" not in line]
        blocks = ["\n".join(structs), *(f.text() for f in head), "\n".join(tables)]
        return "\n\n\n".join(filter(None, [*blocks, *(f.text() for f in main)])) + "\n"

    def _imports(self) -> str:
        lines = ["from struct import Struct", ""]
        homes = {"kwire.codec.compiler.runtime": sorted(self._used)}
        for name, value in self.names.items():
            if isinstance(value, type):
                alias = "" if name == value.__name__ else f" as {name}"
                homes.setdefault(value.__module__, []).append(value.__name__ + alias)
        lines += [_import(home, sorted(names)) for home, names in sorted(homes.items()) if names]
        lines += ["", f"reference = {self.root.__name__}.reference({self.version})"]
        for name, value in self.names.items():
            if name.startswith("DEFAULT_"):
                made = f"int={value.int}" if isinstance(value, UUID) else ""
                lines.append(f"{name} = {type(value).__name__}({made})")
        return "\n".join(lines)


class Function:
    """Lines of one function, and the local names it has given out."""

    def __init__(self, module: Module, name: str, parameters: str, does: str) -> None:
        self.module = module
        self.name = name
        self._lines = [f"def {name}({parameters}):", f'    """{does}"""']
        self._depth = 1
        self._taken = {part.partition("=")[0].strip() for part in parameters.split(",")}

    def line(self, text: str) -> None:
        """Add one statement, on as many lines as it takes."""
        self._lines += laid_out(text, self._depth)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Statements under `head`."""
        self.line(head)
        self._depth += 1
        yield
        self._depth -= 1

    def local(self, name: str, owner: str = "") -> str:
        """Return a free local name: `name`, or with its owner's name before it."""
        taken = self._taken | self.module.names.keys() | RESERVED
        if owner and _is_taken(name, taken):
            name = f"{owner}_{name}"
        name = _free(name, taken)
        self._taken.add(name)
        return name

    def text(self) -> str:
        """Return the function."""
        return "\n".join(self._lines)


def letter(con: FormatField) -> str:
    """Return the `struct` code of a number, in the form that says its size best."""
    code: str = con.fmtstr[-1]
    return {"l": "i", "L": "I"}.get(code, code)


def singular(name: str) -> str:
    """Return a name for one element of `name`."""
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    if name.endswith("s") and not name.endswith("ss"):
        return name[:-1]
    return f"one_{name.rpartition('_')[2]}"


def _is_taken(name: str, taken: set[str]) -> bool:
    return name in taken or keyword.iskeyword(name) or hasattr(builtins, name)


def _free(name: str, taken: Any) -> str:
    free, number = name, 1
    while _is_taken(free, taken):
        number += 1
        free = f"{name}_{number}"
    return free


def _repeated(formats: list[str]) -> Iterator[str]:
    for letter, run in groupby(formats):
        times = len(list(run))
        if len(letter) > 1:
            yield letter * times
        else:
            yield f"{times}{letter}" if times > 1 else letter


def _import(home: str, names: list[str]) -> str:
    line = f"from {home} import {', '.join(names)}"
    if len(line) <= WIDTH:
        return line
    return f"from {home} import (\n" + "".join(f"    {name},\n" for name in names) + ")"
