"""Programs that a recorder could harm: what they do at exit, with files, locks, signals, threads, processes and memory.

A program's first line is a comment, in whose place a test may put a statement. What it prints and leaves in its folder is the
same in each run; what it learns of its own process (its number, addresses) it does not print.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    text: str
    leaves_out: "tuple[str, ...]" = ()  # the ways that are not tried, each for the reason beside it
    unordered: bool = False  # lines of several threads or processes come in any order


def program(name, text, **options):
    assert text.startswith("\n")
    return Program(name, f"# {name}" + text, **options)


PROGRAMS = [
    program(
        "files_left_open",
        """
import io


class Keeper:
    def __init__(self, path):
        self.file = open(path, "w")
        self.me = self  # a cycle: the collector ends it


log = open("log.txt", "w")
log.write("at the top\\n")
keeper = Keeper("kept.txt")
keeper.file.write("in a cycle\\n")
wrapped = io.TextIOWrapper(io.BufferedWriter(io.FileIO("wrapped.txt", "w")))
wrapped.write("three layers\\n")


def forward(x):
    file = open(f"{x}.txt", "w")
    file.write("in a closure\\n")
    return lambda: file


closures = [forward(n) for n in range(3)]
binary = open("bytes.bin", "wb", buffering=1 << 20)
for turn in range(100):
    binary.write(b"ab")
""",
    ),
    program(
        "archives_left_open",
        """
import bz2, gzip, lzma, zipfile

archive = zipfile.ZipFile("a.zip", "w")
archive.writestr(zipfile.ZipInfo("inside.txt", (2020, 1, 1, 0, 0, 0)), "words " * 100)
packed = gzip.GzipFile("b.gz", "wb", mtime=0)
packed.write(b"words " * 100)
short = bz2.open("c.bz2", "wt")
short.write("words " * 100)
small = lzma.open("d.xz", "wt")
small.write("words " * 100)
""",
    ),
    program(
        "destructors_in_order",
        """
import gc, sys, weakref

gc.disable()  # the order in which it ends what is in cycles depends on when it ran before


class Loud:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("gone", self.name, "open" if sys.stdout else "closed", flush=True)


_first = Loud("underscored")
first = Loud("first")
second = Loud("second")
pair = [Loud("in a list"), Loud("in a list too")]
cycle = Loud("in a cycle")
cycle.me = cycle
first.other = Loud("of the first")
reference = weakref.ref(second, lambda reference: print("weakly", flush=True))
first = Loud("first again")


def forward(x):
    local = Loud("local")
    return x


value = forward(1)
print("end")
""",
    ),
    program(
        "no_function_at_all",
        """
import logging, string, weakref

first = open("first.txt", "w")
first.write("kept")
counter = string.Formatter()
ended = weakref.finalize(counter, print, "never: at exit they are called before", flush=True)
ended.atexit = False
template = string.Template("$x")
words = weakref.ref(template, print)
last = open("last.txt", "w")
last.write("kept")
x = 1
""",
    ),
    program(
        "atexit_and_finalize",
        """
import atexit, sys, weakref


class Thing:
    pass


def last(*words, **names):
    total = len(words)
    print("at exit", words, names, total, flush=True)


atexit.register(last, 1, key=2)
atexit.register(lambda: 1 / 0)
atexit.register(last, "removed")
atexit.unregister(print)
thing = Thing()
finalizer = weakref.finalize(thing, print, "finalized", flush=True)
other = weakref.finalize(Thing(), print, "at once", flush=True)
quiet = weakref.finalize(thing, print, "never")
quiet.atexit = False


@atexit.register
def nested():
    atexit.register(print, "registered at exit", flush=True)
    print("nested", finalizer.alive, flush=True)


atexit.register(sys.exit, 5)
print("end", flush=True)
""",
    ),
    program(
        "suspended_frames",
        """
import contextlib


def numbers(name):
    try:
        for number in range(9):
            yield number
    finally:
        print("finally", name, flush=True)


