"""Breaks of `login/answers`: a relay that has every request answered by its own login."""

from breaking import Break, lets_in
from kwire.conform.checks.login.answers import NUMBER
from kwire.conform.checks.login.states import STATES

BREAKS: dict[int, Break] = dict.fromkeys(STATES, lets_in(NUMBER))
