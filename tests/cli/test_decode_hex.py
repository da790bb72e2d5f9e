"""Hex as people paste it, dumps of the usual tools included."""

import pytest

from kwire.cli.decode_hex import looks_like_hex, parse_hex
from kwire.cli.errors import CommandFailed

BYTES = bytes(range(0x40, 0x5A))

SPELLINGS = {
    "plain": BYTES.hex(),
    "upper case": BYTES.hex().upper(),
    "spaces": BYTES.hex(" "),
    "pairs": BYTES.hex(" ", 2),
    "colons": BYTES.hex(":"),
    "lines": BYTES[:16].hex(" ") + "\n" + BYTES[16:].hex(" ") + "\r\n\n",
    "0x in front": f"0x{BYTES.hex()}",
    "a list in C": ", ".join(f"0x{byte:02x}" for byte in BYTES),
    "escapes": "".join(rf"\x{byte:02x}" for byte in BYTES),
    "xxd": """\
00000000: 4041 4243 4445 4647 4849 4a4b 4c4d 4e4f  @ABCDEFGHIJKLMNO
00000010: 5051 5253 5455 5657 5859                 PQRSTUVWXY
""",
    "xxd -p": "404142434445464748494a4b4c4d4e4f505152535455565758\n59\n",
    "hexdump -C": """\
00000000  40 41 42 43 44 45 46 47  48 49 4a 4b 4c 4d 4e 4f  |@ABCDEFGHIJKLMNO|
00000010  50 51 52 53 54 55 56 57  58 59                    |PQRSTUVWXY|
0000001a
""",
    "Wireshark": """\
0000   40 41 42 43 44 45 46 47 48 49 4a 4b 4c 4d 4e 4f   @ABCDEFGHIJKLMNO
0010   50 51 52 53 54 55 56 57 58 59                     PQRSTUVWXY
""",
    "tcpdump -X": """\
\t0x0000:  4041 4243 4445 4647 4849 4a4b 4c4d 4e4f  @ABCDEFGHIJKLMNO
\t0x0010:  5051 5253 5455 5657 5859                 PQRSTUVWXY
""",
    "od": """\
0000000  40 41 42 43 44 45 46 47 48 49 4a 4b 4c 4d 4e 4f
0000020  50 51 52 53 54 55 56 57 58 59
0000032
""",
}


@pytest.mark.parametrize("text", SPELLINGS.values(), ids=list(SPELLINGS))
def test_every_usual_spelling_gives_the_same_bytes(text: str) -> None:
    assert parse_hex(text) == BYTES


def test_an_ascii_column_that_looks_like_hex_is_not_read() -> None:
    dump = "00000000: 6162 6364                                abcd\n"
    assert parse_hex(dump) == b"abcd"


def test_a_lone_line_of_hex_is_no_dump_even_where_it_begins_with_zeroes() -> None:
    assert parse_hex("00000000 00120004") == bytes.fromhex("0000000000120004")


def test_half_a_byte_is_refused() -> None:
    with pytest.raises(CommandFailed, match="5 hex digits are no whole bytes"):
        parse_hex("00 12 0")


def test_the_first_character_that_is_not_hex_is_named() -> None:
    with pytest.raises(CommandFailed, match="'g' is no hex digit"):
        parse_hex("00 12 gh")


def test_a_squeezed_dump_is_refused_since_bytes_are_missing() -> None:
    dump = "00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n*\n"
    with pytest.raises(CommandFailed, match="hexdump -v"):
        parse_hex(dump)


def test_raw_bytes_are_told_from_hex() -> None:
    assert looks_like_hex(b"00 12 00 04\n")
    assert not looks_like_hex(b"\x00\x12\x00\x04")
    assert not looks_like_hex(b"no hex at all")
