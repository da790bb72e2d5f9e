"""`kwire conform`: a run of checks, its screen and its reports."""
