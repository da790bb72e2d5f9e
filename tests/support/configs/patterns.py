"""Patterns of client metrics, and whether Java compiles them (java.util.regex of Java 17)."""

from __future__ import annotations

AGREED = [
    *(
        (pattern, True)
        for pattern in ("a", ".*", "apache-kafka-java", "3\\.[5-9]\\.[0-9]+", "(?i)JAVA")
    ),
    *(
        (pattern, True)
        for pattern in ("10\\.0\\..*", "[^.]+", "a|b", "(a|b)?c*", "^app-.+$", "\\d{4}")
    ),
    *(
        (pattern, True)
        for pattern in ("[\\w.-]+", "\\p{Alpha}+", "\\pL", "\\Q1.2(\\E.*", "(?<name>a)\\k<name>")
    ),
    *(
        (pattern, True)
        for pattern in ("a*+", "a++b", "(?>a|ab)c", "(?:ab)+", "(?!a).*", "(?<!a)b", "a*?")
    ),
    *(
        (pattern, True)
        for pattern in ("\\h\\R\\z", "\\x41\\x{1F600}", "(a)\\1", "[a-c&&[b]]", "[]a]", "é+")
    ),
    *(
        (pattern, False)
        for pattern in ("(", ")", "[", "[a", "a)", "(a", "*", "+a", "?", "a**", "[z-a]")
    ),
    *(
        (pattern, False)
        for pattern in ("\\", "\\y", "\\i", "a{", "a{b}", "{", "(?P<n>a)", "(?#a)", "(?(1)a)")
    ),
    *((pattern, False) for pattern in ("(?<n>a)(?<n>b)", "(?<1>a)", "(?a)b", "\\x4")),
]

DIFFERENT = [
    ("^*", True, False),
    ("(?<!b?)a", True, False),
    ("(?<!a*b)c", True, False),
    ("a{1}{2}", True, False),
    ("\\1", True, False),
    ("[[a]", False, True),
    ("\\k<n>", False, True),
    ("b(?i)*", False, True),
    ("\\p{Nothing}", False, True),
]
"""Pattern, Java's verdict, kwire's: patterns that nobody needs."""
