"""Warns of certificates that are not valid, or will soon not be."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from kwire.net.distinguished_name import name_text
from kwire.net.pem import CERTIFICATE, pem_blocks
from kwire.net.x509 import Certificate

SOON = timedelta(days=30)
"""The time before its end from which on a certificate is worth a warning."""


@dataclass(frozen=True, slots=True)
class Validity:
    """The time in which a certificate is accepted. subject: the name of its owner."""

    subject: str
    begin: datetime
    end: datetime


def validities(path: Path) -> list[Validity]:
    """Return the validity of each certificate in a PEM file; none where nothing can be read."""
    certificates = []
    try:
        text = path.read_text(encoding="ascii", errors="replace")
        for block in pem_blocks(text):
            if block.label != CERTIFICATE:
                continue
            certificate = Certificate.read(block.der)
            subject = name_text(certificate.subject.data)
            certificates.append(Validity(subject, certificate.begin, certificate.end))
    except (OSError, ValueError):  # ssl is the judge of what can be used
        return certificates
    return certificates


def certificate_warnings(path: Path, now: datetime) -> list[str]:
    """Return a sentence for each certificate in a file that is not valid, or soon will not be."""
    warnings = []
    for validity in validities(path):
        subject = f"the certificate in {path} ({validity.subject})"
        refused = "peers that check it refuse it"
        if now >= validity.end:
            warnings.append(f"{subject} expired on {_day(validity.end)}: {refused}")
        elif now < validity.begin:
            warnings.append(f"{subject} is not valid before {_day(validity.begin)}: {refused}")
        elif validity.end - now < SOON:
            days = (validity.end - now).days
            left = "within a day" if not days else "in 1 day" if days == 1 else f"in {days} days"
            warnings.append(f"{subject} expires {left}, on {_day(validity.end)}: renew it before")
    return warnings


def _day(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
