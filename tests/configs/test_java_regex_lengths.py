"""Look-behinds compile as in Java: the verdicts are those of java.util.regex.Pattern of Java 17.

`test_judged_by_java` asks Java itself, about random ones.
"""

from kwire.configs.java_regex import is_java_regex

COMPILED = (
    *(r"(?<!a*)", r"(?<!.*)", r"(?<!\h*)", r"(?<!a\h*)", r"(?<!\h*\h*)", r"(?<!\h*|a)", r"(?<!\X)"),
    *(r"(?<!(\h*))", "(?<!a*?)", "(?<!a*+)", "(?<!(a)*)", "(?<!(a)+b)", "(?<!(?>a*))", "(?<!()*a)"),
    *(r"(?<!\b*)", "(?<!a{2000000000}{2})", "(?<!a{2147483647}b)", "(?<!(?:a{65536}){65536})"),
)
REFUSED = (
    *("(?<!ba*?)", "(?<!b(a)+)", "(?<!(?:ab)*)", r"(?<!\R*)", r"(?<!\1)", "(?<!(a|b)+)"),
    *("(?<!(a|bc)*)", "(?<!a?*)", "(?<!a{1073741824}b{1073741824})", "(?<!(?:a{65536}){32768})"),
)


def test_look_behinds_compile_as_java_counts_their_longest_text() -> None:
    assert [pattern for pattern in COMPILED if not is_java_regex(pattern)] == []
    assert [pattern for pattern in REFUSED if is_java_regex(pattern)] == []
