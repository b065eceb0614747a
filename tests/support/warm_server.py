"""Imports torch, and forks for each program that warm_client.py asks for: the first argument is its socket.

It ends with its standard input. A program is killed when the one who asked for it has gone.
"""

import atexit
import gc
import json
import os
import runpy
import selectors
import signal
import socket
import sys
import tempfile
import types

ENVIRONMENT = dict(os.environ)
_ends_with = []  # the exit code, in the process of a program


def leave():
    """Ends without taking torch apart, which takes ten times as long as a program here."""
    if _ends_with:
        sys.stdout.flush()
        sys.stderr.flush()
        if _ends_with[0] < 0:
            signal.signal(-_ends_with[0], signal.SIG_DFL)
            os.kill(os.getpid(), -_ends_with[0])
        os._exit(_ends_with[0] & 0xFF)


# Threads that wait do not spin: programs as short as these would do little else.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
atexit.register(leave)  # what is registered later is called before: torch's own, the program's

import numpy  # noqa: E402
import torch  # noqa: E402
import torch._dynamo  # noqa: E402, F401  what optimizers import

# Variables that are read when Python or a library of torch's starts.
READ_AT_START = ("PYTHON", "ATEN_", "TORCH", "OMP_", "GOMP_", "KMP_", "MKL_", "LD_", "MALLOC_", "ASAN_")
READ_LATER = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "OMP_NUM_THREADS")
LIBRARIES = sys.path[1:]


def is_ready_for(words, folder, environment):
    """Whether a fork does what a new process would."""
    for name in {*environment, *ENVIRONMENT}:
        if name.startswith(READ_AT_START) and name not in READ_LATER:
            # torch adds to them, here as in a process that starts others.
            if environment.get(name) not in (ENVIRONMENT.get(name), os.environ.get(name)):
                return False
    if words and words[0] in ("-c", "-m"):
        return len(words) > 1
    return bool(words) and words[0][:1] != "-" and os.path.isfile(os.path.join(folder, words[0]))


# In the process of a program


def make_main():
    """A new __main__."""
    names = vars(sys.modules["__main__"])
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    if "__annotations__" in names:  # as this Python gives to each
        main.__annotations__ = {}
    main.__builtins__ = sys.modules["builtins"]
    return main


def run_words(words):
    """As `python` does."""
    main = make_main()
    sys.orig_argv[:] = [sys.executable, *words]
    if words[0] == "-m":
        sys.path.insert(0, os.getcwd())
        sys.argv[:] = ["-m", *words[2:]]
        runpy._run_module_as_main(words[1])
        return
    if words[0] == "-c":
        sys.path.insert(0, "")
        sys.argv[:] = ["-c", *words[2:]]
        name, source = "<string>", words[1]
    else:
        name = os.path.join(os.getcwd(), words[0])
        sys.path.insert(0, os.path.dirname(os.path.realpath(name)))
        sys.argv[:] = words
        main.__file__ = name
        main.__cached__ = None
        with open(name, "rb") as file:
            source = file.read()
    exec(compile(source, name, "exec", dont_inherit=True), main.__dict__)


def run(words):
    """The exit code; negative, of a signal."""
    try:
        run_words(words)
    except SystemExit as error:
        if isinstance(error.code, int) or error.code is None:
            return error.code or 0
        print(error.code, file=sys.stderr)
        return 1
    except BaseException as error:
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_frame.f_code.co_filename == __file__:
            traceback = traceback.tb_next
        sys.last_type, sys.last_value, sys.last_traceback = type(error), error, traceback
        sys.excepthook(type(error), error.with_traceback(traceback), traceback)
        return -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
    return 0


def become(words, folder, environment, files):
    """Makes this process the program's; what is left to do is run()."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    path = environment.get("PYTHONPATH", "")
    sys.path[:] = [*(os.path.abspath(entry) for entry in path.split(os.pathsep) if entry), *LIBRARIES]
    sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))
    tempfile.tempdir = None
    if environment.get("OMP_NUM_THREADS"):
        torch.set_num_threads(int(environment["OMP_NUM_THREADS"]))
    numpy.random.seed()
    torch.seed()


# In the server


def receive(connection):
    """A job: [words, folder, environment], and three open files; None where nobody asks."""
    size, files, _, _ = socket.recv_fds(connection, 8, 3)
    if len(size) < 8:
        return None
    left = int.from_bytes(size, "little")
    text = bytearray()
    while len(text) < left:
        piece = connection.recv(left - len(text))
        if not piece:
            return None
        text += piece
    return (*json.loads(text), files)


class Server:
    def __init__(self, address):
        self.selector = selectors.DefaultSelector()
        self.running = {}  # connection: (process, its file descriptor)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(address)
        self.listener.listen(64)
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.selector.register(0, selectors.EVENT_READ)

    def serve(self):
        """Returns in the process of a program, with its words; None in the server, when it is to end."""
        while True:
            for key, _ in self.selector.select():
                if key.fileobj == 0:
                    return None
                if key.fileobj is self.listener:
                    words = self.begin(self.listener.accept()[0])
                    if words is not None:
                        return words
                elif key.data in self.running:
                    self.end(key.data)

    def begin(self, connection):
        """Forks; returns the words in the new process alone."""
        job = receive(connection)
        if job is None or not is_ready_for(*job[:3]):
            if job is not None:
                connection.sendall(b"null")
                for file in job[3]:
                    os.close(file)
            connection.close()
            return None
        process = os.fork()
        if process == 0:
            connection.close()
            self.close()
            become(*job)
            return job[0]
        for file in job[3]:
            os.close(file)
        descriptor = os.pidfd_open(process)
        self.running[connection] = process, descriptor
        self.selector.register(connection, selectors.EVENT_READ, connection)
        self.selector.register(descriptor, selectors.EVENT_READ, connection)
        return None

    def end(self, connection):
        """The program has ended, or nobody waits for it."""
        process, descriptor = self.running.pop(connection)
        self.selector.unregister(connection)
        self.selector.unregister(descriptor)
        os.close(descriptor)
        found, status = os.waitpid(process, os.WNOHANG)
        if not found:
            os.kill(process, signal.SIGKILL)
            _, status = os.waitpid(process, 0)
        try:
            connection.sendall(str(status).encode())
        except OSError:
            pass  # gone
        connection.close()

    def close(self):
        """What a program is not to have of the server's."""
        for connection, (_, descriptor) in self.running.items():
            connection.close()
            os.close(descriptor)
        self.selector.close()
        self.listener.close()


def main():
    torch.nn.Linear(1, 1)(torch.zeros(1, 1))
    server = Server(sys.argv[1])
    gc.collect()
    gc.freeze()
    print("ready", flush=True)
    words = server.serve()
    if words is None:
        for process, _ in server.running.values():
            os.kill(process, signal.SIGKILL)
        return
    _ends_with.append(run(words))


if __name__ == "__main__":
    main()