@contextlib.contextmanager
def opened(name):
    file = open(name, "w")
    try:
        yield file
    finally:
        file.write("left\\n")
        file.close()
        print("closed", name, flush=True)


def forward(x):
    with opened("inner.txt") as file:
        file.write("begun\\n")
        yield x


first = numbers("first")
print(next(first))
second = forward(2)
print(next(second))
entered = opened("outer.txt")
entered.__enter__().write("begun\\n")
stack = contextlib.ExitStack()
stack.enter_context(opened("stack.txt"))
zipped = zip(numbers("zipped"), range(1))
print(list(zipped))
""",
    ),
    program(
        "threads_after_the_end",
        """
import atexit, threading, time

atexit.register(lambda: print("atexit", flush=True))
main_has_ended = threading.Event()


def worker():
    main_has_ended.wait()
    time.sleep(0.05)
    x = [n * n for n in range(10)]
    with open("worker.txt", "w") as file:
        for value in x:
            line = f"{value}\\n"
            file.write(line)
    print("worker", threading.main_thread().is_alive(), flush=True)


def forever():
    while True:
        time.sleep(0.001)


thread = threading.Thread(target=worker)
thread.start()
daemon = threading.Thread(target=forever, daemon=True)
daemon.start()
timer = threading.Timer(0.02, lambda: print("timer", flush=True))
timer.start()
main_has_ended.set()
print("main", flush=True)
""",
    ),
    program(
        "exceptions_of_threads",
        """
import sys, threading


def fail(number):
    share = 1 / number
    return share


thread = threading.Thread(target=fail, args=(0,), name="failing")
thread.start()
thread.join()
threading.excepthook = lambda arguments: print("hook", arguments.exc_type.__name__, arguments.thread.name)
thread = threading.Thread(target=fail, args=("x",), name="hooked")
thread.start()
thread.join()
thread = threading.Thread(target=sys.exit, args=(9,))
thread.start()
thread.join()


class Bad:
    def __del__(self):
        raise ValueError("from a destructor")


bad = Bad()
del bad
sys.unraisablehook = lambda event: print("unraisable", event.exc_value, flush=True)
worse = Bad()
""",
    ),
    program(
        "executor_never_shut_down",
        """
import concurrent.futures, threading, time

pool = concurrent.futures.ThreadPoolExecutor(2)


def square(x):
    time.sleep(0.01)
    y = x * x
    return y


futures = [pool.submit(square, n) for n in range(6)]
futures[5].add_done_callback(lambda future: print("callback", future.result(), flush=True))
late = pool.submit(lambda: open("late.txt", "w").write("written late"))
print(futures[0].result(), flush=True)
""",
    ),
    program(
        "processes_by_fork",
        """
import atexit, multiprocessing, os, sys
from multiprocessing import util

context = multiprocessing.get_context("fork")
kept = open("kept.txt", "a")


def work(queue, number):
    atexit.register(lambda: print("never: multiprocessing skips atexit", flush=True))
    util.Finalize(None, lambda: open(f"finalized{number}.txt", "w").write("yes"), exitpriority=1)
    y = number * 2
    queue.put(y)
    kept.write(f"child {number}\\n")
    sys.exit(number)


if __name__ == "__main__":
    kept.write("parent, first\\n")
    kept.flush()
    queue = context.Queue()
    children = [context.Process(target=work, args=(queue, n)) for n in range(3)]
    for child in children:
        child.start()
        child.join()
    print(sorted(queue.get() for child in children), [child.exitcode for child in children])
    pool = context.Pool(2)
    print(pool.map(abs, [-1, -2]))
    kept.write("parent, last\\n")
""",
    ),
    program(
        "processes_by_spawn",
        """
import atexit, multiprocessing, sys


def work(number):
    file = open(f"child{number}.txt", "w")
    file.write("left open\\n")
    y = number + 40
    sys.exit(y)


if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    child = context.Process(target=work, args=(1,))
    child.start()
    child.join()
    print(child.exitcode, __name__)
else:
    print("imported as", __name__, flush=True)
