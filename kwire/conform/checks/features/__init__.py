"""Checks of features and their levels."""
