"""Reads from files of certificates how long they are valid."""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

SOON = timedelta(days=30)
"""The time before its end from which on a certificate is worth a warning."""

_PEM = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Validity:
    """The time in which a certificate is accepted. subject: whose it is, in words."""

    subject: str
    begin: datetime
    end: datetime


def validities(path: Path) -> list[Validity]:
    """Those of the certificates in a PEM file; none where there is nothing to be read."""
    from asn1crypto.x509 import Certificate  # only where there is TLS

    found = []
    try:
        text = path.read_text(encoding="ascii", errors="replace")
        for pem in _PEM.findall(text):
            certificate = Certificate.load(ssl.PEM_cert_to_DER_cert(pem))
            subject = certificate.subject.human_friendly
            begin, end = certificate.not_valid_before, certificate.not_valid_after
            found.append(Validity(subject, begin, end))
    except (OSError, ValueError, TypeError):  # ssl is the judge of what can be used
        return found
    return found


def certificate_warnings(path: Path, now: datetime) -> list[str]:
    """A sentence for each certificate in a file that is not valid, or will soon not be."""
    found = []
    for validity in validities(path):
        whose = f"the certificate in {path} ({validity.subject})"
        if now >= validity.end:
            found.append(f"{whose} expired on {_day(validity.end)}: who checks it refuses it")
        elif now < validity.begin:
            found.append(
                f"{whose} is not valid before {_day(validity.begin)}: who checks it refuses it"
            )
        elif validity.end - now < SOON:
            days = (validity.end - now).days
            left = "within a day" if not days else "in 1 day" if days == 1 else f"in {days} days"
            found.append(f"{whose} expires {left}, on {_day(validity.end)}: renew it before")
    return found


def _day(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