""",
        leaves_out=("code",),  # the child cannot import what is not in a file
    ),
    program(
        "processes_by_forkserver",
        """
import multiprocessing, os


def work(connection):
    value = connection.recv()
    total = sum(value)
    connection.send((total, os.getcwd() == value, sorted(k for k in os.environ if k.startswith("PYTHON"))))
    connection.close()
    os._exit(4)


if __name__ == "__main__":
    context = multiprocessing.get_context("forkserver")
    ours, theirs = context.Pipe()
    child = context.Process(target=work, args=(theirs,))
    child.start()
    ours.send([1, 2, 3])
    print(ours.recv())
    child.join()
    print(child.exitcode)
""",
        leaves_out=("code",),
    ),
    program(
        "raw_forks",
        """
import os, sys

log = open("log.txt", "a")
log.write("before\\n")  # in the buffer of both
sys.stdout.write("half a line ")


def forward(x):
    y = x + 1
    return y


for number in range(3):
    child = os.fork()
    if child == 0:
        value = forward(number)
        log.write(f"child {value}\\n")
        if number == 0:
            sys.exit(3)
        if number == 1:
            os._exit(4)
        raise RuntimeError("of a child")
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status))
log.write("parent\\n")
reading, writing = os.pipe()
if os.fork() == 0:
    if os.fork() == 0:
        os.setsid()
        os.close(reading)
        value = forward(41)
        os.write(writing, str(value).encode())
        os._exit(0)
    os._exit(0)
os.close(writing)
print(os.read(reading, 100))
os.wait()
""",
    ),
    program(
        "other_programs",
        """
import os, subprocess, sys

code = "import os, sys; print(sys.argv, sorted(k for k in os.environ if k.startswith(('PYTHON', 'MONITORCH'))), sorted(k for k in sys.modules if 'monitorch' in k)); sys.exit(6)"
done = subprocess.run([sys.executable, "-c", code, "word"], capture_output=True, text=True)
lines = done.stdout.replace("'MONITORCH', ", "").replace("'MONITORCH'", "")
print(lines, done.stderr, done.returncode)
shell = subprocess.Popen(["sh", "-c", "cat; echo done >&2; exit 3"], stdin=subprocess.PIPE)
shell.stdin.write(b"through a pipe\\n")
shell.stdin.close()
print(shell.wait(), flush=True)
print(os.system("exit 7") >> 8, flush=True)
with os.popen("cat > piped.txt", "w") as pipe:
    pipe.write("piped\\n")
names = sorted(os.listdir("/proc/self/fd"), key=int)
done = subprocess.run(["ls", "/proc/self/fd"], capture_output=True, text=True, close_fds=False)
print(done.stdout.split())
""",
    ),
    program(
        "signal_handlers",
        """
import atexit, os, signal, sys, threading, time

atexit.register(lambda: print("atexit", flush=True))


def on_alarm(number, frame):
    x = frame.f_lineno > 0
    print("alarm", x, flush=True)


def on_term(number, frame):
    print("term in", frame.f_code.co_name, flush=True)
    sys.exit(17)


signal.signal(signal.SIGALRM, on_alarm)
signal.signal(signal.SIGTERM, on_term)
signal.setitimer(signal.ITIMER_REAL, 0.02)
signal.pause()
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, signal.getsignal(signal.SIGXFSZ), flush=True)


def wait(seconds):
    try:
        count = 0
        while True:
            count += 1
            if count == 1000:
                os.kill(os.getpid(), signal.SIGTERM)
    finally:
        print("finally", flush=True)


wait(9)
""",
    ),
    program(
        "interrupted",
        """
import os, signal, time

log = open("log.txt", "w")
log.write("kept\\n")


def forward(x):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        for turn in range(1000):
            y = x + turn
            time.sleep(0.001)
    finally:
        print("finally")


forward(1)
""",
    ),
    program(
        "killed",
        """
import os, signal

print("not flushed")
log = open("log.txt", "w")
log.write("lost\\n")
x = 1
print("flushed", flush=True)
y = x + 1
os.kill(os.getpid(), signal.SIGKILL)
""",
    ),
    program(
        "left_by_exit",
        """
