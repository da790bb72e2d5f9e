"""Whole answers: each field of what one request is answered, in every version of its API."""
