"""Frames, connections and what they are secured with."""