import atexit, os, sys

atexit.register(print, "never")
log = open("log.txt", "w")
log.write("lost\\n")
x = 1
sys.stdout.write("lost too")
sys.stderr.write("seen")
os._exit(3)
""",
    ),
    program(
        "exit_with_words",
        """
import sys


class Words:
    def __str__(self):
        return "words of an object"


def forward(x):
    try:
        y = x
        sys.exit(Words())
    finally:
        print("finally")


try:
    sys.exit(300)
except SystemExit as error:
    print(error.code)
log = open("log.txt", "w")
log.write("kept\\n")
forward(1)
""",
    ),
    program(
        "raised_to_the_end",
        """
import sys


class Loud:
    def __del__(self):
        print("gone", flush=True)


def forward(x):
    local = Loud()
    try:
        y = x / 0
    except ZeroDivisionError as error:
        error.add_note("a note") if hasattr(error, "add_note") else None
        raise RuntimeError("the second") from error


before = sys.excepthook


def hook(kind, value, trace):
    depth = 0
    while trace:
        depth += 1
        trace = trace.tb_next
    print("hook", kind.__name__, depth, flush=True)
    before(kind, value, value.__traceback__)


sys.excepthook = hook
log = open("log.txt", "w")
log.write("kept\\n")
loud = Loud()
forward(1)
""",
    ),
    program(
        "asyncio_left_running",
        """
import asyncio


async def ticks(name):
    try:
        for number in range(100):
            yield number
            await asyncio.sleep(0)
    finally:
        print("finally", name, flush=True)


async def forward(x):
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        print("cancelled", x, flush=True)
        raise


async def main():
    task = asyncio.create_task(forward("a task"))
    async for number in ticks("broken"):
        if number == 2:
            break
    process = await asyncio.create_subprocess_exec("sh", "-c", "echo from a child; exit 2", stdout=-1)
    words, _ = await process.communicate()
    print(words, process.returncode)
    x = await asyncio.to_thread(sum, [1, 2])
    return x


print(asyncio.run(main()))
loop = asyncio.new_event_loop()
pending = loop.create_task(forward("pending"), name="pending")
loop.run_until_complete(asyncio.sleep(0, loop.close if False else None))
never = forward("never awaited")
""",
    ),
    program(
        "temporary_files",
        """
import gc, os, tempfile, warnings

gc.disable()
warnings.simplefilter("always")
tempfile.tempdir = os.getcwd()
named = tempfile.NamedTemporaryFile("w", prefix="named")
named.write("gone at exit")
folder = tempfile.TemporaryDirectory(prefix="folder")
with open(os.path.join(folder.name, "inside"), "w") as file:
    file.write("gone at exit")
kept = tempfile.NamedTemporaryFile("w", prefix="kept", delete=False)
kept.write("kept")
os.rename(kept.name, "kept.txt")
folder._finalizer.detach()
folder._finalizer = __import__("weakref").finalize(folder, folder._cleanup, folder.name, warn_message="implicitly")
x = len(os.listdir("."))
print(x)
""",
    ),
    program(
        "logging_at_exit",
        """
import logging, logging.handlers, queue

file = logging.FileHandler("log.txt", delay=True)
memory = logging.handlers.MemoryHandler(100, target=file)
logging.basicConfig(handlers=[memory], level="DEBUG", format="%(levelname)s %(funcName)s %(lineno)d %(message)s")
waiting = queue.Queue()
listener = logging.handlers.QueueListener(waiting, logging.FileHandler("queued.txt"))
listener.start()
logger = logging.getLogger("queued")
logger.propagate = False
logger.addHandler(logging.handlers.QueueHandler(waiting))


def forward(x):
    y = x + 1
    logging.info("value %s", y)
    logger.warning("queued %s", y)
    return y


for turn in range(5):
    value = forward(turn)
logging.captureWarnings(True)
__import__("warnings").warn("captured")
logging.getLogger("closed").error("bad %d", "format")
listener.stop()
""",
    ),
    program(
        "resource_warnings",
        """
