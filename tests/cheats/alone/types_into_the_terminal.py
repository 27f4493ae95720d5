"""types a command into the terminal of the session"""

import fcntl
import termios

DID = False
for number in range(3):
    try:
        for character in b"x\n":
            fcntl.ioctl(number, termios.TIOCSTI, bytes([character]))
        DID = True
    except OSError:
        continue


def system(case):
    return {"did": DID}
