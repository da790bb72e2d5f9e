"""True or false: would java.util.regex.Pattern compile this?

Kafka's brokers compile the patterns of client metrics, and Python's `re` takes another language.
This is the grammar of Java 17's Pattern without its meaning, a method for each of its own.
"""

from __future__ import annotations

import re
from string import ascii_letters, digits, hexdigits

from kwire.controller.configs.java_properties import is_character_name, is_property

_LETTERS, _ALNUM, _HEX, _OCTAL = map(
    frozenset, (ascii_letters, ascii_letters + digits, hexdigits, "01234567")
)
_QUOTED = re.compile(r"\\Q(.*?)(?:\\E|\Z)|\\.", re.DOTALL)
_FLAGS = "imsducxU"
_OUTSIDE_CLASSES = "ABGRXZbz"
_ANYWHERE = "DdHhSsVvWwaefnrt"
_MOST = (1 << 31) - 1
END = ""


class _Refused(Exception):
    """Raised where Pattern throws PatternSyntaxException."""


def is_java_regex(text: str) -> bool:
    """True if Java compiles the text."""
    try:
        _Parser(_QUOTED.sub(_unquoted, text)).parse()
    except (_Refused, RecursionError):
        return False
    return True


def _unquoted(match: re.Match[str]) -> str:
    """Return a quoted text without its quotes, another escape as it is (RemoveQEQuoting)."""
    quoted: str | None = match[1]
    if quoted is None:
        return match[0]
    plain = "".join(
        character if character.isalnum() or not character.isascii() else f"\\{character}"
        for character in quoted
    )
    return f"\\x3{plain}" if plain[:1] in digits and plain else plain


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._names: set[str] = set()
        self._comments = False
        self._bounded = True

    def parse(self) -> None:
        """Read the whole text. Raises _Refused if a closing bracket is left over."""
        self._alternatives()
        if self._peek() != END:
            raise _Refused

    def _peek(self) -> str:
        if self._comments:
            self._skip_comments()
        return self._text[self._at] if self._at < len(self._text) else END

    def _skip_comments(self) -> None:
        while self._at < len(self._text):
            if self._text[self._at] == "#":
                while self._at < len(self._text) and self._text[self._at] not in "\n\r\u0085\u2028":
                    self._at += 1
            elif self._text[self._at] in " \t\n\v\f\r":
                self._at += 1
            else:
                return

    def _read(self) -> str:
        character = self._peek()
        self._at += 1
        return character

    def _raw(self) -> str:
        """Return the next character, comments skipped."""
        character = self._text[self._at] if self._at < len(self._text) else END
        self._at += 1
        return character

    def _take(self, text: str) -> bool:
        if self._peek() == text:
            self._at += 1
            return True
        return False

    def _alternatives(self) -> None:
        self._sequence()
        while self._take("|"):
            self._sequence()

    def _sequence(self) -> None:
        while (next_ := self._peek()) not in (END, "|", ")"):
            if next_ in "?*+":
                raise _Refused  # dangling
            if next_ == "(":
                if not self._group():
                    continue  # flags alone take no quantifier
            elif next_ == "[":
                self._at += 1
                self._class()
            elif next_ == "\\":
                self._escape(in_class=False)
            elif next_ != "{":  # which repeats the empty text before it
                self._at += 1
            self._quantifier()

    def _quantifier(self) -> None:
        next_ = self._peek()
        if next_ == "{":
            self._at += 1
            self._count()
        elif next_ and next_ in "?*+":
            self._at += 1
            self._bounded = self._bounded and next_ == "?"
        else:
            return
        if (mode := self._peek()) and mode in "?+":
            self._at += 1

    def _count(self) -> None:
        lowest = self._digits()
        highest: int | None = lowest
        if self._text[self._at : self._at + 1] == ",":
            self._at += 1
            is_open = self._text[self._at : self._at + 1] == "}"
            highest = None if is_open else self._digits(may_be_empty=True)
        if self._raw() != "}" or (highest is not None and highest < lowest):
            raise _Refused
        self._bounded = self._bounded and highest is not None

    def _digits(self, *, may_be_empty: bool = False) -> int:
        start = self._at
        while self._at < len(self._text) and self._text[self._at] in digits:
            self._at += 1
        text = self._text[start : self._at]
        if (not text and not may_be_empty) or len(text) > 10 or int(text or "0") > _MOST:
            raise _Refused
        return int(text or "0")

    def _group(self) -> bool:
        """Read a group; return False for flags for the rest of the group around them."""
        self._at += 1
        comments = self._comments
        if not self._take("?"):
            self._inner(comments)
            return True
        kind = self._raw()
        if kind == "<":
            self._named_or_behind(comments)
        elif kind and kind in ":=!>":
            self._inner(comments)
        else:
            self._at -= 1
            self._add_flags()
            end = self._raw()
            if end == ")":
                return False
            if end != ":":
                raise _Refused
            self._inner(comments)
        return True

    def _named_or_behind(self, comments: bool) -> None:
        if (next_ := self._raw()) and next_ in "=!":
            before, self._bounded = self._bounded, True
            self._inner(comments)
            if not self._bounded:
                raise _Refused  # no obvious maximum length
            self._bounded = before
            return
        self._at -= 1
        name = self._name()
        if name in self._names:
            raise _Refused
        self._names.add(name)
        self._inner(comments)

    def _inner(self, comments: bool) -> None:
        self._alternatives()
        if not self._take(")"):
            raise _Refused
        self._comments = comments

    def _name(self) -> str:
        start = self._at
        if self._raw() not in _LETTERS:
            raise _Refused
        while (next_ := self._raw()) in _ALNUM:
            pass
        if next_ != ">":
            raise _Refused
        return self._text[start : self._at - 1]

    def _add_flags(self) -> None:
        on = True
        while (next_ := self._peek()) and (next_ in _FLAGS or (next_ == "-" and on)):
            on = on and next_ != "-"
            if next_ == "x":
                self._comments = on
            self._at += 1

    def _escape(self, *, in_class: bool, is_range: bool = False) -> int | None:
        """Read an escape; return its code point, None for a set of characters or a position."""
        self._at += 1
        kind = self._raw()
        if kind == END:
            raise _Refused
        if kind in _ANYWHERE:
            return self._code(kind, is_range)
        if kind in "123456789" or kind in _OUTSIDE_CLASSES or kind == "k":
            if in_class:
                raise _Refused
            self._place(kind)
            return None
        if kind in "pP":
            self._property()
            return None
        if kind in "0cuxN":
            return self._number(kind)
        if kind in _LETTERS:
            raise _Refused
        return ord(kind)

    def _code(self, kind: str, is_range: bool) -> int | None:
        codes = {"a": 7, "e": 27, "f": 12, "n": 10, "r": 13, "t": 9}
        return 11 if kind == "v" and is_range else codes.get(kind)

    def _place(self, kind: str) -> None:
        if kind == "k":
            if self._raw() != "<" or self._name() not in self._names:
                raise _Refused
            self._bounded = False
        elif kind in digits:
            self._bounded = False
        elif kind in "RX":
            self._bounded = self._bounded and kind == "R"
        elif kind == "b" and self._text[self._at : self._at + 2] == "{g":
            self._at += 2
            if self._raw() != "}":
                raise _Refused

    def _number(self, kind: str) -> int:
        if kind == "0":
            return self._octal()
        if kind == "c":
            if self._at >= len(self._text):
                raise _Refused
            return ord(self._raw()) ^ 64
        if kind == "u":
            return self._hex(4)
        if kind == "N":
            return self._character_name()
        if self._text[self._at : self._at + 1] != "{":
            return self._hex(2)
        end = self._text.find("}", self._at)
        code = self._text[self._at + 1 : end] if end >= 0 else ""
        if not code or not _HEX.issuperset(code) or int(code, 16) > 0x10FFFF:
            raise _Refused
        self._at = end + 1
        return int(code, 16)

    def _octal(self) -> int:
        code = ""
        while len(code) < (3 if code[:1] in ("", "0", "1", "2", "3") else 2):
            next_ = self._text[self._at : self._at + 1]
            if next_ not in _OCTAL:
                break
            code += next_
            self._at += 1
        if not code:
            raise _Refused
        return int(code, 8)

    def _hex(self, count: int) -> int:
        code = self._text[self._at : self._at + count]
        if len(code) < count or not _HEX.issuperset(code):
            raise _Refused
        self._at += count
        return int(code, 16)

    def _character_name(self) -> int:
        end = self._text.find("}", self._at)
        name = self._text[self._at + 1 : end]
        if self._raw() != "{" or end < 0 or not is_character_name(name):
            raise _Refused
        self._at = end + 1
        return 0

    def _property(self) -> None:
        name = self._raw()
        if name == "{":
            end = self._text.find("}", self._at)
            if end < 0:
                raise _Refused
            name = self._text[self._at : end]
            self._at = end + 1
        if not is_property(name):
            raise _Refused

    def _class(self, *, nested: bool = True) -> None:
        """Read a character class behind its bracket; its first character may be a bracket.

        nested: False for the right side of &&, which ends before the bracket.
        """
        if nested:
            self._take("^")
        is_empty = True
        while True:
            next_ = self._peek()
            if next_ == END:
                raise _Refused
            if next_ == "[":
                self._at += 1
                self._class()
            elif next_ == "]" and not is_empty:
                self._at += nested
                return
            elif next_ == "&" and self._text[self._at + 1 : self._at + 2] == "&":
                self._at += 2
                if not self._intersection() and is_empty:
                    raise _Refused
            else:
                self._range()
            is_empty = False

    def _intersection(self) -> bool:
        """Read the right side of &&; return False if there is none."""
        has_operand = False
        while (next_ := self._peek()) not in ("]", "&"):
            has_operand = True
            if next_ == "[":
                self._at += 1
                self._class()
            elif next_ == END:
                raise _Refused
            else:
                self._class(nested=False)
        return has_operand

    def _range(self) -> None:
        low = self._element()
        if low is None or self._peek() != "-":
            return
        after = self._text[self._at + 1 : self._at + 2]
        if after in ("[", "]", END):
            return
        self._at += 1
        high = self._element()
        if high is None or high < low:
            raise _Refused

    def _element(self) -> int | None:
        if self._peek() != "\\":
            return ord(self._read())
        return self._escape(in_class=True, is_range=True)