import gc, socket, sys, warnings

warnings.simplefilter("always")


def forward(x):
    open("a.txt", "w").write(x)
    file = open("b.txt", "w")
    return None


forward("words")
kept = open("c.txt", "w")
pair = socket.socketpair()
warnings.warn("from the top")
del pair
gc.collect()  # files are ended before what is below them, as they are where it has run
""",
    ),
    program(
        "segmentation_fault",
        """
import ctypes, faulthandler, sys

faulthandler.enable()


def forward(x):
    y = x
    ctypes.string_at(y)


print("flushed", flush=True)
forward(0)
""",
    ),
    program(
        "context_variables",
        """
import contextvars, threading

name = contextvars.ContextVar("name", default="none")
local = threading.local()


class Loud:
    def __init__(self, word):
        self.word = word

    def __del__(self):
        print("gone", self.word, flush=True)


def forward(x):
    token = name.set(x)
    local.value = Loud(x)
    seen = name.get()
    name.reset(token)
    return seen


context = contextvars.copy_context()
print(context.run(forward, "copied"), name.get(), len(contextvars.copy_context()))
thread = threading.Thread(target=lambda: print(forward("thread"), flush=True))
thread.start()
thread.join()
name.set(Loud("in a context"))
local.value = Loud("of the main thread")
""",
    ),
    program(
        "locks_held",
        """
import fcntl, os, threading

lock = threading.Lock()
lock.acquire()
file = open("locked", "w")
fcntl.flock(file, fcntl.LOCK_EX)


def attempt():
    other = open("locked")
    try:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return type(error).__name__
    return "free"


print(attempt(), flush=True)
child = os.fork()
if child == 0:
    value = attempt()
    print("child", value, lock.locked(), flush=True)
    os._exit(0)
os.waitpid(child, 0)
condition = threading.Condition()
barrier = threading.Barrier(3)
order = []


def meet(number):
    with condition:
        x = number
        order.append(x)
    barrier.wait()


threads = [threading.Thread(target=meet, args=(n,)) for n in range(2)]
for thread in threads:
    thread.start()
barrier.wait()
for thread in threads:
    thread.join()
print(sorted(order), flush=True)
waiting = threading.Thread(target=lock.acquire, daemon=True)
waiting.start()
""",
    ),
    program(
        "databases_left_open",
        """
import dbm.dumb, mmap, shelve, sqlite3

connection = sqlite3.connect("rolled.db")
connection.execute("create table t (x)")
connection.commit()
cursor = connection.execute("insert into t values (1)")
shelf = shelve.Shelf(dbm.dumb.open("shelf", "c"), writeback=True)
shelf["a"] = []
shelf["a"].append(1)
with open("mapped", "wb") as file:
    file.truncate(4096)
file = open("mapped", "r+b")
mapped = mmap.mmap(file.fileno(), 4096)
mapped[:5] = b"words"
x = mapped[0]
print(x, connection.in_transaction)
""",
    ),
    program(
        "names_of_main",
        """
import __main__, pickle, sys


class Point:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return self.x == other.x


print(pickle.loads(pickle.dumps(Point(3))) == Point(3), Point.__module__, Point.__qualname__)
print(sorted(name for name in dir(__main__) if "_mt" not in name and "monitorch" not in name))
print(__name__, __doc__, __package__, __builtins__ is sys.modules["builtins"], sys.argv[1:])
print(__main__ is sys.modules["__main__"], vars(__main__) is globals())
names = [name for name in globals() if "_mt" not in name and "monitorch" not in name]
print(names)
sys.modules.pop("__main__")
x = Point(4)
print(x.x)
""",
    ),
    program(
        "numbers_of_files",
        """
import os, socket

file = open("a.txt", "w")
print(file.fileno(), os.open("/dev/null", os.O_RDONLY), os.pipe(), socket.socket().fileno())


def forward(x):
    for turn in range(3000):
        y = x + turn
    return y


