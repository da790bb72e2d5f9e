"""What was recorded, once more: requests to a real cluster, or answers to real clients.

`plan` says which requests are sent and after which answers, `client` sends them and compares;
`answers` finds the recorded answer to a request, `server` gives it.
"""
