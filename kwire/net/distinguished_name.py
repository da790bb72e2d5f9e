"""The subject of a certificate as Java writes it (X500Principal.getName, RFC 2253)."""

from __future__ import annotations

from kwire.net.x509 import Certificate, Der

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
    return name_text(Certificate.read(certificate).subject.data)


def name_text(name: bytes) -> str:
    """Return a distinguished name in DER as text. Raises ValueError if it is none."""
    try:
        return ",".join(
            "+".join(_attribute(*attribute.parts()) for attribute in part.parts())
            for part in reversed(list(Der.read(name).parts()))
        )
    except TypeError as error:  # an attribute is a pair
        raise ValueError("a name that is none") from error


def _attribute(kind: Der, value: Der) -> str:
    keyword, text = _KEYWORDS.get(kind.number), value.text
    if keyword is None or text is None:
        return f"{kind.number}=#{value.data.hex()}"
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