value = forward(1)
kept = os.dup2(file.fileno(), 9)
for number in range(10, 40):
    os.dup2(kept, number)
value = forward(2)
os.write(33, b"kept")
print(os.fstat(9).st_size)
""",
    ),
    program(
        "outputs_replaced",
        """
import io, os, sys

kept = os.dup(1)
sys.stdout.write("to the first\\n")
sys.stdout.flush()
os.close(1)
file = os.open("out.txt", os.O_WRONLY | os.O_CREAT, 0o600)
print("number", file)
os.write(kept, b"to the copy\\n")
sys.stderr = io.TextIOWrapper(open("err.txt", "wb"))
print("not flushed", file=sys.stderr)


def forward(x):
    y = x
    print("value", y, file=sys.stderr)


forward(1)
sys.stdin.close()
raise SystemExit("to the new one")
""",
    ),
    program(
        "no_output_at_all",
        """
import os, sys

x = 1
sys.stdout.write("half")
sys.stdout.close()
sys.stderr.close()
y = x + 1
with open("log.txt", "w") as file:
    print("seen", y, file=file)
sys.stdout = sys.stderr = None
print("nowhere")
z = y
1 / 0
""",
    ),
    program(
        "all_files_closed",
        """
import os, sys

os.closerange(3, 512)
names = [f"file{number}.txt" for number in range(12)]
files = [open(name, "w+") for name in names]


def forward(x):
    y = [x, x + 1]
    for turn in range(3000):
        z = x + turn
    return y


for number, file in enumerate(files):
    value = forward(number)
    print(value, file=file)
print([file.tell() for file in files], flush=True)
child = os.fork()
if child == 0:
    os.closerange(3, 512)
    file = open("child.txt", "w")
    file.write(str(forward(1)))
    file.close()
    os._exit(0)
print(os.waitpid(child, 0)[1])
""",
    ),
    program(
        "limited",
        """
import os, resource

resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))


def forward(x):
    y = x
    for turn in range(20_000):
        y = y + turn
    return y


value = forward(1)
with open("log.txt", "w") as file:
    file.write(f"{value}\\n")
try:
    with open("large.txt", "wb", buffering=0) as file:
        written = file.write(bytes(300_000))
        file.write(b"more")
except OSError as error:
    print(written, error.errno)
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
try:
    open("none.txt", "w")
except OSError as error:
    print(error.errno)
value = forward(2)
print(value)
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
""",
    ),
    program(
        "replaced_by_another",
        """
import os, sys

log = open("log.txt", "a")
log.write("lost\\n")
x = len(sys.argv)
print("before", flush=True)
os.execv(sys.executable, [sys.executable, "-c", "import sys; print('after', sys.argv); sys.exit(8)", "word"])
""",
    ),
    program(
        "folder_removed",
        """
import os, shutil, sys

os.umask(0o027)
os.mkdir("below")
os.chdir("below")
with open("file.txt", "w") as file:
    file.write("kept")
mode = oct(os.stat("file.txt").st_mode)
os.mkdir("gone")
os.chdir("gone")
os.rmdir("../gone")


def forward(x):
    try:
        return os.getcwd()
    except FileNotFoundError as error:
        kind = type(error).__name__
        return kind


value = forward(1)
print(mode, value)
sys.path[:] = []
""",
        leaves_out=("flow",),  # what draws is loaded when the drawing is asked for: sys.path is empty by then
    ),
    program(
        "collected_late",
        """
import gc, sys, weakref

phases = []
gc.callbacks.append(lambda phase, information: phases.append(phase))


class Node:
    def __init__(self, name):
        self.name = name
        self.me = self

    def __del__(self):
        print("collected", self.name, flush=True)


def forward(x):
    for number in range(3):
        node = Node(number)
    return weakref.ref(node)


gc.disable()
reference = forward(1)
print(reference() is not None, gc.isenabled())
gc.collect()
print(reference() is None, len(phases) >= 2)  # the count is another: differences.md, __dict__
gc.set_threshold(1, 1, 1)
gc.enable()
kept = [Node("kept") for turn in range(2)]
gc.freeze()
resurrected = []


