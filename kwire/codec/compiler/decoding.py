"""Writes the function that reads a message.

Neighbouring fields of fixed size, and the length or tag count after them, become one `Struct`.
`buf` is the bytes, `p` the position, `n` a length just read (in compact form one more than the
length, 0 for null). Slices are not checked one by one: `p` only grows, every element of an array
reads at least a byte, and what ends after the end is given up.
"""

from __future__ import annotations

from contextlib import nullcontext

from construct import Construct, Flag, FormatField, Renamed

from kwire.codec.compiler.module import Function, Module, letter, singular
from kwire.codec.constructs import (
    INTEGERS,
    Blob,
    Compact,
    KafkaArray,
    LengthPrefixed,
    NullableStruct,
    ObjectStruct,
    Text,
    Uuid,
    UVarint,
    least_size,
)


def decode_function(module: Module, struct: ObjectStruct) -> None:
    """Add `decode(data, offset=0)` to the module."""
    function = module.function(
        "decode", "data, offset=0, /", "The message at `offset`, and the offset behind it."
    )
    with function.block("try:"):
        function.line("buf = data if data.__class__ is bytes else bytes(memoryview(data))")
        function.line("p = offset")
        reader = _DecodeGenerator(module, function)
        message = reader.value(struct, "message", "")
        reader.flush()
        with function.block("if p <= len(buf):"):
            function.line(f"return {message}, p")
    with function.block("except Exception:"):
        function.line("pass")
    function.line("return reference.decode(data, offset)")


