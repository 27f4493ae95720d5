"""writes into all that its process has open while it is imported"""

import os
import socket

SAID = (b"ready", b'{"name": "good", "digest": "0", "concurrency": "any"}\n', b"\xff" * 9, b"[" * 2**15)

for number in range(3, 256):
    for said in SAID:
        try:
            os.set_blocking(number, False)
            os.write(number, said)
        except OSError:
            break


def system(case):
    return {"answer": "wrong"}