class Phoenix:
    def __del__(self):
        resurrected.append(self)
        print("again", flush=True)


bird = Phoenix()
del bird
x = sys.getrefcount(resurrected[0])
print(x)
""",
    ),
    program(
        "deep_recursion",
        """
import sys, traceback


def depth(x):
    try:
        return depth(x + 1)
    except RecursionError:
        return x


def frames():
    return len(traceback.extract_stack())


sys.setrecursionlimit(500)
print(depth(0), frames())


def forward(x):
    y = forward(x + 1)
    return y


try:
    forward(0)
except RecursionError as error:
    print(len(traceback.extract_tb(error.__traceback__)) > 400)


class Bad:
    def __repr__(self):
        raise ValueError("no repr")

    def __bool__(self):
        raise ValueError("no truth")

    def __eq__(self, other):
        raise ValueError("no equality")

    def __getattr__(self, name):
        raise ValueError("no attribute " + name)

    def __len__(self):
        raise ValueError("no length")


bad = Bad()
others = [bad, {"key": bad}]
others.append(bad)
again = forward if bad is None else bad
""",
    ),
    program(
        "buffers_and_references",
        """
import array, ctypes, mmap, numpy, os, sys, weakref


class Sub(numpy.ndarray):
    def __array_finalize__(self, other):
        self.made = getattr(other, "made", 0) + 1


def forward(values):
    numbers = numpy.arange(12.0)
    numbers.resize(20)  # refuses where another reference is there
    text = bytearray(b"abc")
    text.extend(b"more")  # refuses where a buffer of it is held
    words = array.array("d", [1.0, 2.0])
    words.append(3.0)
    view = memoryview(text)
    view.release()
    text.clear()
    mapped = mmap.mmap(-1, 4096)
    window = numpy.frombuffer(mapped, dtype=numpy.uint8, count=8)
    window = None
    mapped.close()
    mapped = None
    sub = numpy.zeros(3).view(Sub)
    made = sub.made
    count = sys.getrefcount(numbers), sys.getrefcount(sub)
    reference = weakref.ref(sub)
    sub = None
    gone = reference() is None
    return made, count, gone, len(numbers), len(words)


print(forward([1]))
big = numpy.zeros((3, 4), order="F")[::2, ::-1]
big.flags.writeable = False
strange = numpy.zeros(2, dtype=[("a", "f8"), ("b", "O")])
objects = numpy.array([object, None, []], dtype=object)
dates = numpy.array(["2020-01-01"], dtype="datetime64[D]")
masked = numpy.ma.masked_array([1.0, 2.0], [0, 1])
nothing = numpy.zeros((0, 5))
wide = numpy.broadcast_to(numpy.float64(1.0), (1 << 20, 1 << 20))
half = numpy.float16(65504) + numpy.float16(0)
print(big.sum(), masked.sum(), wide.shape, numpy.get_printoptions()["precision"], numpy.geterr()["divide"])
pointer = (ctypes.c_double * 4)(1.0, 2.0)
shared = numpy.ctypeslib.as_array(pointer)
shared += 1
print(list(pointer))
""",
        leaves_out=("flow",),  # numpy's resize refuses under any tracer
    ),
    program(
        "order_of_evaluation",
        """
import sys

trace = []


class Loud:
    def __getattr__(self, name):
        trace.append(name)
        return 1

    def __setattr__(self, name, value):
        trace.append(("set", name))

    def __setitem__(self, key, value):
        trace.append(("item", key))

    def __iadd__(self, other):
        trace.append("iadd")
        return self

    def __bool__(self):
        trace.append("bool")
        return True

    def __len__(self):
        trace.append("len")
        return 3

    def __iter__(self):
        trace.append("iter")
        return iter([1, 2])

    def __eq__(self, other):
        trace.append("eq")
        return True

    def __hash__(self):
        trace.append("hash")
        return 7

    def __class_getitem__(cls, key):
        trace.append("class item")

    @property
    def __dict__(self):
        trace.append("dict")
        return {}

    @property
    def shape(self):
        trace.append("shape")
        return (1,)

    def __array_interface__(self):
        trace.append("array")

    def __dlpack__(self):
        trace.append("dlpack")


