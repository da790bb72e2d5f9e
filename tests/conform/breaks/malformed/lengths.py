"""Breaks of `malformed/length`."""

from breaking import Break, answers_end

BREAKS: dict[int, Break] = {number: answers_end() for number in range(1, 10)}
