"""Certificates, held against the library that the extra `security` has."""

import ssl
from datetime import UTC, datetime
from random import Random

import pytest
import trustme
from cryptography.x509 import DNSName, SubjectAlternativeName, load_der_x509_certificate

from kwire.net.distinguished_name import name_text
from kwire.net.x509 import Certificate, Der
from tests.support.seed import SEED


@pytest.fixture(scope="module")
def data() -> bytes:
    issued = trustme.CA().issue_cert(
        "proxy.example.org",
        "127.0.0.1",
        organization_name="a, b",
        organization_unit_name="\N{LATIN SMALL LETTER U WITH DIAERESIS}",
        not_before=datetime(1999, 12, 31, 23, 59, 59, tzinfo=UTC),
        not_after=datetime(2050, 1, 1, tzinfo=UTC),  # the first GeneralizedTime
    )
    return ssl.PEM_cert_to_DER_cert(issued.cert_chain_pems[0].bytes().decode())


def test_a_certificate_is_read_as_the_library_reads_it(data: bytes) -> None:
    known, read = load_der_x509_certificate(data), Certificate.read(data)
    assert name_text(read.subject.data) == known.subject.rfc4514_string()
    assert (read.begin, read.end) == (known.not_valid_before_utc, known.not_valid_after_utc)
    names = known.extensions.get_extension_for_class(SubjectAlternativeName).value
    (host,) = names.get_values_for_type(DNSName)
    assert len(read.hosts) == len(names) == 2
    assert b"\x82" + bytes([len(host)]) + host.encode() in read.hosts


def test_a_certificate_without_other_names_has_no_hosts() -> None:
    authority = ssl.PEM_cert_to_DER_cert(trustme.CA().cert_pem.bytes().decode())
    assert Certificate.read(authority).hosts == frozenset()


@pytest.mark.parametrize("number", ["0.9.2342.19200300.100.1.1", "1.3.6", "2.5.4.3", "2.999.1"])
def test_object_identifiers_are_dotted(number: str) -> None:
    first, second, *rest = map(int, number.split("."))
    encoded = b""
    for value in (40 * first + second, *rest):
        digits = [value & 0x7F]
        while value := value >> 7:
            digits.append(value & 0x7F | 0x80)
        encoded += bytes(reversed(digits))
    assert Der.read(bytes((6, len(encoded))) + encoded).number == number


def test_an_endless_object_identifier_is_refused_at_once() -> None:
    size = 90_000  # about what a peer's certificates may have in TLS
    endless = b"\xff" * (size - 1) + b"\x01"
    with pytest.raises(ValueError, match="an object identifier that is too long"):
        _ = Der.read(bytes((6, 0x83)) + size.to_bytes(3, "big") + endless).number


def test_bytes_that_are_no_certificate_are_a_value_error(data: bytes) -> None:
    random = Random(SEED)
    for _ in range(2000):
        mutant = bytearray(data)
        for _ in range(random.randint(1, 3)):
            mutant[random.randrange(len(mutant))] = random.randrange(256)
        cut = bytes(mutant[: random.choice([len(mutant), random.randrange(len(mutant))])])
        try:
            name_text(Certificate.read(cut).subject.data)
        except ValueError:
            continue


def test_a_year_of_two_digits_is_of_1950_to_2049() -> None:
    for text, year in ((b"491231235959Z", 2049), (b"500101000000Z", 1950)):
        assert Der.read(bytes((0x17, len(text))) + text).time.year == year