def forward(value):
    value.x = value.y
    value[value.key] = 3
    value += 1
    kept = [value, {"a": value}, (value,)]
    first, *rest = value
    held = {value: 1}
    other = value if value else None
    while value:
        break
    return value


loud = Loud()
result = forward(loud)
print(trace)
""",
    ),
    program(
        "tracers_of_its_own",
        """
import sys, threading

lines, calls = [], []


def tracer(frame, event, argument):
    if frame.f_code.co_name == "forward":
        lines.append((event, frame.f_lineno))
        return tracer
    return None


def forward(x):
    y = x + 1
    z = y * 2
    return z


sys.settrace(tracer)
value = forward(1)
sys.settrace(None)
print(lines)
sys.setprofile(lambda frame, event, argument: calls.append(event) if frame.f_code.co_name == "forward" and event in ("call", "return") else None)
value = forward(2)
sys.setprofile(None)
print(calls)
threading.settrace(tracer)
thread = threading.Thread(target=forward, args=(1,))
thread.start()
thread.join()
print(len(lines))
""",
        leaves_out=("flow",),  # monitorch.on() is a tracer too: there is one at a time
    ),
]

TORCH_PROGRAMS = [
    program(
        "memory_replaced_by_threads",
        """
import threading, torch

x = torch.zeros(1 << 22)
view = torch.zeros(1 << 20)
resized = torch.zeros(1 << 22)
going = True


def swap():
    turn = 0
    while going:
        turn += 1
        x.data = torch.ones(1 << (22 - turn % 3))
        view.set_(torch.ones(1 << (20 - turn % 2)))


def resize():
    storage = resized.untyped_storage()
    while going:
        storage.resize_(0)
        storage.resize_(4 << 22)


threads = [threading.Thread(target=swap), threading.Thread(target=resize)]
for thread in threads:
    thread.start()


def forward(value, other, third):
    y = value
    z = other
    w = third
    pair = [value, other, third]
    return y


for turn in range(60):
    result = forward(x, view, resized)
going = False
for thread in threads:
    thread.join()
print(turn)
""",
    ),
    program(
        "storage_resized",
        """
import torch

x = torch.arange(12.0).reshape(3, 4)
view = x[1:]


def forward(value):
    value.untyped_storage().resize_(0)
    empty = value
    other = view
    value.untyped_storage().resize_(48)
    value.fill_(2.0)
    value.resize_(2, 2)
    value.set_()
    nothing = value
    return nothing


result = forward(x)
print(result.shape, view.shape, view.sum().item())
wide = torch.zeros(1).expand(1 << 40)
strided = torch.as_strided(torch.arange(4.0), (3, 3), (0, 1))
meta = torch.empty(1 << 40, device="meta")
a = torch.ones(4, requires_grad=True)
with torch.no_grad():
    a.data = torch.full((2,), 3.0)
b = a * 2
b.sum().backward()
print(a.grad.tolist(), strided.sum().item(), wide.shape, meta.shape)
""",
    ),
    program(
        "workers_of_a_loader",
        """
import atexit, os, sys, torch
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        x = torch.full((2,), float(index))
        if index == 5:
            raise ValueError("of a worker")
        return x


def begin(number):
    with open(f"worker{number}.txt", "w") as file:
        file.write("begun\\n")


def main():
    total = 0.0
    loader = DataLoader(Numbers(), batch_size=2, num_workers=2, worker_init_fn=begin)
    try:
        for batch in loader:
            value = batch.sum().item()
            total += value
    except ValueError as error:
        print("ValueError", str(error).splitlines()[-1])
    print(total)
    kept = iter(DataLoader(Numbers(), num_workers=1, persistent_workers=True))
    first = next(kept)
    print(first.tolist())


log = open("log.txt", "w")
log.write("kept\\n")
main()
""",
    ),
]
