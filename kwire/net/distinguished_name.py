"""The subject of a certificate as Java writes it (X500Principal.getName, RFC 2253)."""

from __future__ import annotations

_KEYWORDS = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.25": "DC",
    "0.9.2342.19200300.100.1.1": "UID",
}
"""The attributes that RFC 2253 has keywords for; others are written as their number and bytes."""

_ESCAPED = ',=+<>#;"\\'
_SPACES = " \r"


def distinguished_name(certificate: bytes) -> str:
    """Return the subject of a certificate in DER, its last part first.

    Raises ValueError if it is no certificate.
    """
    from asn1crypto.x509 import Certificate  # only where there is TLS

    return name_text(Certificate.load(certificate).subject.dump())


def name_text(name: bytes) -> str:
    """Return a distinguished name in DER as text. Raises ValueError if it is none."""
    from asn1crypto.x509 import Name

    return ",".join(
        "+".join(_attribute(attribute["type"].dotted, attribute["value"]) for attribute in part)
        for part in reversed(list(Name.load(name).chosen))
    )


def _attribute(number: str, value: object) -> str:
    keyword = _KEYWORDS.get(number)
    text = getattr(value, "native", None)
    if keyword is None or not isinstance(text, str):
        data: bytes = value.dump()  # type: ignore[attr-defined]
        return f"{number}=#{data.hex()}"
    return f"{keyword}={_escaped(text)}"


def _escaped(text: str) -> str:
    start = len(text) - len(text.lstrip(_SPACES))
    end = len(text.rstrip(_SPACES))
    characters = []
    for position, character in enumerate(text):
        is_outer_space = not start <= position < end
        if character in _ESCAPED or is_outer_space:
            character = f"\\{character}"
        characters.append("\\00" if character == "\0" else character)
    return "".join(characters)
