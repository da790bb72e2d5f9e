"""The checks, one file a subject: pure functions of the evidence, and the kinds of their findings.

Each file has `KINDS`, in the order of the documentation, and `check`, which yields findings; a
subject about which there is nothing bad to say yields one that is ok.
"""
