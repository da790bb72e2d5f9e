"""Flows into captures and back: recorded, redacted, exchanged with pcap, replayed."""
