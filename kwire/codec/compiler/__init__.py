"""Python functions made from the construct tree of a message, one version at a time, at first use.

The tree is walked and nothing else: no second form of the schema, no guess about the data. The code
holds no error texts. Where anything is amiss it gives up, and construct reads the same bytes again
and says what is wrong, or succeeds: text that is not UTF-8 is left to it. So bad input costs what
construct costs, in proportion to its length.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kwire.codec import engine_cache
from kwire.codec.engine import Decoder, Encoder
from kwire.codec.reference import Reference

if TYPE_CHECKING:
    from kwire.codec.compiler.module import Module


class Compiled:
    """Decodes and encodes one version of one message with functions of its own."""

    __slots__ = ("decode", "encode")

    decode: Decoder
    encode: Encoder

    def __init__(self, reference: Reference) -> None:
        functions = _functions(reference)
        self.decode = functions["decode"]
        self.encode = functions["encode"]


def _functions(reference: Reference) -> dict[str, Any]:
    """Return the functions of the message, from disk where they are kept there."""
    if (code := engine_cache.load(reference, "compiled")) is not None:
        functions: dict[str, Any] = {}
        exec(code, functions)
        return functions
    module = _module(reference)
    if engine_cache.is_used():
        title = f"<kwire {module.title}>"
        engine_cache.store(reference, "compiled", compile(module.source(), title, "exec"))
    return module.run(reference)


def source(reference: Reference) -> str:
    """Return the Python module for the message version of `reference`, as it is run."""
    return _module(reference).source()


def _module(reference: Reference) -> Module:
    from kwire.codec.compiler.decoding import decode_function
    from kwire.codec.compiler.encoding import encode_function
    from kwire.codec.compiler.module import Module

    module = Module(reference)
    decode_function(module, reference.struct)
    encode_function(module, reference.struct)
    return module
