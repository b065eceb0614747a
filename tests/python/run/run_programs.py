"""Programs that must behave the same under `python` and `python -m monitorch run`.

Each is (name, words after `python`, files). The files are made in an empty folder, which is the
current one; `.py` texts are dedented.
"""

PROGRAMS = [
    (
        "names_of_main",
        ["script.py", "a", "-b", "--help"],
        {
            "script.py": """
            import atexit, sys
            def names():
                return [n for n in globals() if not n.startswith("_mt")]
            print(names(), __name__, __file__, __spec__, __package__, __doc__, __cached__)
            print(type(__loader__), __loader__.name, __loader__.path, __builtins__)
            print(__annotations__, sys.argv, sys.path[0], sys.modules["__main__"])
            print(sys.modules["__main__"].__dict__ is globals(), repr(__loader__).split(" at ")[0])
            atexit.register(lambda: print("at exit", names(), sys.argv))
            """
        },
    ),
    (
        "names_after_sys_exit",
        ["script.py"],
        {
            "script.py": """
            '''A docstring.'''
            from __future__ import annotations
            import atexit, sys
            x: int = 1
            atexit.register(lambda: print(__file__, __doc__, __annotations__))
            sys.exit(7)
            """
        },
    ),
    ("exit_text", ["s.py"], {"s.py": "import sys\nsys.exit('a message')\n"}),
    ("exit_none", ["s.py"], {"s.py": "raise SystemExit\n"}),
    ("exit_object", ["s.py"], {"s.py": "raise SystemExit([1, 2])\n"}),
    ("exit_large", ["s.py"], {"s.py": "raise SystemExit(-1)\n"}),
    ("os_exit", ["s.py"], {"s.py": "import os\nprint('x', flush=True)\nos._exit(9)\n"}),
    ("interrupt", ["s.py"], {"s.py": "def f():\n    raise KeyboardInterrupt\nf()\n"}),
    ("interrupt_of_module", ["-m", "s"], {"s.py": "raise KeyboardInterrupt('x')\n"}),
    ("signal", ["s.py"], {"s.py": "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n"}),
    (
        "traceback",
        ["s.py"],
        {
            "s.py": """
            import other
            def f(x):
                y = [1, 2][x]; return (y +
                                       x)
            def g(x):
                z = f(x) + other.inverse(x)
                return z
            print(g(1))
            print(g(0))
            """,
            "other.py": """
            def inverse(x):
                result = 1 + (1 / x)
                return result
            """,
        },
    ),
    (
        "chained_exceptions",
        ["s.py"],
        {
            "s.py": """
            def f():
                try:
                    {}["a"]
                except KeyError as error:
                    raise ValueError("b") from error
            try:
                f()
            except ValueError:
                raise TypeError("c")
            """
        },
    ),
    (
        "exceptions_in_a_module",
        ["s.py"],
        {"s.py": "import broken\n", "broken.py": "x = 1\ny = x / 0\n"},
    ),
    (
        "own_excepthook",
        ["s.py"],
        {
            "s.py": """
            import sys, traceback
            def hook(kind, error, trace):
                print("hook", kind, error, traceback.format_tb(trace), __file__)
                print(sys.last_traceback is trace, error.__traceback__ is trace)
                print(sys.excepthook is hook)
            sys.excepthook = hook
            def f():
                raise ValueError("x")
            f()
            """
        },
    ),
    ("an_excepthook_that_fails", ["s.py"], {
        "s.py": "import sys\ndef hook(*x):\n    [][1]\nsys.excepthook = hook\n1 / 0\n"
    }),
    ("an_excepthook_that_leaves", ["s.py"], {
        "s.py": "import sys\nsys.excepthook = lambda *x: sys.exit(5)\n1 / 0\n"
    }),
    ("no_excepthook", ["s.py"], {"s.py": "import sys\ndel sys.excepthook\n1 / 0\n"}),
    ("syntax_error", ["s.py"], {"s.py": "x = 1\ny = (2\nz = 3\n"}),
    ("syntax_error_in_a_module", ["s.py"], {"s.py": "import bad\n", "bad.py": "def f(:\n  pass\n"}),
    ("bad_indentation", ["-m", "s"], {"s.py": "if 1:\n        x = 1\n    y = 2\n"}),
    ("caught_syntax_error", ["s.py"], {
        "s.py": """
        import traceback
        try:
            import bad
        except SyntaxError:
            traceback.print_exc()
        """,
        "bad.py": "def f():\n\treturn\n        x = 1\n",
    }),
    ("wrong_encoding", ["s.py"], {"s.py": b"x = '\xff\xfe'\n"}),
    ("wrong_encoding_of_a_module", ["s.py"], {"s.py": "import m\n", "m.py": b"x = '\xff'\n"}),
    ("unknown_encoding", ["s.py"], {"s.py": b"# coding: nonsense\n"}),
    ("null_bytes", ["s.py"], {"s.py": b"x = 1\0\n"}),
    ("latin_1", ["s.py"], {"s.py": b"# coding: latin-1\nx = '\xe9'\nprint(ascii(x))\n1/0\n"}),
    ("byte_order_mark", ["s.py"], {"s.py": b"\xef\xbb\xbfprint('a')\r\n1/0\r\n"}),
    ("empty", ["s.py"], {"s.py": ""}),
    ("no_last_newline", ["s.py"], {"s.py": "def f(): return 1\nprint(f())"}),
    ("script_not_found", ["nothing.py"], {}),
    ("script_in_no_folder", ["a/b/nothing.py", "x"], {}),
    ("module_not_found", ["-m", "nothing_of_that_name"], {}),
    ("module_in_no_package", ["-m", "p.nothing"], {"p/__init__.py": "print('p')\n"}),
    ("package_without_main", ["-m", "p"], {"p/__init__.py": "print('p')\n"}),
    ("package_that_fails", ["-m", "p.m"], {"p/__init__.py": "1 / 0\n", "p/m.py": ""}),
    ("folder_without_main", ["d"], {"d/x.py": ""}),
    ("folder", ["d", "a"], {
        "d/__main__.py": """
        import sys, helper
        print(sys.argv, sys.path[0], __file__, __name__, __package__, __spec__.name)
        raise ValueError(helper.name)
        """,
        "d/helper.py": "name = __name__\n",
    }),
    ("path_with_dots", ["./d/../d/s.py"], {
        "d/s.py": "import sys\nprint(__file__, sys.argv, sys.path[0])\nimport beside\n1/0\n",
        "d/beside.py": "print(__file__, __cached__)\n",
    }),
    ("package_with_relative_imports", ["-m", "p.sub.tool", "a"], {
        "p/__init__.py": "import sys\nprint(__name__, sys.argv)\n",
        "p/base.py": "value = 3\n",
        "p/sub/__init__.py": "",
        "p/sub/tool.py": """
        import sys
        from ..base import value
        from . import other
        print(value, other.name, __name__, __package__, __spec__.name, __file__, sys.argv)
        raise RuntimeError("x")
        """,
        "p/sub/other.py": "from .. import base\nname = __name__, base.value\n",
    }),
    ("main_of_a_package", ["-m", "p", "a"], {
        "p/__init__.py": "",
        "p/__main__.py": "import sys\nfrom . import m\nprint(__name__, __package__, sys.argv)\n",
        "p/m.py": "print(__name__)\n",
    }),
    ("namespace_package", ["s.py"], {
        "s.py": "import n.m, n\nprint(n.m.f(1), n.__file__ if hasattr(n, '__file__') else None)\n",
        "n/m.py": "def f(x):\n    y = x + 1\n    return y\n",
    }),
    ("module_that_is_imported_already", ["-m", "p.m"], {
        "p/__init__.py": "import p.m\n",
        "p/m.py": "print(__name__)\n",
    }),
    ("pickles", ["s.py"], {
        "s.py": """
        import pickle
        class Point:
            def __init__(self, x):
                self.x = x
        def f(x):
            return x
        data = pickle.dumps([Point(3), f, Point])
        print(data)
        point, g, kind = pickle.loads(data)
        print(point.x, g is f, kind is Point, Point.__module__, f.__qualname__)
        """
    }),
    ("what_is_seen_of_a_module", ["s.py"], {
        "s.py": """
        import importlib, importlib.util, inspect, linecache, pkgutil, sys, m, p
        from importlib import resources
        print(m.__file__, m.__cached__, m.__name__, m.__package__, type(m.__loader__))
        print(m.__spec__, m.__spec__.loader is m.__loader__) if 0 else None
        print(m.__spec__.origin, m.__spec__.cached, m.__spec__.has_location)
        print(m.__loader__.get_source("m") == open(m.__file__).read())
        print(type(m.__loader__.get_code("m")), m.__loader__.is_package("m"))
        print(inspect.getsource(m.f), inspect.getsource(inspect.getmodule(m.f)))
        print(linecache.getline(m.__file__, 2), inspect.signature(m.f), m.f.__doc__)
        print([x.name for x in pkgutil.iter_modules(p.__path__)], pkgutil.get_data("p", "data.txt"))
        print(resources.files("p").joinpath("data.txt").read_text())
        print(inspect.getsource(sys.modules["__main__"])[:9], inspect.getsourcefile(m.f))
        print(m.f.__code__.co_filename, m.f.__code__.co_firstlineno, m.f.__code__.co_name)
        spec = importlib.util.spec_from_file_location("other", m.__file__)
        other = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(other)
        print(other.f(1), other is m)
        print(importlib.reload(m) is m, m.f(2))
        """,
        "m.py": "def f(x, *, y: int = 1) -> int:\n    'What it does.'\n    z = x + y\n    return z\n",
        "p/__init__.py": "",
        "p/q.py": "",
        "p/data.txt": "some data",
    }),
    ("runpy", ["s.py"], {
        "s.py": """
        import runpy
        names = runpy.run_path("other.py", run_name="x")
        print(names["y"], names["__name__"])
        print(runpy.run_module("other")["__name__"])
        runpy.run_path("bad.py")
        """,
        "other.py": "y = 3\nprint(__name__, __file__)\n",
        "bad.py": "def f():\n    1 / 0\nf()\n",
    }),
    ("unicode", ["größe.py", "ü"], {
        "größe.py": "import sys, façade\nprint(sys.argv, __file__)\nfaçade.π(0)\n",
        "façade.py": "def π(x):\n    ϕ = 1 / x\n    return ϕ\n",
    }),
    ("circular_import", ["s.py"], {
        "s.py": "import a\n",
        "a.py": "import b\nx = 1\n",
        "b.py": "from a import x\n",
    }),
    ("import_error", ["s.py"], {"s.py": "import m\n", "m.py": "import nothing_there\n"}),
    ("warnings", ["-W", "always", "s.py"], {
        "s.py": "import m\nm.f()\n",
        "m.py": """
        import warnings
        def f():
            warnings.warn("here")
            warnings.warn("there", stacklevel=2)
        """,
    }),
    ("threads_and_atexit", ["s.py"], {
        "s.py": """
        import atexit, threading, time
        atexit.register(print, "at exit")
        def work():
            time.sleep(0.05)
            print("worked", threading.main_thread().is_alive())
            1 / 0
        threading.excepthook = lambda args: print("thread", args.exc_value)
        threading.Thread(target=work).start()
        print("main ends")
        """
    }),
    ("dataclasses_and_doctest", ["s.py"], {
        "s.py": """
        import dataclasses, doctest, typing
        @dataclasses.dataclass
        class A:
            '''
            >>> A(1).total(2)
            3
            >>> A(1).total("x")
            3
            '''
            x: int
            y: "typing.List[int]" = dataclasses.field(default_factory=list)
            def total(self, z):
                w = self.x + z
                return w
        print(A(1), typing.get_type_hints(A))
        print(doctest.testmod())
        """
    }),
    ("unittest", ["-m", "unittest", "-v", "test_it"], {
        "test_it.py": """
        import unittest
        class T(unittest.TestCase):
            def test_good(self):
                x = 1
                self.assertEqual(x, 1)
            def test_bad(self):
                x = {"a": 1}
                self.assertEqual(x, {"a": 2})
        """
    }),
    ("async_and_generators", ["s.py"], {
        "s.py": """
        import asyncio
        async def f(x):
            await asyncio.sleep(0)
            return 1 / x
        async def main():
            print(await f(1))
            async with asyncio.timeout(1) if hasattr(asyncio, "timeout") else asyncio.Lock():
                print([y async for y in g()])
            await f(0)
        async def g():
            yield 1
            yield 2
        asyncio.run(main())
        """
    }),
    ("recursion", ["s.py"], {"s.py": "def f(n):\n    m = n and f(n - 1)\n    return m\nprint(f(900))\n"}),
    ("no_frames_below", ["s.py"], {
        "s.py": """
        import inspect, logging, sys, traceback, warnings
        logging.basicConfig(format="%(message)s")
        def f():
            traceback.print_stack()
            logging.warning("here", stack_info=True)
            print(len(inspect.stack()), sys._getframe(1).f_back)
        f()
        print(sys.exc_info(), [n for n in dir(sys) if n.startswith("last_")], sys.excepthook)
        warnings.warn("far above", stacklevel=5)
        x = 1 / 0
        """
    }),
    ("no_frames_below_a_module", ["-m", "s"], {
        "s.py": "import traceback\ntraceback.print_stack()\nx = [1][2]\n"
    }),
    ("flags", ["-O", "-X", "utf8", "s.py"], {
        "s.py": "import sys, m\nassert 0\nprint(__debug__, sys.flags.optimize, m.f.__doc__)\n",
        "m.py": "def f():\n    'doc'\n    assert 0\nf()\n",
    }),
    ("isolated", ["-E", "-s", "s.py"], {"s.py": "import sys\nprint(sys.flags)\nimport m\n", "m.py": ""}),
    ("code", ["-c", "import sys; print(sys.argv, sys.path[0], __name__, [n for n in globals() if n[:3] != '_mt'])\nx = 1\n1/0", "a"], {}),
    ("code_that_is_none", ["-c", "x = ("], {}),
    ("code_that_imports", ["-c", "import m; print(m.f(1))"], {"m.py": "def f(x):\n    y = x\n    return y\n"}),
    ("name_is_main", ["s.py"], {
        "s.py": "def main():\n    x = 1\n    return x\nif __name__ == '__main__':\n    print(main())\n"
    }),
    ("a_file_without_suffix", ["tool"], {"tool": "#!/usr/bin/env python\nimport sys\nprint(__file__, sys.argv)\n1/0\n"}),
    ("reads_stdin", ["s.py"], {"s.py": "x = input('? ')\nprint(x)\nprint(input())\n"}),
]
