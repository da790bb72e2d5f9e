"""Declarations of messages, and the three engines that read and write them."""
