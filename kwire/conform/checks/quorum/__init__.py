"""Checks of the metadata quorum."""
