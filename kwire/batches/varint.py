"""Zigzag varints, which only the records of format 2 use (KIP-98)."""

from __future__ import annotations

from kwire.errors import BatchError


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """Return a 32-bit value and the position after it: at most 5 bytes, as in Kafka."""
    value, position = _read(data, position, 35)
    value &= 0xFFFF_FFFF
    return value >> 1 ^ -(value & 1), position


def read_varlong(data: bytes, position: int) -> tuple[int, int]:
    """Return a 64-bit value and the position after it: at most 10 bytes, as in Kafka."""
    value, position = _read(data, position, 70)
    value &= 0xFFFF_FFFF_FFFF_FFFF
    return value >> 1 ^ -(value & 1), position


def append_varint(target: bytearray, value: int) -> None:
    """Write a value of up to 64 bits."""
    value = value << 1 ^ value >> 63
    while value > 0x7F:
        target.append(value & 0x7F | 0x80)
        value >>= 7
    target.append(value)


def _read(data: bytes, position: int, bits: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, bits, 7):
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    raise BatchError(f"a varint of more than {bits // 7} bytes", offset=position)
