"""Checks of brokers and controllers that register."""
