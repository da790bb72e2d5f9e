"""True or false: would java.util.regex.Pattern compile this?

Kafka's brokers compile the patterns of client metrics, and Python's `re` takes another language.
This is the grammar of Java 17's Pattern without its meaning, a method for each of its own.
"""

from __future__ import annotations

import re
from string import ascii_letters, digits, hexdigits

from kwire.configs.java_properties import is_character_name, is_property
from kwire.configs.java_regex_lengths import (
    CHARACTER,
    GRAPHEME,
    LINE_END,
    LOOP,
    MAX_REPS,
    POSITION,
    REFERENCE,
    RUN,
    Branch,
    Chain,
    OptionalPart,
    Piece,
    RepeatedPart,
    study,
)

_LETTERS, _ALNUM, _HEX, _OCTAL = map(
    frozenset, (ascii_letters, ascii_letters + digits, hexdigits, "01234567")
)
_QUOTED = re.compile(r"\\Q(.*?)(?:\\E|\Z)|\\.", re.DOTALL)
_FLAGS = "imsducxU"
_POSITIONS = "ABGZbz"
_OUTSIDE_CLASSES = f"{_POSITIONS}RX"
_ANYWHERE = "DdHhSsVvWwaefnrt"
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

    def _alternatives(self) -> Chain:
        parts = [self._sequence()]
        while self._take("|"):
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else [Branch(tuple(parts))]

    def _sequence(self) -> Chain:
        chain: list[Piece | OptionalPart | RepeatedPart | Branch] = []
        while (next_ := self._peek()) not in (END, "|", ")"):
            if next_ in "?*+":
                raise _Refused  # dangling
            if next_ == "(":
                chain += self._group()
            else:
                chain += self._quantified(self._piece(next_))
        return chain

    def _piece(self, next_: str) -> Piece:
        if next_ == "\\":
            return self._escaped()
        if next_ == "{":  # which repeats the empty text before it
            return POSITION
        self._at += 1
        if next_ == "[":
            self._class()
        return POSITION if next_ in "^$" else CHARACTER

    def _quantified(self, part: Piece | OptionalPart) -> Chain:
        if (found := self._quantifier()) is None:
            return [part]
        least, most, mode = found
        if most == 1 and not least:
            return [OptionalPart([part])]
        if part is CHARACTER and most == MAX_REPS and not mode:
            return [RUN]
        return [RepeatedPart([part], least, most)]

    def _quantified_group(self, chain: Chain) -> Chain:
        """Return a group with its quantifier; only possessive ones are tried as a whole."""
        if (found := self._quantifier()) is None:
            return chain
        least, most, mode = found
        if most == 1 and not least:
            return [OptionalPart(chain) if mode == "+" else Branch((chain, []))]
        if mode == "+" or study(chain).is_deterministic:
            return [RepeatedPart(chain, least, most)]
        return [LOOP]

    def _quantifier(self) -> tuple[int, int, str] | None:
        """Read how often, at least and at most, and the mode: "?" for lazy, "+" for possessive."""
        next_ = self._peek()
        if next_ == "{":
            self._at += 1
            least, most = self._count()
        elif next_ and next_ in "?*+":
            self._at += 1
            least, most = int(next_ == "+"), 1 if next_ == "?" else MAX_REPS
        else:
            return None
        mode = self._peek()
        if mode not in ("?", "+"):
            return least, most, ""
        self._at += 1
        return least, most, mode

    def _count(self) -> tuple[int, int]:
        lowest = highest = self._digits()
        if self._text[self._at : self._at + 1] == ",":
            self._at += 1
            is_open = self._text[self._at : self._at + 1] == "}"
            highest = MAX_REPS if is_open else self._digits(may_be_empty=True)
        if self._raw() != "}" or highest < lowest:
            raise _Refused
        return lowest, highest

    def _digits(self, *, may_be_empty: bool = False) -> int:
        start = self._at
        while self._at < len(self._text) and self._text[self._at] in digits:
            self._at += 1
        text = self._text[start : self._at]
        if (not text and not may_be_empty) or len(text) > 10 or int(text or "0") > MAX_REPS:
            raise _Refused
        return int(text or "0")

    def _group(self) -> Chain:
        """Read a group; one of flags alone takes no quantifier."""
        self._at += 1
        comments = self._comments
        if not self._take("?"):
            return self._quantified_group(self._inner(comments))
        kind = self._raw()
        if kind == "<":
            return self._named_or_behind(comments)
        if kind in ("=", "!"):
            self._inner(comments)
            return self._quantified(POSITION)
        if kind == ">":
            return self._quantified(OptionalPart(self._inner(comments), is_optional=False))
        if kind != ":":
            self._at -= 1
            self._add_flags()
            end = self._raw()
            if end == ")":
                return []
            if end != ":":
                raise _Refused
        return self._quantified_group(self._inner(comments))

    def _named_or_behind(self, comments: bool) -> Chain:
        if (next_ := self._raw()) and next_ in "=!":
            if not study(self._inner(comments)).is_bounded:
                raise _Refused  # no obvious maximum length
            return self._quantified(POSITION)
        self._at -= 1
        name = self._name()
        if name in self._names:
            raise _Refused
        self._names.add(name)
        return self._quantified_group(self._inner(comments))

    def _inner(self, comments: bool) -> Chain:
        chain = self._alternatives()
        if not self._take(")"):
            raise _Refused
        self._comments = comments
        return chain

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

    def _escaped(self) -> Piece:
        kind = self._text[self._at + 1 : self._at + 2]
        self._escape(in_class=False)
        if kind in ("R", "X"):
            return LINE_END if kind == "R" else GRAPHEME
        if kind == "k" or kind in "123456789":
            return REFERENCE
        return POSITION if kind in _POSITIONS else CHARACTER

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
