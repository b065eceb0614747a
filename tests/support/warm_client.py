"""Takes the words of `python`, has warm_server.py run them, and ends as they do; else runs them itself.

The words of this program: the Python to fall back to, the server's socket, and then those of `python`.
"""

import json
import os
import signal
import socket
import sys


def ask(address, words):
    """The status that the program ended with, as of waitpid; None where the server cannot run it."""
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(address)
            job = json.dumps([words, os.getcwd(), dict(os.environ)]).encode()
            socket.send_fds(connection, [len(job).to_bytes(8, "little")], [0, 1, 2])
            connection.sendall(job)
        except OSError:
            return None
        answer = connection.recv(64)
    if not answer:
        sys.exit("tests/support/warm_server.py has ended")
    return json.loads(answer)


def main(python, address, *words):
    status = ask(address, words)
    if status is None:
        os.execv(python, [python, *words])
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
