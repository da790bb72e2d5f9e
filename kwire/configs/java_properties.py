"""Names behind \\p and \\N in Java's regular expressions (java.util.regex.CharPredicates)."""

from __future__ import annotations

import unicodedata

_POSIX = {
    *("Lower", "Upper", "ASCII", "Alpha", "Digit", "Alnum", "Punct", "Graph", "Print"),
    *("Blank", "Cntrl", "XDigit", "Space"),
}
_CATEGORIES = {
    *("Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Me", "Mc", "Nd", "Nl", "No", "Zs", "Zl", "Zp"),
    *("Cc", "Cf", "Co", "Cs", "Pd", "Ps", "Pe", "Pc", "Po", "Sm", "Sc", "Sk", "So", "Pi", "Pf"),
    *("L", "M", "N", "Z", "C", "P", "S", "LC", "LD", "L1", "all"),
}
_JAVA = {
    *("LowerCase", "UpperCase", "Alphabetic", "Ideographic", "TitleCase", "Digit", "Defined"),
    *("Letter", "LetterOrDigit", "JavaIdentifierStart", "JavaIdentifierPart"),
    *("UnicodeIdentifierStart", "UnicodeIdentifierPart", "IdentifierIgnorable", "SpaceChar"),
    *("Whitespace", "ISOControl", "Mirrored"),
}
_BINARY = {
    *("ALPHABETIC", "LETTER", "IDEOGRAPHIC", "LOWERCASE", "UPPERCASE", "TITLECASE"),
    *("WHITE_SPACE", "CONTROL", "PUNCTUATION", "HEX_DIGIT", "ASSIGNED"),
    *("NONCHARACTER_CODE_POINT", "DIGIT", "ALNUM", "BLANK", "GRAPH", "PRINT", "WORD"),
    *("JOIN_CONTROL", "WHITESPACE", "HEXDIGIT", "NONCHARACTERCODEPOINT", "JOINCONTROL"),
}
_SCRIPTS = {
    *("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "HEBREW", "ARABIC", "THAI", "HANGUL", "HAN"),
    *("HIRAGANA", "KATAKANA", "DEVANAGARI", "BENGALI", "GEORGIAN", "COMMON", "INHERITED"),
}
_BLOCKS = {"BASICLATIN", "LATIN1SUPPLEMENT", "GREEK", "CYRILLIC", "HEBREW", "ARABIC"}


def is_property(name: str) -> bool:
    """True for a property that is known here: of scripts and blocks, those in wide use."""
    key, equals, value = name.partition("=")
    if equals:
        return _is_pair(key.lower(), value)
    if name.startswith("In"):
        return _is_block(name[2:])
    if name.startswith("Is"):
        plain = name[2:]
        return plain.upper() in _BINARY | _SCRIPTS or plain in _CATEGORIES | _POSIX - {"ASCII"}
    return name in _CATEGORIES | _POSIX or (name.startswith("java") and name[4:] in _JAVA)


def _is_pair(key: str, value: str) -> bool:
    if key in ("sc", "script"):
        return value.upper() in _SCRIPTS
    if key in ("blk", "block"):
        return _is_block(value)
    return key in ("gc", "general_category") and value in _CATEGORIES


def _is_block(name: str) -> bool:
    plain = name.upper().replace("_", "").replace(" ", "").replace("-", "")
    return plain in _BLOCKS


def is_character_name(name: str) -> bool:
    """True for the name of a character, as Character.codePointOf takes it."""
    try:
        unicodedata.lookup(name.strip())
    except KeyError:
        return False
    return True
