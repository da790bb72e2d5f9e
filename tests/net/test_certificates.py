"""Certificates that are not valid, or soon will not be, are worth a sentence."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme

from kwire.net.certificates import certificate_warnings, validities

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def issue(path: Path, begin: datetime, end: datetime) -> Path:
    issued = trustme.CA().issue_cert("proxy.example.org", not_before=begin, not_after=end)
    path.write_bytes(b"".join(pem.bytes() for pem in issued.cert_chain_pems))
    return path


@pytest.mark.parametrize(
    ("begin", "end", "said"),
    [
        (-DAY, 31 * DAY, ""),
        (-2 * DAY, -DAY, "expired on 2026-11-21 12:00 UTC: peers that check it refuse it"),
        (-2 * DAY, 0 * DAY, "expired on 2026-11-22 12:00 UTC"),
        (DAY, 90 * DAY, "is not valid before 2026-11-23 12:00 UTC: peers that check it refuse it"),
        (-DAY, DAY / 2, "expires within a day, on 2026-11-23 00:00 UTC: renew it before"),
        (-DAY, DAY, "expires in 1 day, on 2026-11-23 12:00 UTC"),
        (-DAY, 30 * DAY - DAY / 24, "expires in 29 days, on 2026-12-22 11:00 UTC"),
    ],
)
def test_what_is_said_of_a_certificate(
    begin: timedelta, end: timedelta, said: str, tmp_path: Path
) -> None:
    path = issue(tmp_path / "proxy.pem", NOW + begin, NOW + end)
    warnings = certificate_warnings(path, NOW)
    assert len(warnings) == bool(said)
    for warning in warnings:
        assert warning.startswith(f"the certificate in {path} (")
        assert said in warning


def test_every_certificate_of_a_chain_is_looked_at(tmp_path: Path) -> None:
    first = issue(tmp_path / "a.pem", NOW - 2 * DAY, NOW - DAY)
    second = issue(tmp_path / "b.pem", NOW - 2 * DAY, NOW + DAY)
    chain = tmp_path / "chain.pem"
    chain.write_bytes(b"words\n" + first.read_bytes() + second.read_bytes())
    expired, expiring = certificate_warnings(chain, NOW)
    assert "expired" in expired
    assert "expires" in expiring


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"nothing",
        b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n",
        b"\xff\xfe",
    ],
)
def test_what_is_no_certificate_is_left_to_others(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "proxy.pem"
    path.write_bytes(data)
    assert validities(path) == validities(tmp_path / "missing") == []
