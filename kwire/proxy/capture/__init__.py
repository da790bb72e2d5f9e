"""Captures of flows: recording, redaction, anonymization, exchange with pcap, replay."""
