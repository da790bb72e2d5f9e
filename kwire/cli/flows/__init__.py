"""Flows and messages on a screen, as lines or as JSON, for every command that shows traffic."""
