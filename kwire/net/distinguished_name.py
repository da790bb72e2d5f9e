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

_ESCAPED = ',+"\\<>;'


def distinguished_name(certificate: bytes) -> str:
    """Return the subject of a certificate in DER, its last part first.

    Raises ValueError if it is no certificate.
    """
    from asn1crypto.x509 import Certificate  # only where there is TLS

    parts = Certificate.load(certificate).subject.chosen
    return ",".join(
        "+".join(_attribute(attribute["type"].dotted, attribute["value"]) for attribute in part)
        for part in reversed(list(parts))
    )


def _attribute(number: str, value: object) -> str:
    keyword = _KEYWORDS.get(number)
    text = getattr(value, "native", None)
    if keyword is None or not isinstance(text, str):
        data: bytes = value.dump()  # type: ignore[attr-defined]
        return f"{number}=#{data.hex()}"
    return f"{keyword}={_escaped(text)}"


def _escaped(text: str) -> str:
    escaped = "".join(f"\\{letter}" if letter in _ESCAPED else letter for letter in text)
    if escaped[:1] in ("#", " "):
        escaped = "\\" + escaped
    if escaped.endswith(" ") and len(text) > 1:
        escaped = escaped[:-1] + "\\ "
    return escaped
