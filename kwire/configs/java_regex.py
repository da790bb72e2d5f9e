"""True or false: is a text a regular expression, as far as a controller has to know?

Kafka's brokers compile the patterns of client metrics with java.util.regex; the controller only
refuses a pattern that cannot be meant as one. Python's `re` decides, after what Java writes
otherwise was replaced. Both agree on what people write; a test lists where they differ.
"""

from __future__ import annotations

import re
import warnings

_ESCAPES = re.compile(
    r"\\Q.*?(?:\\E|\Z)"
    r"|\\[pP](?:\{[\w= ]{1,100}\}|[A-Z])"
    r"|\\(?:[hHvVRXGze]|0[0-7]{1,3}|c.|x\{[0-9a-fA-F]{1,6}\}|k<[a-zA-Z][a-zA-Z0-9]*>)"
    r"|(\\.)",
    re.DOTALL,
)
"""Java's own escapes, each for one character or a position; last, those that Python has, too."""

_CLASSES = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*(?:\]|\Z)", re.DOTALL)

_REFUSED = re.compile(r"\(\?(?![:=!><idmsuxU-])|\{(?!\d+(?:,\d*)?\})")
"""Python's own groups, and braces that Python takes for text."""

_GROUPS = re.compile(
    r"(\\.)|(?P<flags>\(\?[idmsuxU-]+\))|(?P<plain>\(\?[idmsuxU-]+:)|(?P<named>\(\?<(?![=!]))",
    re.DOTALL,
)
_PYTHONS_GROUPS = {"flags": "", "plain": "(?:", "named": "(?P<"}


def is_java_regex(text: str) -> bool:
    """Return False for a text that Java does not compile; it may err where few write."""
    pattern = _ESCAPES.sub(lambda escape: escape[1] or "x", text)
    if _REFUSED.search(_CLASSES.sub("x", pattern)):
        return False
    pattern = _GROUPS.sub(
        lambda group: _PYTHONS_GROUPS.get(group.lastgroup or "", group[0]), pattern
    )
    try:
        with warnings.catch_warnings(action="ignore"):  # of sets that mean more in Java
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True
