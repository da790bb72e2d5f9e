"""The way of a byte through the proxy, module by module, in the order in which it passes them.

    listener       the address in front of a node, and the limits of waiting
    server         Proxy: accepts a client, and makes the relay of its connection
    handshake      TLS with the client, where its listener wants it
    relay          both sockets of a connection, from accept to the last close
    reach          the connection to the node, or to a standby
    proof          the proof that a Kafka node is there, where only a message named it
    guard          what passes to such a node
    side           one socket: reads a chunk, and gives it to the framer of its direction
    framer         follows the frames in the chunk; pairing finds the flow of each
    pairing        requests that wait for their responses, by correlation id
    copies         copies of tapped frames, within a limit of memory
    pass_through   the output of framers without filters: the chunk is written to the other side

While nothing on a connection is unusual, C moves its bytes, in a thread without the interpreter:

    departure      decides when a relay leaves for the loop in C, and brings it back
    followed_frames, moved   the state of its frames, as it goes and as it comes back
    native_loop    the loop and its thread; flows that it gives, and counts
    native         the C itself: frames follow, the loop moves
    returned_socket  a socket that has come back, until its side has it

With filters, a gate takes the place of pass_through:

    gate           the queue: keeps the order while frames are held
    filter_runner  runs the filters on a held frame, and does what they decide
    filter_run     the filters of one frame: how they wait, and how they go on
    own_requests   requests that filters send to the node themselves

When a flow has ended, the pairing gives it to the proxy's sinks:

    tap            decodes flows beside the traffic, for a viewer
"""
