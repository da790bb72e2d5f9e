"""Subjects of certificates, held against the library that writes them by RFC 4514."""

import datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from kwire.net.distinguished_name import distinguished_name

KEY = generate_private_key(SECP256R1())


def certificate(name: x509.Name) -> bytes:
    now = datetime.datetime(2026, 1, 1)
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(KEY.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(KEY, SHA256())
        .public_bytes(Encoding.DER)
    )


@pytest.mark.parametrize(
    "text",
    [
        "CN=alice,OU=users,O=kwire,C=DE",
        r"CN=a\,b\+c\"d\\e\<f\>g\;h,O=x",
        r"CN=\#first,O=\ space\ ",
        "UID=7,DC=example,DC=org",
        "CN=\N{LATIN SMALL LETTER U WITH DIAERESIS}nd",
        "CN=a+OU=b,O=c",
    ],
)
def test_a_subject_is_written_with_its_last_part_first(text: str) -> None:
    name = x509.Name.from_rfc4514_string(text)
    assert distinguished_name(certificate(name)) == name.rfc4514_string() == text


def test_attributes_without_a_keyword_are_numbers_and_bytes() -> None:
    name = x509.Name([x509.NameAttribute(NameOID.EMAIL_ADDRESS, "a@b")])
    assert distinguished_name(certificate(name)) == "1.2.840.113549.1.9.1=#1603614062"
