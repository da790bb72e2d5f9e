"""Checks of every advertised pair of an API and a version, with requests that change nothing."""