class _DecodeGenerator:
    """Walks a construct; `run` holds the fixed-size fields that are not read yet."""

    def __init__(self, module: Module, function: Function) -> None:
        self.module = module
        self.function = function
        self.run: list[tuple[str, str]] = []

    def flush(self) -> None:
        """Read the run."""
        formats = [code for code, _ in self.run]
        names = [name for _, name in self.run]
        self.run = []
        if formats == ["B"]:
            self.function.line(f"{names[0]} = buf[p]")
        elif formats:
            unpack = self.module.struct("unpack_from", formats)
            targets = f"({names[0]},)" if len(names) == 1 else ", ".join(names)
            # Parentheses, so that the layout may break the line.
            if len(targets) > 60:
                targets = f"({targets})"
            self.function.line(f"{targets} = {unpack}(buf, p)")
        if formats:
            self.function.line(f"p += {_size(formats)}")

    def value(self, con: Construct, name: str, owner: str) -> str:
        """Read `con`; returns the expression of its value."""
        match con:
            case Renamed():
                return self.value(con.subcon, name, owner)
            case FormatField():
                return self._fixed(letter(con), name, owner)
            case Uuid():
                raw = self._fixed("16s", name, owner)
                return f"{self.module.uses('uuids')}[{raw}]"
            case ObjectStruct():
                return self._object(con, name, owner)
            case Text() | Blob():
                return self._length_prefixed(con, name, owner)
            case KafkaArray():
                return self._array(con, name, owner)
            case NullableStruct():
                return self._nullable_struct(con, name, owner)
        assert con is Flag, f"no code for {con!r}"
        return self._fixed("?", name, owner)

    def _fixed(self, code: str, name: str, owner: str) -> str:
        variable = self.function.local(name, owner)
        self.run.append((code, variable))
        return variable

    def _length(self, con: LengthPrefixed, helper: str) -> tuple[str, str]:
        """Read the length into `n`: expressions for the length, and for its not being null."""
        line, block = self.function.line, self.function.block
        if isinstance(con.length, Compact):
            self.run.append(("B", "n"))
            self.flush()
            name = self.module.uses(f"{helper}_or_null" if con.nullable else helper)
            # One byte is the common case and needs no call. 0 is null: of a field that cannot be
            # null the helper refuses it.
            with block("if n > 127:" if con.nullable else "if not 0 < n < 128:"):
                if con.nullable and isinstance(con, Blob):
                    self._two_bytes(f"n, p = {name}(buf, p - 1)")
                else:
                    line(f"n, p = {name}(buf, p - 1)")
            return "n - 1", "n"
        self.run.append((letter(con.length), "n"))
        self.flush()
        if not con.nullable:
            with block("if n < 0:"):
                line("raise ValueError")
        return "n", "n >= 0"

    def _two_bytes(self, otherwise: str) -> None:
        """Records are longer than 127 bytes as a rule: no call up to 16383."""
        with self.function.block("if buf[p] < 128:"):
            self.function.line("n += buf[p] - 1 << 7")
            self.function.line("p += 1")
        with self.function.block("else:"):
            self.function.line(otherwise)

    def _length_prefixed(self, con: LengthPrefixed, name: str, owner: str) -> str:
        text = isinstance(con, Text)
        size, present = self._length(con, "text_length" if text else "length")
        variable = self.function.local(name, owner)
        value = f"buf[p : (p := p + {size})]" + (".decode()" if text else "")
        choice = f" if {present} else None" if con.nullable else ""
        self.function.line(f"{variable} = {value}{choice}")
        return variable

    def _array(self, con: KafkaArray, name: str, owner: str) -> str:
        count, present = self._length(con, "length")
        variable = self.function.local(name, owner)
        if con.nullable:
            with self.function.block(f"if not {present}:" if present == "n" else "if n < 0:"):
                self.function.line(f"{variable} = None")
        with self.function.block("else:") if con.nullable else nullcontext():
            if isinstance(con.subcon, FormatField) or con.subcon is Flag:
                self._scalars(con, variable, count)
            elif isinstance(con.subcon, Uuid):
                self._uuids(variable, count)
            else:
                self._elements(con, variable, count, name)
        return variable

    def _scalars(self, con: KafkaArray, variable: str, count: str) -> None:
        table = self.module.uses(f"{INTEGERS.get(con.subcon, _other(con.subcon))}s")
        self.function.line(f"{variable} = {table}[{count}](buf, p)")
        width = con.subcon.sizeof()
        self.function.line(f"p += {count}" if width == 1 else f"p += {width} * ({count})")

    def _uuids(self, variable: str, count: str) -> None:
        table = self.module.uses("uuids")
        self.function.line(f"end = p + 16 * ({count})")
        each = f"{table}[buf[i : i + 16]] for i in range(p, end, 16)"
        self.function.line(f"{variable} = tuple([{each}])")
        self.function.line("p = end")

    def _elements(self, con: KafkaArray, variable: str, count: str, name: str) -> None:
        # Elements without a byte of their own: a false count would loop without ever reaching the
        # end.
        if not least_size(con.subcon):
            with self.function.block(f"if {count} > len(buf) - p:"):
                self.function.line("raise ValueError")
        self.function.line(f"{variable} = []")
        with self.function.block(f"for _ in range({count}):"):
            element = self.value(con.subcon, singular(name), "")
            self.flush()
            self.function.line(f"{variable}.append({element})")
        if con.make is not list:
            self.function.line(f"{variable} = tuple({variable})")

    def _nullable_struct(self, con: NullableStruct, name: str, owner: str) -> str:
        if isinstance(con.marker, UVarint):
            self.run.append(("B", "n"))
            self.flush()
            with self.function.block("if n > 127:"):
                self.function.line(f"n, p = {self.module.uses('read_uvarint')}(buf, p - 1)")
        else:
            self.run.append((letter(con.marker), "n"))
            self.flush()
        variable = self.function.local(name, owner)
        with self.function.block(f"if n <= {con.null}:"):
            self.function.line(f"{variable} = None")
        with self.function.block("else:"):
            value = self.value(con.subcon, name, owner)
            self.flush()
            self.function.line(f"{variable} = {value}")
        return variable

    def _object(self, struct: ObjectStruct, name: str, owner: str) -> str:
        values = {
            field.name: self.value(field.subcon, field.name, name) for field in struct.subcons
        }
        if struct.tags is not None:
            self.run.append(("B", "tags"))
        self.flush()
        variable = self.function.local(name, owner)
        arguments = ", ".join(self._arguments(struct, values))
        self.function.line(f"{variable} = {self.module.cls(struct)}({arguments})")
        if struct.tags is not None:
            known = self._known(struct, name)
            # No tagged fields, the usual case, costs one test.
            with self.function.block("if tags:"):
                read = self.module.uses("read_tags")
                self.function.line(f"p = {read}(buf, p - 1, {variable}{known})")
        return variable

    def _arguments(self, struct: ObjectStruct, values: dict[str, str]) -> list[str]:
        """Return values by position up to the last one read.

        What this version lacks has its default.
        """
        order = [name for name in struct.cls.__struct_fields__ if name in struct.cls.fields]
        # Arguments by position cost a third of arguments by name (docs/decisions/0004).
        while order and order[-1] not in values:
            order.pop()
        fresh = {
            name: struct.cls.fields[name].new_default() for name in order if name not in values
        }
        return [values.get(name) or self.module.default(fresh[name]) for name in order]

    def _known(self, struct: ObjectStruct, name: str) -> str:
        """Return the last argument of `read_tags`: a table of the struct's declared tags."""
        assert struct.tags is not None
        if not struct.tags.known:
            return ""
        entries = []
        for tag, known in struct.tags.known.items():
            function = self.module.function(
                f"read_{known.name}",
                "buf, p",
                f"Tagged field {tag} at `p`, and where it ends.",
            )
            reader = _DecodeGenerator(self.module, function)
            value = reader.value(known.con, known.name, "")
            reader.flush()
            function.line(f"return {value}, p")
            entries.append(f'    {tag}: ("{known.name}", {function.name}),')
        table = "{\n" + "\n".join(entries) + "\n}"
        return ", " + self.module.constant(f"{name.upper()}_TAGS", table)


def _size(formats: list[str]) -> int:
    widths = {"b": 1, "B": 1, "?": 1, "h": 2, "H": 2, "i": 4, "I": 4, "q": 8, "d": 8, "16s": 16}
    return sum(widths[code] for code in formats)


def _other(con: Construct) -> str:
    return "boolean" if con is Flag else "float64"
