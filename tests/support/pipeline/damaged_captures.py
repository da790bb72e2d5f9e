"""Files that are no captures, by name: content and reason."""

NO_FILES = {
    "garbage.avro": (b"garbage" * 900, "no capture: it does not begin as an Avro file does"),
    "empty.avro": (b"", "no capture: it is empty"),
    "cut.avro": (b"Obj\x01\x04", "the header of the capture is not whole"),
    "garbage.pcap": (b"garbage" * 900, "neither pcap nor pcapng: "),
    "empty.pcapng": (b"", "neither pcap nor pcapng: "),
}
"""Names of files that are nothing of the kind, what is in them, and what is said of that."""
