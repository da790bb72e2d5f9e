"""Checks of ApiVersions and of the choice of versions."""
