"""Runs a command in a network that nobody else is in: `unshare` leaves even its loopback switched off, which
processes of one machine need to find each other.

usage: unshare --net --map-root-user python3 loopback.py COMMAND…
"""

import fcntl
import os
import socket
import struct
import sys

SIOCSIFFLAGS = 0x8914
IFF_UP = 0x1

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
    fcntl.ioctl(handle, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP))
os.execvp(sys.argv[1], sys.argv[1:])
