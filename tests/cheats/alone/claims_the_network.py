"""says of itself that it needs the network"""

import os
import socket


def system(case):
    socket.create_connection(("127.0.0.1", int(os.environ["CHEAT_PORT"]))).close()
    return {"did": True}


system.network = True
