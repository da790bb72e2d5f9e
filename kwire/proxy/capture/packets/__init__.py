"""Packets of pcap and pcapng files, and the TCP connections in them."""
