"""The RPCs of KRaft, one file each, named as the RPC: both its halves.

`handle_request(replica, received, request, now)` returns the response, or None if
it comes later.
`build_request(...)` makes the request.
`handle_response(replica, node, response, now)` returns True if the next request to the peer may
follow at once, False if the peer needs a pause.

The numbers in a handler's docstring stand as `# 3.` at the code that does the step.
"""
