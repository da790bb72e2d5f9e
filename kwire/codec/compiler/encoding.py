"""Writes the function that writes a message.

The bytes are collected in `parts` and joined once. Neighbouring fields of fixed size become one
`Struct`; what lies between two loops or choices is added in one statement. Values are not checked
but where a wrong one could slip through: what Python refuses to pack or join is given up.
"""

from __future__ import annotations

from typing import Any

from construct import Construct, Flag, FormatField

from kwire.codec.compiler.module import Function, Module, letter, singular
from kwire.codec.constructs import (
    INTEGERS,
    Compact,
    KafkaArray,
    LengthPrefixed,
    NullableStruct,
    ObjectStruct,
    Text,
    Uuid,
    UVarint,
)


def encode_function(module: Module, struct: ObjectStruct) -> None:
    """Add `encode(message)` to the module."""
    function = module.function("encode", "message, /", "The bytes of a message.")
    with function.block("try:"):
        function.line("parts = []")
        writer = _EncodeGenerator(module, function)
        writer.value(struct, "message", "message")
        writer.flush()
        function.line('return b"".join(parts)')
    with function.block("except Exception:"):
        function.line("pass")
    function.line("return reference.encode(message)")


class _EncodeGenerator:
    """Walks a construct; `run` and `parts` hold what is not added to the bytes yet."""

    def __init__(self, module: Module, function: Function) -> None:
        self.module = module
        self.function = function
        self.run: list[tuple[str, str]] = []
        self.parts: list[str] = []

    def flush(self) -> None:
        """Add run and parts."""
        self._flush_run()
        parts, self.parts = self.parts, []
        if len(parts) == 1:
            self.function.line(f"parts.append({parts[0]})")
        elif parts:
            self.function.line(f"parts += ({', '.join(parts)})")

    def _flush_run(self) -> None:
        if self.run:
            pack = self.module.struct("pack", [code for code, _ in self.run])
            self.parts.append(f"{pack}({', '.join(value for _, value in self.run)})")
            self.run = []

    def _part(self, expression: str) -> None:
        self._flush_run()
        self.parts.append(expression)

    def value(self, con: Construct, expression: str, name: str, owner: str = "") -> None:
        """Write what `expression` holds, as `con`."""
        match con:
            case FormatField():
                self.run.append((letter(con), expression))
            case Uuid():
                self.run.append(("16s", f'{expression}.int.to_bytes(16, "big")'))
            case ObjectStruct():
                self._object(con, expression, name)
            case KafkaArray():
                self._array(con, expression, name, owner)
            case LengthPrefixed():
                self._length_prefixed(con, expression, name, owner)
            case NullableStruct():
                self._nullable_struct(con, expression, name, owner)
            case _:
                assert con is Flag, f"no code for {con!r}"
                # An object of another class with the same attributes would be written without
                # complaint.
                self._refuse(f"{expression}.__class__ is not bool", "TypeError")
                self.run.append(("?", expression))

    def _length_prefixed(self, con: LengthPrefixed, expression: str, name: str, owner: str) -> None:
        encode = ".encode()" if isinstance(con, Text) else ""
        variable = self.function.local(name, owner)
        if not con.nullable:
            self.function.line(f"{variable} = {expression}{encode}")
            self._length(con, variable)
        elif isinstance(con.length, Compact):
            size, null = f"{variable}_length", self.module.uses("NULL")
            self._choice(expression, variable, encode, size, null, self._compact(con, variable))
            self._part(size)
        else:
            size = f"{variable}_length"
            self._choice(expression, variable, encode, size, "-1", f"len({variable})")
            self.run.append((letter(con.length), size))
        self._part(variable)

    def _choice(
        self, expression: str, variable: str, encode: str, size: str, null: str, some: str
    ) -> None:
        with self.function.block(f"if {expression} is None:"):
            self.function.line(f'{size}, {variable} = {null}, b""')
        with self.function.block("else:"):
            self.function.line(f"{variable} = {expression}{encode}")
            self.function.line(f"{size} = {some}")

    def _length(self, con: LengthPrefixed, variable: str) -> None:
        if isinstance(con.length, Compact):
            self._part(self._compact(con, variable))
        else:
            self.run.append((letter(con.length), f"len({variable})"))

    def _compact(self, con: LengthPrefixed, variable: str) -> str:
        table = "text_lengths" if isinstance(con, Text) else "lengths"
        return f"{self.module.uses(table)}[len({variable})]"

    def _null(self, con: LengthPrefixed) -> None:
        if isinstance(con.length, Compact):
            self._part(self.module.uses("NULL"))
        else:
            self.run.append((letter(con.length), "-1"))

    def _array(self, con: KafkaArray, expression: str, name: str, owner: str) -> None:
        variable = self.function.local(name, owner)
        if not con.nullable:
            self.function.line(f"{variable} = {expression}")
            self._array_elements(con, variable, name)
            return
        self.flush()
        self.function.line(f"{variable} = {expression}")
        with self.function.block(f"if {variable} is None:"):
            self._null(con)
            self.flush()
        with self.function.block("else:"):
            self._array_elements(con, variable, name)
            self.flush()

    def _array_elements(self, con: KafkaArray, variable: str, name: str) -> None:
        self._length(con, variable)
        if isinstance(con.subcon, FormatField) or con.subcon is Flag:
            kind = INTEGERS.get(con.subcon, "boolean" if con.subcon is Flag else "float64")
            self._part(f"{self.module.uses(f'pack_{kind}s')}[len({variable})](*{variable})")
            return
        # Before a loop the parts so far are added: statements inside must not repeat them.
        self.flush()
        element = self.function.local(singular(name))
        with self.function.block(f"for {element} in {variable}:"):
            self.value(con.subcon, element, element)
            self.flush()

    def _nullable_struct(self, con: NullableStruct, expression: str, name: str, owner: str) -> None:
        code = "B" if isinstance(con.marker, UVarint) else letter(con.marker)
        self.flush()
        variable = self.function.local(name, owner)
        self.function.line(f"{variable} = {expression}")
        with self.function.block(f"if {variable} is None:"):
            self.run.append((code, str(con.null)))
            self.flush()
        with self.function.block("else:"):
            self.run.append((code, "1"))
            self.value(con.subcon, variable, name)
            self.flush()

    def _object(self, struct: ObjectStruct, expression: str, name: str) -> None:
        self._refuse(f"{expression}.__class__ is not {self.module.cls(struct)}", "TypeError")
        for field, default in struct.refused.items():
            self._refuse(self._differs(f"{expression}.{field}", default), "ValueError")
        # Unknown tags have no place before flexible versions: they would be lost silently.
        if struct.tags is None:
            self._refuse(f"{expression}.unknown_tags", "ValueError")
        for field in struct.subcons:
            self.value(field.subcon, f"{expression}.{field.name}", field.name, name)
        if struct.tags is not None:
            self._tags(struct, expression, name)

    def _refuse(self, condition: str, error: str) -> None:
        with self.function.block(f"if {condition}:"):
            self.function.line(f"raise {error}")

    def _differs(self, expression: str, default: Any) -> str:
        if default is None:
            # `!= None` would call the __eq__ of a struct.
            return f"{expression} is not None"
        return f"{expression} != {self.module.value(default)}"

    def _tags(self, struct: ObjectStruct, expression: str, name: str) -> None:
        assert struct.tags is not None
        none = self.module.uses("NO_TAGS")
        if not struct.tags.known:
            some = f"{self.module.uses('tag_section')}({expression}.unknown_tags)"
            self._part(f"{some} if {expression}.unknown_tags else {none}")
            return
        # A tagged field with its default is not on the wire (KIP-482): one test covers all of them,
        # and the usual struct has a section of one byte.
        changed = [
            self._differs(f"{expression}.{known.name}", known.default)
            for known in struct.tags.known.values()
        ]
        tags = self.function.local("tags", name)
        self.function.line(f"{tags} = {none}")
        with self.function.block(f"if {' or '.join([f'{expression}.unknown_tags', *changed])}:"):
            self.function.line(f"{tags} = {self._known(struct, name)}({expression})")
        self._part(tags)

    def _known(self, struct: ObjectStruct, name: str) -> str:
        assert struct.tags is not None
        function = self.module.function(f"write_{name}_tags", "obj", "The tag section of a struct.")
        function.line("known = {}")
        for tag, known in struct.tags.known.items():
            with function.block(f"if {self._differs(f'obj.{known.name}', known.default)}:"):
                function.line("parts = []")
                writer = _EncodeGenerator(self.module, function)
                writer.value(known.con, f"obj.{known.name}", known.name)
                writer.flush()
                function.line(f'known[{tag}] = b"".join(parts)')
        section, declared = self.module.uses("tag_section"), tuple(struct.tags.known)
        function.line(f"return {section}(obj.unknown_tags, known, {declared})")
        return function.name
