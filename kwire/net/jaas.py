"""The login modules of Java's `sasl.jaas.config`, and of JAAS files."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from kwire.text.properties import WrongProperty

_PART = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)"""
    r"""|(?P<equals>\s*=\s*)"""
    r"""|(?P<sign>[{};])"""
    r"""|(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\s+|[^\s{};="'/]+|.)""",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginModule:
    """A login module: the name of its Java class without the package, and its options."""

    name: str
    options: Mapping[str, str] = field(repr=False)


def login_module(text: str, property_name: str) -> LoginModule:
    """Read `package.Module required name="value" ...;`.

    Values may be quoted, a semicolon ends them. Raises WrongProperty, with property_name, if a
    quotation mark is missing; it tells no value.
    """
    words = shlex.shlex(text, posix=True, punctuation_chars=";")
    words.whitespace_split = True
    words.commenters = ""
    try:
        first, *rest = list(words) or [""]
    except ValueError:
        reason = f"{property_name} has a quotation mark without its other one"
        raise WrongProperty(property_name, reason) from None
    pairs = (word.partition("=") for word in rest)
    options = {name: value for name, separator, value in pairs if separator}
    return LoginModule(name=first.rpartition(".")[2], options=options)


def login_section(text: str, section: str, property_name: str) -> LoginModule | None:
    """Return the first login module of a section of a JAAS file; None without such a section.

    Sections are `Name { module; module; };` (javax.security.auth.login.Configuration). Raises as
    `login_module`.
    """
    is_inside, words = False, ""
    for part in _PART.finditer(text):
        sign = part["sign"]
        if sign == "{":
            is_inside, words = words.strip() == section, ""
        elif sign and is_inside:
            return login_module(words, property_name)
        elif sign:
            words = ""
        elif not part["comment"]:
            words += "=" if part["equals"] else part["text"]
    return None
