"""Checks of frames: sizes, delivery in pieces, order, headers, what is no request at all."""
