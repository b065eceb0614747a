"""Programs whose end shows: what `python -m monitorch run` must do at exit as `python` does.

(name, source, the program's words, files beside it). Each prints, or writes into the current
folder, what happens when the interpreter ends.
"""

LAST = """
import sys
class Last:
    def __init__(self, name): self.name = name
    def __del__(self, write=sys.stdout.write): write(f"del {self.name}\\n")
"""
DEL = "import sys\nfrom helper import Last\n"

PROGRAMS = [
    ("file", "f = open('log.txt', 'w')\nf.write('the result\\n')\n"),
    ("file_and_function", "def g():\n    return f\nf = open('log.txt', 'w')\ng().write('the result\\n')\n"),
    (
        "archives",
        """
        import gzip, zipfile
        z = zipfile.ZipFile("a.zip", "w")
        z.writestr(zipfile.ZipInfo("name"), "text")
        g = gzip.GzipFile("a.gz", "w", mtime=0)
        g.write(b"text")
        """,
    ),
    ("buffered_streams", "import sys\nsys.stdout.write('no newline')\nsys.stderr.write('the same')\n"),
    (
        "order_of_names",
        DEL
        + """
_b, a, c, _a = Last("_b"), Last("a"), Last("c"), Last("_a")
del c
c = Last("second c")
""",
    ),
    ("objects_without_functions", "import helper\na, b, c = map(helper.Last, 'abc')\nd = helper.Last('d')\n"),
    (
        "cycles",
        DEL
        + """
class Node: pass
def make(name):
    node = Node()
    node.self, node.last = node, Last(name)
    return node
node = make("first")
node = make("second")
import gc
gc.collect()
""",
    ),
    (
        "generators",
        """
        def numbers(name):
            try:
                yield 1
                yield 2
            finally:
                print("closed", name)
        top = numbers("top")
        next(top)
        def inner():
            yield from numbers("inner")
        deep = inner()
        next(deep)
        never = numbers("never")
        """,
    ),
    (
        "coroutines",
        """
        async def work():
            try:
                await nothing()
            finally:
                print("closed")
        class nothing:
            def __await__(self):
                yield
        started = work()
        started.send(None)
        waiting = work()
        """,
    ),
    (
        "context_managers",
        """
        import contextlib, tempfile, os
        @contextlib.contextmanager
        def opened(name):
            print("open", name)
            try:
                yield name
            finally:
                print("close", name)
        manager = opened("left")
        manager.__enter__()
        stack = contextlib.ExitStack()
        stack.enter_context(opened("stack"))
        folder = tempfile.TemporaryDirectory(dir=".", prefix="kept-")
        open(os.path.join(folder.name, "x"), "w").write("text")
        """,
    ),
    (
        "weak_references",
        DEL
        + """
import weakref
a, b = Last("a"), Last("b")
reference = weakref.ref(a, lambda _: print("a is gone"))
weakref.finalize(b, print, "finalize b")
weakref.finalize(a, print, "finalize a").atexit = False
table = weakref.WeakValueDictionary(a=a)
""",
    ),
    (
        "atexit",
        DEL
        + """
import atexit
a = Last("a")
atexit.register(print, "first")
@atexit.register
def second():
    print("second", a.name, "__file__" in globals())
    atexit.register(print, "registered late")
import logging, concurrent.futures
atexit.register(lambda: 1 / 0)
atexit.register(sys.exit, 5)
atexit.register(lambda: open("made-at-exit", "w").write("text"))
""",
    ),
    ("exit_code", DEL + "a = Last('a')\nf = open('log.txt', 'w')\nf.write('x')\nsys.exit(3)\n"),
    ("exit_text", DEL + "a = Last('a')\ndef leave(b):\n    sys.exit('bad ' + b.name)\nleave(Last('b'))\n"),
    ("exit_none", DEL + "a = Last('a')\nraise SystemExit\n"),
    (
        "uncaught",
        DEL
        + """
f = open("log.txt", "w")
a = Last("a")
def fail(local):
    f.write("text")
    raise ValueError(local.name)
fail(Last("local"))
""",
    ),
    (
        "hook_that_exits",
        DEL
        + """
a = Last("a")
def hook(kind, value, trace):
    print("hook", kind.__name__, value, trace.tb_lineno)
    sys.exit(7)
sys.excepthook = hook
f = open("log.txt", "w")
f.write("text")
raise KeyError("k")
""",
    ),
    ("interrupt", DEL + "a = Last('a')\nf = open('log.txt', 'w')\nf.write('x')\nraise KeyboardInterrupt\n"),
    ("hard_exit", DEL + "import os\na = Last('a')\nf = open('log.txt', 'w')\nf.write('x')\nos._exit(9)\n"),
    ("killed", "import os, signal\nf = open('log.txt', 'w')\nf.write('x')\nos.kill(os.getpid(), signal.SIGTERM)\n"),
    (
        "error_in_del",
        """
        class Bad:
            def __del__(self): raise RuntimeError("in __del__")
        bad = Bad()
        """,
    ),
    (
        "what_del_finds",
        """
        import sys
        class Look:
            def __del__(self):
                names = [name for name in ("sys", "value", "Look", "later") if globals().get(name) is not None]
                print(names, sys is not None and sys.is_finalizing())
                try:
                    import colorsys
                    print("imported")
                except ImportError as error:
                    print("ImportError", error)
        value = 1
        look = Look()
        later = 2
        """,
    ),
    (
        "threads",
        DEL
        + """
import threading, time
a = Last("a")
lock = threading.Lock()
def late():
    time.sleep(0.05)
    with lock:
        print("late", a.name)
thread = threading.Thread(target=late)
thread.start()
forever = threading.Thread(target=threading.Event().wait, daemon=True)
forever.start()
local = threading.local()
local.last = Last("local")
lock.acquire()
lock.release()
""",
    ),
    (
        "pool",
        """
        import atexit, concurrent.futures
        atexit.register(print, "at exit")
        pool = concurrent.futures.ThreadPoolExecutor(2)
        results = [pool.submit(pow, 2, n) for n in range(4)]
        """,
    ),
    (
        "forked",
        DEL
        + """
import os
a = Last("a")
f = open("log.txt", "a")
sys.stdout.flush()
child = os.fork()
if child == 0:
    f.write("child\\n")
    sys.exit(4)
print(os.waitpid(child, 0)[1] >> 8)
f.write("parent\\n")
""",
    ),
    (
        "fork_process",
        DEL
        + """
import multiprocessing
def work(n):
    global kept
    kept = open(f"log{n}.txt", "w")
    kept.write("child")
    kept.flush()
    print("child", n, flush=True)
    sys.exit(n)
a = Last("a")
if __name__ == "__main__":
    context = multiprocessing.get_context("fork")
    for n in (0, 3):
        process = context.Process(target=work, args=(n,))
        process.start()
        process.join()
        print(process.exitcode)
""",
    ),
    (
        "other_modules",
        DEL
        + """
import helper, package.part
a = helper.Last("a of main")
helper.kept = helper.Last("of helper")
package.part.kept = Last("of part")
helper.file = open("log.txt", "w")
helper.file.write("text")
del sys.modules["helper"]
""",
    ),
    (
        "a_module_that_is_let_go",
        """
        import sys, helper
        helper.kept = helper.Last("of helper")
        holder = helper.__dict__
        import package.part
        package.part.kept = helper.Last("of part")
        del helper, holder
        """,
    ),
    (
        "main_replaced",
        DEL + "a = Last('a')\nsys.modules['__main__'] = type(sys)('other')\nprint('end')\n",
    ),
    (
        "names_kept_outside",
        DEL + "a = Last('a')\nsys.kept = globals()\nf = open('log.txt', 'w')\nf.write('x')\n",
    ),
    (
        "function_kept_outside",
        DEL + "a = Last('a')\ndef f():\n    return a\nsys.kept = f\nf.kept = open('log.txt', 'w')\nf.kept.write('x')\n",
    ),
    ("no_collector", DEL + "import gc\ngc.disable()\na = Last('a')\na.self = a\nb = Last('b')\n"),
    (
        "frames_kept",
        DEL
        + """
def fail(x):
    y = Last("y")
    1 / 0
try:
    fail(Last("x"))
except ZeroDivisionError as error:
    kept = error
frame = sys._getframe()
""",
    ),
    (
        "temporaries",
        DEL
        + """
class Box: pass
box = Box()
box.item = Last("item")
box.list = [None]
box.list[0] = Last("listed")
box.list.append(Last("appended"))
(walrus := Last("walrus")).more = 1
for i in range(2):
    loop = Last(f"loop {i}")
with open("log.txt", "w") as f:
    f.write("text")
first, *rest = [Last("first"), Last("rest")]
print("end")
""",
    ),
    (
        "temporaries_and_functions",
        LAST
        + """
class Box: pass
box = Box()
def fill(where):
    where.list = [Last("listed")]
    where.list += [Last("added")]
    return (name := Last("walrus"))
box.item = fill(box)
first, *rest = [Last("first"), Last("rest")]
""",
    ),
    (
        "excepthooks_of_threads",
        """
        import sys, threading
        sys.unraisablehook = lambda told: print("unraisable", told.exc_value)
        threading.excepthook = lambda told: print("thread", told.exc_value)
        def fail():
            raise ValueError("in a thread")
        thread = threading.Thread(target=fail)
        thread.start()
        class Bad:
            def __del__(self):
                raise ValueError("in __del__")
        bad = Bad()
        """,
    ),
    ("closed_stdout", "import sys\nprint('text')\nsys.stdout.close()\n"),
    (
        "stdout_cannot_be_written",
        "import os, sys\nsys.stdout.write('text')\nos.close(1)\nos.open('/dev/full', os.O_WRONLY)\n",
    ),
    (
        "sqlite_and_shelve",
        """
        import shelve, sqlite3
        shelf = shelve.open("shelf", writeback=True)
        shelf["key"] = [1]
        shelf["key"].append(2)
        base = sqlite3.connect("base.sqlite")
        base.execute("create table t (x)")
        base.commit()
        """,
    ),
    (
        "namespaces_that_are_let_go",
        """
        import importlib.util, runpy, sys
        with open("other.py", "w") as file:
            file.write("import helper\\nkept = helper.Last(__name__)\\nf = open('log.txt', 'w')\\nf.write('x')\\n")
        def show(what):
            with open("log.txt") as file:
                print(what, file.read())
        names = runpy.run_path("other.py")
        show("before")
        del names
        show("after run_path")
        spec = importlib.util.spec_from_file_location("loaded", "other.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        show("before")
        del module
        show("after a loader")
        sys.path.append(".")
        import other
        show("before")
        del other, sys.modules["other"]
        show("after an import")
        """,
    ),
]

FILES = {
    "helper.py": LAST,
    "package/__init__.py": "from . import part\n",
    "package/part.py": "kept = None\ndef f():\n    return kept\n",
}

# Modules with functions are destroyed by the garbage collector, in an order that depends on what
# the collector did before: another import changes it in a plain run too.
UNORDERED = ("other_modules", "a_module_that_is_let_go", "temporaries_and_functions")
