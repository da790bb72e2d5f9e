"""Breaks of `frames/strangers`."""

from breaking import Break, answers_end, dies_on

BREAKS: dict[int, Break] = {
    1: dies_on(None, only_for=lambda request: request.key == 999),
    **{number: answers_end() for number in range(2, 7)},
}
