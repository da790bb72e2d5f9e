"""`kwire capture`: commands on recordings of `kwire proxy -w`."""
