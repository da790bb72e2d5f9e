"""ssl.principal.mapping.rules (KIP-371; Java: SslPrincipalMapper)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kwire.error_codes import ErrorCode
from kwire.errors import BrokerError, InvalidValue

NAME = "ssl.principal.mapping.rules"

_RULE = r"(DEFAULT)|RULE:((?:\\.|[^\\/])*)/((?:\\.|[^\\/])*)/([LU]?)"
_SEPARATED_RULE = re.compile(rf"\s*(?:{_RULE})\s*(?:,\s*|$)")
_REFERENCE = re.compile(r"\\(.)|\$(\d+)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrincipalRule:
    """One rule. pattern: None for DEFAULT, which takes every name as it is. case: L, U or empty."""

    pattern: re.Pattern[str] | None = None
    replacement: str = ""
    case: str = ""

    def apply(self, name: str) -> str | None:
        """Return the name of the principal; None if the rule does not match."""
        if self.pattern is None:
            return name
        if not self.pattern.fullmatch(name):
            return None
        mapped = self.pattern.sub(self._expanded, name)
        return {"L": mapped.lower(), "U": mapped.upper()}.get(self.case, mapped)

    def _expanded(self, match: re.Match[str]) -> str:
        """Return the replacement with its references; one to a group that is none stays as it is.

        `$12` is group 1 and the digit 2 if there are fewer than 12 groups.
        """

        def group(reference: re.Match[str]) -> str:
            if reference[1] is not None:
                return reference[1]
            digits = reference[2]
            for length in range(len(digits), 0, -1):
                if int(digits[:length]) <= match.re.groups:
                    return (match[int(digits[:length])] or "") + digits[length:]
            return f"${digits}"

        return _REFERENCE.sub(group, self.replacement)


@dataclass(frozen=True, slots=True)
class PrincipalMapper:
    """The rules of a listener, of which the first that matches counts."""

    rules: tuple[PrincipalRule, ...] = (PrincipalRule(),)

    @classmethod
    def of(cls, text: str) -> PrincipalMapper:
        """Parse rules, separated by commas: DEFAULT, or RULE:pattern/replacement/ with L or U.

        Raises InvalidValue.
        """
        rules, at = [], 0
        text = text.strip()
        while at < len(text):
            found = _SEPARATED_RULE.match(text, at)
            if found is None:
                raise InvalidValue(f"{NAME}: {text[at:]!r} is neither DEFAULT nor RULE:a/b/")
            at = found.end()
            rules.append(PrincipalRule() if found[1] else _rule(found))
        return cls(tuple(rules) or (PrincipalRule(),))

    def principal(self, name: str) -> str:
        """Return `User:` and the mapped name. Raises BrokerError if no rule matches."""
        for rule in self.rules:
            mapped = rule.apply(name)
            if mapped is not None:
                return f"User:{mapped}"
        text = f"no rule of {NAME} is for {name}"
        raise BrokerError(ErrorCode.SASL_AUTHENTICATION_FAILED, text)


def _rule(found: re.Match[str]) -> PrincipalRule:
    try:
        pattern = re.compile(found[2])
    except re.error as error:
        raise InvalidValue(f"{NAME}: {found[2]!r} is no regular expression: {error}") from None
    return PrincipalRule(pattern=pattern, replacement=found[3], case=found[4])
