"""Programs that a rewriter could break: each must do the same original, off and on.

`case(name, source, observed)`: the source is run as a module, then the expression `observed` is
evaluated in it. What counts is the expression's value or exception, what was printed, the
lines of a traceback, and the line events that `sys.settrace` sees.
"""

import dataclasses
import textwrap


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    source: str
    observed: str
    python: tuple = (3, 8)  # the first version that knows the syntax
    # Which ways of running have their line events compared: both, or only code made by
    # compile_source (a record behind a statement of several lines stands on its last line, which
    # had no event: docs/explanation/differences.md), or none.
    events: str = "both"
    # CPythons that see one more event, of a line that they are on already (docs/explanation/differences.md).
    one_more_event_on: tuple = ()
    visited: bool = True  # at least one site is reached


CASES = []


def case(name, source, observed, **options):
    text = textwrap.dedent(source)
    CASES.append(Case(name, text[1:] if text.startswith("\n") else text, observed, **options))


# What functions can see of their own names

case(
    "locals() is returned",
    """
    def f(a):
        b = a + 1
        return locals()
    """,
    "f(1)",
)
case(
    "locals() seen by finally after a return",
    """
    def f(a):
        try:
            return dict(a=a)
        finally:
            print(sorted(locals()))
    """,
    "f(1)",
)
case(
    "locals under another name",
    """
    def g(a):
        try: return a + 1
        finally:
            pass
    def f(a):
        x = locals
        class A: pass
        o = A()
        o.x = a + 1
        return sorted(locals())
    """,
    "f(1)",
)
case(
    "locals() as the value of an attribute",
    """
    class A: pass
    def f(a):
        o = A(); o.x = sorted(locals())
        return o.x
    """,
    "f(1)",
)
case(
    "exec writes a local",
    """
    def f(a):
        exec("z = a + 1"); return locals().get("z")
    """,
    "f(1)",
)
case(
    "shape of a code object",
    """
    def f(a):
        return a + 1
    """,
    "(f.__code__.co_name, f.__code__.co_argcount, f.__code__.co_firstlineno)",
    visited=False,
)
case(
    "locals of a waiting generator",
    """
    def g(a):
        class A: pass
        o = A()
        o.x = yield a
        yield 2
    import inspect
    def f():
        i = g(1); next(i); i.send(5); return sorted(inspect.getgeneratorlocals(i))
    """,
    "f()",
)
case(
    "a yield inside a method call on an attribute",
    """
    def g(a):
        class A: pass
        o = A()
        (o.l) = []
        o.l.append((yield 1))
        yield 2
    import inspect
    def f():
        i = g(1); next(i); return sorted(inspect.getgeneratorlocals(i))
    """,
    "f()",
)
case(
    "enum body",
    """
    import enum
    class E(enum.Enum):
        A = 1
        B = A + 1
        def m(self): return self.value + 1
    """,
    "(list(E), E.B.m())",
)
case(
    "enum body with if and for",
    """
    import enum
    class E(enum.Enum):
        if 1 > 0:
            A = 1
        for _ignore_ in ("x",): pass
    """,
    "list(E)",
    visited=False,
)
case(
    "class namespace that invents names",
    """
    class N(dict):
        def __missing__(self, k): self[k] = len(self); return self[k]
    class M(type):
        def __prepare__(n, b): return N()
        def __new__(c, n, b, d): return type.__new__(c, n, b, dict(d))
    class A(metaclass=M):
        x; y
        if z: w
    """,
    'sorted(k for k in vars(A) if k[0] != "_")',
)
case(
    "slots instead of __dict__",
    """
    class A:
        __slots__ = ("a",)
        def __init__(self): self.a = [1] + [2]
    """,
    '(A().a, hasattr(A(), "__dict__"))',
)
case(
    "private names are mangled",
    """
    class A:
        def __f(self, __p): 
            __q = __p + 1; self.__r = __q * 2
            return self.__r + __q
        def g(self): return self.__f(1)
    """,
    "A().g()",
)
case(
    "a property is read as often as before",
    """
    class A:
        n = 0
        @property
        def p(self): A.n += 1; return []
        @p.setter
        def p(self, v): A.n += 100
    def f():
        a = A(); a.p = 1 + 1; a.p[1:1] = [3]; a.p += [1]; a.p.append(4); a.p = a.p = 3; return A.n
    """,
    "f()",
)
case(
    "an attribute's value dies when replaced",
    """
    import weakref, gc
    class T: pass
    class O: pass
    def f():
        o = O(); o.x = T(); r = weakref.ref(o.x); o.x = None
        return r() is None
    """,
    "f()",
)
case(
    "a value dies when its setter fails",
    """
    import weakref
    class T: pass
    class O:
        __slots__ = ()
    def f():
        o = O(); r = []
        def mk():
            t = T(); r.append(weakref.ref(t)); return t
        try: o.x = mk()
        except AttributeError: pass
        return r[0]() is None
    """,
    "f()",
)
case(
    "an attribute's value dies at module level",
    """
    class T: pass
    import weakref
    o = T()
    o.x = T()
    r = weakref.ref(o.x)
    o.x = None
    """,
    "r() is None",
)
case(
    "loop over globals() itself",
    """
    import types
    o = types.SimpleNamespace()
    for k in globals():
        o.x = k + "a"
    else:
        ok = 1
    """,
    "ok",
)
case(
    "loop over a copy of globals()",
    """
    res = []
    for k in list(globals()):
        pass
    """,
    '"k" in globals()',
    events="none",
)
case(
    "return in try/finally override",
    """
    def f():
        try:
            return 1 + 0
        finally:
            return 2 + 0
    """,
    "f()",
)
case(
    "return in finally with loop",
    """
    def f():
        for i in range(3):
            try:
                return i + 1
            finally:
                continue
        return "end" + ""
    """,
    "f()",
)
case(
    "return None value",
    """
    def f(x):
        return x.get(1)
    """,
    "(f({}), f({1: 0}), f({1: []}))",
)
case(
    "a returned value without a truth",
    """
    class B:
        def __bool__(self): raise ZeroDivisionError
    def f():
        return (B())
    """,
    "type(f()).__name__",
)
case(
    "a condition is asked once",
    """
    class B:
        n = 0
        def __bool__(self): B.n += 1; return True
    def f():
        for i in range(2):
            if B(): pass
        b = B()
        for i in range(2):
            while B(): break
        return B.n
    """,
    "f()",
)
case(
    "context and iterator without a truth",
    """
    class B:
        def __bool__(self): raise ZeroDivisionError
        def __enter__(self): return 1
        def __exit__(self, *a): pass
        def __iter__(self): return iter([1])
    def f(b):
        with b as c:
            for x in b: return x + c
    """,
    "f(B())",
)
case(
    "walrus value without a truth",
    """
    class B:
        def __bool__(self): raise ZeroDivisionError
    def f():
        print(type((b := B())).__name__)
        return type(b).__name__
    """,
    "f()",
)
case(
    "walrus short circuit",
    """
    def f(a):
        if a and (n := 3) or 0: return n
        return "no" + str("n" in locals())
    """,
    "(f(0), f(1))",
)
case(
    "walrus in comprehension",
    """
    def f():
        l = [y := x, y + 1] if (x := 3) else 0
        return [z := i for i in range(3)], z, l
    """,
    "f()",
)
case(
    "walrus in lambda/default/fstring",
    """
    def f(a=(d := 3)):
        g = lambda: (q := 4) + 1
        return g(), f"{(w := 5)} {w=} {(w:=6)=}", d, a
    """,
    "f()",
)
case(
    "generator return value",
    """
    def g():
        x = yield 1
        return x * 2
    def f():
        i = g(); next(i)
        try: i.send(4)
        except StopIteration as e: return e.value
    """,
    "f()",
)
case(
    "return yield",
    """
    def g():
        return (yield 1)
    def h():
        return (yield from g())
    def f():
        i = h(); next(i)
        try: i.send(4)
        except StopIteration as e: return e.value
    """,
    "f()",
)
case(
    "coroutines and async generators",
    """
    import asyncio
    async def a(x):
        await asyncio.sleep(0); return await asyncio.sleep(0, x)
    async def ag():
        for i in range(3): yield i
        return
    async def f():
        r = []
        async for i in ag(): r.append(i)
        async with asyncio.Lock() as l, asyncio.Lock(): r.append(await a(5))
        return [x async for x in ag()] + r
    """,
    "asyncio.run(f())",
)
case(
    "match with every kind of pattern",
    """
    def f(s, *t):
        match s, *t:
            case [int(x), y] if (z := y): return x, y, z
            case [[*a], {"k": v, **r}]: return a, v, r
            case (1 | 2) as q,: return q
            case _: pass
        match (s):
            case 5: return "five"
        match -s:
            case -7: return "seven"
    """,
    '(f(1,2), f([1],{"k":2,"z":3}), f(2), f(5), f(7))', python=(3, 10),
)
case(
    "with parenthesised",
    """
    import contextlib
    c = contextlib.nullcontext
    def f(a):
        with (c(1) as x, c(2) as y,):
            with (c(3)) as z, (c(4)): 
                with (c(5), c(6)) if a else c(9) as w: pass
        return x, y, z, w
    """,
    "f(0)", python=(3, 10),
)
case(
    "one line suites",
    """
    def f(a):
      if a: x = 1; y = 2;
      elif a is None: x = y = 3
      else: x, y = 4, 5
      while a: a -= 1;
      else: y += 10
      for i in 1, 2: x += i
      try: 1 / a
      except ZeroDivisionError as e: z = e.args
      finally: x += 100
      class A: q = 1; r = q
      with open("/dev/null") as f: pass
      return x, y, z, A.r
    """,
    "(f(2), f(None) if 0 else 0, f(0))",
)
case(
    "semicolons, tabs and form feeds",
    'def f(a):\n\tx = 1 ;\ty = 2 ; # c ; d\n\x0c\tif a : x = y ;\n\treturn x ;\n',
    "f(1)",
)
case(
    "continuations",
    r"""
    def f(a):
        x = a + \
            1 ; y = \
          x
        if a and \
           y: return \
            x
        assert x, \
         y
        return(x)if(a)else(y)
    """,
    "(f(1), f(0))",
    events="none",
)
case(
    "every form of return",
    'def f(a):\n    if a == 0: return(a)\n    if a == 1: return[a]\n    if a == 2: return{a:1}\n    if a == 3: return"s"\n    if a == 4: return-a\n    if a == 5: return lambda:a\n    if a == 6: return a,\n    if a == 7: return *[a], a\n    if a == 8: return not a\n    if a == 9: return a if a else 1\n    if a == 10: return (a\n      )\n    if a == 11: return (yield_ := a)\n    if a == 12: return """x\n  y"""  # c\n    if a == 13: return f"{a}"\n    if a == 14: return...\n    return\n',
    "[f(i)() if i == 5 else f(i) for i in range(16)]",
    events="compiled",
)
case(
    "star targets",
    """
    def f():
        a, (b, *c), *d = 1, (2, 3, 4), 5, 6
        [x, y] = z = [1, 2]
        for i, (j, *k) in [(1, (2, 3))]: pass
        (m) = 3; (n): int = 4; p: int; q: "int" = 5
        return a, b, c, d, x, y, z, i, j, k, m, n, q
    """,
    "f()",
)
case(
    "order of evaluation",
    """
    L = []
    def t(x): L.append(x); return x
    class O: pass
    class D(dict):
        def __setitem__(s, k, v): L.append(("set", k, v))
        def __getitem__(s, k): L.append(("get", k)); return 1
    def f():
        o = O(); o.d = D()
        def g(): L.append("g"); return o
        g().x = t(1); g().d[t(2)] = t(3); g().d[t(4)] += t(5); o.d[t(6)] = o.x = t(7)
        g().x, o.y = t((8, 9)); o.z: int = t(10); g().d[t(1)], o.d[2] = t((3, 4))
        return L
    """,
    "f()",
)
case(
    "global, nonlocal and del",
    """
    G = 0
    def f(a):
        global G
        G = a; n = 1
        def h():
            nonlocal n
            n = n + 1; del a_
        a_ = 1
        def h():
            nonlocal n, a_
            n += 1; del a_
        h()
        del a
        return n, G
    """,
    "f(3)",
)
case(
    "name deleted by the call",
    """
    def f():
        x = [1]
        def kill(y):
            nonlocal x
            del x
        kill(x)
        return 1
    """,
    "f()",
)
case(
    "global deleted by the call",
    """
    x = [1]
    def kill(y):
        global x
        del x
    kill(x)
    """,
    "1",
)
case(
    "a def rebinds a parameter",
    """
    def f(g):
        def g(): return 1
        return g() + 1
    """,
    "f(3)",
)
case(
    "a class stands first",
    """
    def f(a):
        class A:
            nonlocal_ = 1
        return a + 1
    """,
    "f(3)",
)
case(
    "docstrings",
    'def f(): "doc"\ndef g():\n    "doc" "more"\nclass A: "cd"\nasync def h():\n    """d\n    e"""\n    ("not")\n',
    "(f.__doc__, g.__doc__, A.__doc__, h.__doc__)",
    visited=False,
)
case(
    "a statement after a docstring on its line",
    """
    def f(): "doc"; return 1 + 1
    """,
    "(f.__doc__, f())",
)
case(
    "bytes and f-strings are no docstrings",
    """
    def f():
        b"x"
    def g():
        f"{1}"
    """,
    "(f.__doc__, g.__doc__)",
    visited=False,
)
case(
    "from __future__ twice on a line",
    """
    from __future__ import annotations; from __future__ import generator_stop
    x: undefined = 1
    def f(a: b) -> c: return a + 1
    """,
    "(f(1), f.__annotations__)",
)
case(
    "docstring, then from __future__",
    '"""mod"""\nfrom __future__ import (\n annotations)\ndef f(a: b): return a + 1\n',
    "(__doc__, f(1))",
)
case(
    "assert with a walrus",
    """
    def f(a):
        assert (n := a), "m"
        if __debug__: return n + 1
    """,
    "f(1)",
)
case(
    "star import",
    """
    import sys, types
    m = types.ModuleType("mm")
    exec("a = 1", m.__dict__)
    sys.modules["mm"] = m
    from mm import *
    """,
    "a",
)
case(
    "super() and __class__",
    """
    class A:
        def f(self): return [1]
    class B(A):
        def f(self):
            super().f().append(2); self.x = super().f() + [__class__.__name__]
            return self.x
    """,
    "B().f()",
)
case(
    "the name of an except is deleted",
    """
    def f():
        try: 1 / 0
        except ZeroDivisionError as e: pass
        try: e
        except UnboundLocalError as x: return str(x)
    """,
    "f()",
)
case(
    "text of an unbound local's error",
    """
    def f():
        return x + y
        x = 1
    def g():
        try: f()
        except UnboundLocalError as e: return str(e)
    """,
    "g()",
)
case(
    "return of a name that may be unbound",
    """
    def f(c):
        if c: x = 1
        return x
    def g():
        try: f(0)
        except UnboundLocalError as e: return type(e).__name__, str(e)
    """,
    "g()",
)
case(
    "depth of recursion",
    """
    import sys
    def f(n):
        return 0 if n == 0 else 1 + f(n - 1)
    """,
    "f(sys.getrecursionlimit() - 60)",
)
case(
    "a warning's stacklevel",
    """
    import warnings
    def w(): warnings.warn("x", stacklevel=2)
    def f():
        with warnings.catch_warnings(record=True) as r:
            warnings.simplefilter("always"); w()
        return [(x.lineno, x.category.__name__) for x in r]
    """,
    "f()",
)
case(
    "lines of a traceback",
    """
    import traceback
    def g(a):
        x = a; y = (1 +
           a / 0)
        return y
    def f():
        try: return g(1)
        except ZeroDivisionError as e: return [x.lineno for x in traceback.extract_tb(e.__traceback__)], e.__traceback__.tb_next.tb_frame.f_code.co_firstlineno
    """,
    "f()",
)
case(
    "code moved to other globals",
    """
    import types
    def g(a): return a + 1
    """,
    "types.FunctionType(g.__code__, {})(1)",
    visited=False,
)
case(
    "code evaluated in empty globals",
    """
    def g():
        return 1 + 1
    """,
    "eval(g.__code__, {})",
)
case(
    "several targets of one call",
    """
    class O: pass
    def f():
        a = o = O(); o.x = y = a.z = [1]
        return y is o.x is a.z
    """,
    "f()",
)
case(
    "decorators on every def",
    """
    def d(x): return lambda f: f
    @d(1)
    @d(
     2)
    def f(a):
        @d(3)
        def g(b): return b + a
        @d(4)
        class C: x = a
        return g(1) + C.x
    """,
    "(f(1), f.__code__.co_firstlineno)",
)
case(
    "conditional, lambda and comprehension",
    """
    def f(a):
        return [lambda x=x: x + a for x in range(3) if x] [0]() if a else None
    """,
    "(f(1), f(0))",
)
case(
    "del of a loop variable",
    """
    def f():
        for i in range(3):
            del i
        for x in []: pass
        return 1 + 1
    """,
    "f()",
)
case(
    "__iadd__ gives another value",
    """
    class A:
        def __iadd__(self, o): return 7
    def f():
        a = A(); a += 1; return a + 0
    """,
    "f()",
)
case(
    "global in class body",
    """
    class A:
        global zz
        zz = 3
    """,
    "zz",
    visited=False,
)
case(
    "type comment",
    """
    def f(a):  # type: (int) -> int
        x = []  # type: list
        return x
    """,
    "f(1)",
)
case(
    "unicode",
    """
    def f(é):
        ñ = "日本"; ü = é + ñ  # ç
        return ñ + ü
    """,
    'f("x")',
)
case(
    "except*",
    """
    def f():
        try: raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
        except* ValueError as e: x = len(e.exceptions)
        except* TypeError: y = 2
        else: z = 1
        return x, y
    """,
    "f()", python=(3, 11),
)
case(
    "the file uses the prefix",
    """
    _mt = 5
    def f(_mt_t): return _mt + _mt_t
    """,
    "f(1)",
)
case(
    "a class on line 1",
    """
    class A:
        def __init_subclass__(cls): cls.x = 1 + 1
    class B(A): pass
    """,
    "B.x",
)
case(
    "no newline at the end",
    "def f(): return 1 + 1",
    "f()",
)
case(
    "CRLF as line end",
    'def f(a):\r\n    x = a; y = """a\r\nb"""\r\n    return x, y\r\n',
    "f(1)",
)
case(
    "CR as line end",
    'def f(a):\r    x = a\r    return x, 1\r',
    "f(1)",
)
case(
    "every augmented operator",
    """
    def f(x):
        x **= 2; x //= 3; x |= 1; x >>= 0; return x + 0
    """,
    "f(5)",
)
case(
    "while as the first statement",
    """
    def f(n):
        while n: n -= 1
        return n
    """,
    "f(3)",
)
case(
    "every form of yield",
    """
    def g():
        x = yield; y = yield x,; z: int = yield y
        w = yield from [1]
        yield
        return x, y, z, w
    def f():
        i = g(); r = [next(i)]
        for k in range(4): r.append(i.send(k))
        return r
    """,
    "f()",
)
case(
    "reference counts of recorded values",
    """
    import sys
    def f(a):
        x = a; return sys.getrefcount(a)
    def g():
        class O: pass
        o = O(); o.x = object(); return sys.getrefcount(o.x)
    """,
    "(f(object()), g())",
)
case(
    "kind of a function kept",
    """
    import inspect
    def g():
        if 0: yield
    async def h():
        if 0: yield
    """,
    "(inspect.isgeneratorfunction(g), inspect.isasyncgenfunction(h))",
    visited=False,
)
case(
    "doctest",
    'import doctest\ndef f(a):\n    """\n    >>> f(1)\n    2\n    """\n    return a + 1\n',
    "doctest.run_docstring_examples(f, globals()) is None",
)

# Where names and frames are looked at

case(
    "line events of every kind of statement",
    """
    import sys
    def f(n):
        total = 0
        while total < n:
            total += 1; extra = total
            if extra > 2: break
        else:
            total = -1
        for i in range(n):
            if i == 1: continue
            total += i
        try:
            with open("/dev/null") as file: total += len(file.read())
            raise KeyError(total)
        except KeyError as error:
            return (error.args, total)
        finally:
            total = 0
    def g(n):
        events = []
        def tracer(frame, event, argument):
            if frame.f_code is not f.__code__: return None
            events.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
            return tracer
        sys.settrace(tracer)
        try: f(n)
        finally: sys.settrace(None)
        return events
    """,
    "(g(2), g(5))",
    events="none",
)
case(
    "frame locals in a tracer",
    """
    import sys
    def f(a):
        b = a * 2
        c = [b]
        c.append(3)
        return tuple(c)
    def g():
        seen = []
        def tracer(frame, event, argument):
            if frame.f_code is not f.__code__: return None
            seen.append((event, {k: repr(v) for k, v in frame.f_locals.items() if k in "abc"}))
            return tracer
        sys.settrace(tracer)
        try: f(1)
        finally: sys.settrace(None)
        return seen
    """,
    "g()",
    events="none",
)
case(
    "profiler sees the same Python calls",
    """
    import sys
    def h(x): return x
    def f(a):
        b = h(a); c = [h(i) for i in range(2)]
        return h(b) + c[0]
    def g():
        calls = []
        def profiler(frame, event, argument):
            if event in ("call", "return") and frame.f_code in (f.__code__, h.__code__):
                calls.append((event, frame.f_code.co_name, frame.f_lineno))
        sys.setprofile(profiler)
        try: f(1)
        finally: sys.setprofile(None)
        return calls
    """,
    "g()",
)
case(
    "f_lineno of the caller inside multi-line calls",
    """
    import sys
    def line(*a): return sys._getframe(1).f_lineno
    def f(a):
        x = line(
            a,
            line(),
        )
        y = [line(),
             line(), (
             z := line())]
        o = type("O", (), {})()
        o.p = \\
            line()
        return (x, y,
                z, line(), o.p)
    """,
    "f(1)",
    events="none",
)
case(
    "traceback of chained and nested exceptions",
    """
    import traceback
    def f(a):
        try:
            b = a
            b.c = (b +
                   1)
        except TypeError as e:
            try:
                return e.missing(
                    a)
            finally:
                a = None
    def g():
        try: f("x")
        except AttributeError as e:
            out = []
            while e is not None:
                out.append((type(e).__name__, [t.lineno for t in traceback.extract_tb(e.__traceback__)]))
                e = e.__context__
            return out
    """,
    "g()",
)
case(
    "line numbers of assert, raise and del",
    """
    import traceback
    def a(x):
        assert x, (
            "message")
    def b(x):
        y = x
        raise ValueError(
            y) from None
    def c(x):
        y = {}
        del x, y[
            1]
    def g():
        out = []
        for f in a, b, c:
            try: f(0)
            except Exception as e: out.append([t.lineno for t in traceback.extract_tb(e.__traceback__)])
        return out
    """,
    "g()",
)
case(
    "co_lines cover the same lines",
    """
    def f(a):
        x = a

        if x:
            y = 1
        else:
            y = 2
        for i in ():
            pass
        return (x,
                y)
    """,
    "sorted({l for _, _, l in f.__code__.co_lines() if l})",
    python=(3, 10),
    visited=False,
)
case(
    "signature, annotations and defaults",
    """
    import inspect
    def f(a, /, b: int = (n := 3), *c, d: "x" = [1], e, **g) -> list:
        return a, b, c, d, e, g
    class A:
        def m(self, x=n): self.x = x; return inspect.signature(self.m)
    """,
    "(str(inspect.signature(f)), f(1, e=2), str(A().m()), f.__kwdefaults__, f.__defaults__)",
)
case(
    "vars() and dir() without arguments",
    """
    def f(a):
        b = a + 1
        c = vars(), dir()
        return sorted(c[0]), c[1]
    """,
    "f(1)",
)
case(
    "eval sees locals and makes none",
    """
    def f(a):
        b = [a]
        c = eval("(a, b, sorted(locals()))")
        return c
    """,
    "f(1)",
)
case(
    "public names of a module",
    """
    import types
    o = types.SimpleNamespace()
    o.x = [1]
    o.x.append(2)
    def f(): return 1
    class A: pass
    """,
    "sorted(k for k in globals() if not k.startswith('_'))",
)
case(
    "star import takes no inserted name",
    """
    import types
    o = types.SimpleNamespace()
    o.x = o.y = [1] + [2]
    namespace = {}
    exec("from edge_case import *", namespace)
    """,
    "sorted(k for k in namespace if k != '__builtins__')",
)
case(
    "private attribute names of instances",
    """
    class A:
        def __init__(self): self.__x = 1 + 1; self.y: int = 2; self._z = self.w = [3]
        def change(self): self.y += 1; self.__x *= 2; self.w[0] = 5; self.w += [1]; return self
    """,
    "vars(A().change())",
)
case(
    "class attributes made in the body",
    """
    class A:
        x = 1; y: int = 2; z: str
        for i in range(2): x += i
        if (w := x) > 1: v = [w]
        with open("/dev/null") as f: u = f.read()
        try: t = 1 / 0
        except ZeroDivisionError as e: s = str(e)
        def m(self): return self.x
        class B: q = 1
        del f
    """,
    "({k: v for k, v in vars(A).items() if k in 'xywviust'}, A.__annotations__, A().m())",
)

# Lifetimes

case(
    "a returned value is not kept alive",
    """
    import weakref, gc
    class T: pass
    refs = []
    def make():
        t = T(); refs.append(weakref.ref(t))
        return t if t else None
    def f():
        make()
        return refs[0]() is None
    """,
    "f()",
)
case(
    "a loop's last value dies as before",
    """
    import weakref
    class T: pass
    def f():
        refs = []
        def make():
            for _ in range(2):
                t = T(); refs.append(weakref.ref(t)); yield t
        for x in make(): pass
        alive = [r() is not None for r in refs]
        del x
        return alive, [r() is not None for r in refs]
    """,
    "f()",
)
case(
    "order of __del__ and prints",
    """
    class T:
        def __init__(self, n): self.n = n
        def __del__(self): print("del", self.n)
    class O: pass
    def f():
        o = O()
        o.a = T(1)
        o.a = T(2); print("set")
        T(3); print("dropped")
        o.b = o.a = T(4); print("both")
        o.b: T = T(5); print("annotated")
        t = T(6); t = None; print("rebound")
        o.l = [T(7)]; o.l.clear(); print("cleared")
        o.l.append(T(8)); o.l[0] = 0; print("item")
        return len([T(9)])
    """,
    "(f(), print('end'))",
)
case(
    "an exception's frame keeps nothing of ours",
    """
    import weakref, gc
    class T: pass
    class O:
        def __setattr__(self, name, value): raise ValueError(name)
    def f():
        o = O(); ref = None
        try:
            t = T(); ref = weakref.ref(t); o.x = t
        except ValueError as e:
            pass
        del t
        return ref() is None
    """,
    "f()",
)
case(
    "resize needs the only reference",
    """
    def f():
        class O: pass
        o = O()
        o.b = bytearray(b"abc")
        o.b.extend(b"d"); o.b += b"e"
        view = memoryview(o.b)
        try: o.b.append(1)
        except BufferError as e: out = str(e)
        view.release()
        o.b.append(102)
        return bytes(o.b), out
    """,
    "f()",
)

# Generators and coroutines

case(
    "closing a generator in every place",
    """
    def g(log):
        try:
            x = yield 1
            log.append(x)
            with_ = [(yield 2), (yield 3)]
            return with_
        except GeneratorExit:
            log.append("exit"); raise
        finally:
            log.append("finally")
    def f():
        out = []
        for steps in range(5):
            log = []; it = g(log); seen = []
            try:
                for _ in range(steps): seen.append(next(it))
            except StopIteration as e: seen.append(e.value)
            it.close()
            out.append((seen, log))
        return out
    """,
    "f()",
)
case(
    "throwing into a generator",
    """
    def g():
        while True:
            try:
                x = yield
            except ValueError as e:
                x = yield str(e)
            else:
                y = yield x
    def f():
        it = g(); next(it)
        out = [it.send(1), next(it), it.throw(ValueError("v")), it.send(3)]
        try: it.throw(KeyError("k"))
        except KeyError as e: out.append(e.args)
        return out
    """,
    "f()",
)
case(
    "yield from returns and passes on",
    """
    class It:
        def __iter__(self): return self
        def __next__(self): return 1
        def send(self, v): return v
        def throw(self, *a): raise StopIteration("done")
    def g():
        r = yield from It()
        return r, (yield from [2])
    def f():
        it = g(); out = [next(it), it.send(5), it.throw(ValueError)]
        try: next(it)
        except StopIteration as e: out.append(e.value)
        return out
    """,
    "f()",
)
case(
    "attributes assigned from yield and await",
    """
    import asyncio
    class O: pass
    def g(o):
        o.x = yield 1
        o.y, o.z = yield 2
        o.l = []; o.l[:] = yield 3
        o.l += yield 4
        return o.x, o.y, o.z, o.l
    async def a(o):
        o.x = await asyncio.sleep(0, 7)
        o.d = {}; o.d[await asyncio.sleep(0, 1)] = await asyncio.sleep(0, 2)
        o.d.update(await asyncio.sleep(0, {3: 4}))
        return o.x, o.d
    def f():
        it = g(O()); out = [next(it), it.send(5), it.send((6, 7)), it.send([8])]
        try: it.send([9])
        except StopIteration as e: out.append(e.value)
        return out, asyncio.run(a(O()))
    """,
    "f()",
)
case(
    "locals of a waiting coroutine",
    """
    import asyncio, inspect
    class O: pass
    async def a(o):
        o.x = await asyncio.sleep(0, 7)
        y = [await asyncio.sleep(0, 1)]
        return o.x + y[0]
    async def main():
        c = a(O()); task = asyncio.ensure_future(c)
        await asyncio.sleep(0)
        seen = sorted(inspect.getcoroutinelocals(c))
        return seen, await task
    """,
    "asyncio.run(main())",
)
case(
    "async generators closed and finished",
    """
    import asyncio
    async def g(log):
        try:
            for i in range(5):
                got = yield i
                log.append(got)
        finally:
            await asyncio.sleep(0); log.append("closed")
    async def f():
        log = []; it = g(log)
        out = [await it.asend(None), await it.asend("a")]
        await it.aclose()
        async for x in (y async for y in g(log) if y % 2): out.append(x)
        async with contextlib.AsyncExitStack() as stack, asyncio.Lock():
            out.append(await stack.enter_async_context(contextlib.nullcontext(3))) if False else None
        return out, log
    import contextlib
    """,
    "asyncio.run(f())",
)
case(
    "cancelling a task",
    """
    import asyncio
    async def work(log):
        try:
            while (n := len(log)) < 100:
                log.append(n); await asyncio.sleep(0)
        except asyncio.CancelledError:
            log.append("cancelled"); raise
        finally:
            log.append("finally")
    async def f():
        log = []; task = asyncio.ensure_future(work(log))
        for _ in range(3): await asyncio.sleep(0)
        task.cancel()
        try: await task
        except asyncio.CancelledError: log.append("seen")
        return log
    """,
    "asyncio.run(f())",
)

# Statements in odd places

case(
    "a decorator first in the file",
    """
    @(lambda f: f)
    @staticmethod
    def f(): return 1 + 1
    """,
    "f.__func__() if hasattr(f, '__func__') else f()",
)
case(
    "only defs and no blank lines",
    """
    def f(): return g() + 1
    def g(): return 1
    class A:
        def m(self): return f()
    async def h(): return A().m()
    """,
    "(f(), A().m())",
)
case(
    "only a class with methods that return",
    """
    class A:
        x = 1
        def m(self, y=x):
            self.z = y * 2
            return self.z
        class B:
            def m(self): return 3
    """,
    "(A().m(), A.B().m())",
)
case("one expression", "1\n", "1", visited=False)
case("nothing at all", "", "__doc__", visited=False)
case("a docstring alone", '"""doc"""', "__doc__", visited=False)
case("comments alone", "# a\n\n   # b\n", "__doc__", visited=False)
case(
    "a coding cookie on line two",
    "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nif True: x = 'é'\n",
    "x",
)
case("an if first", "if True: x = 1\nelse: x = 2\n", "x")
case("a while first", "while True:\n    x = 1; break\n", "x")
case("a for first", "for x in 1, 2: y = x\n", "y")
case("a with first", "with open('/dev/null') as f: x = f.name\n", "x")
case("a try first", "try: x = 1 / 1\nfinally: y = 2\n", "x, y")
case("a match first", "match 1, 2:\n    case a, b: c = a\n", "a, b, c", python=(3, 10))
case("an async def first", "async def f(): return 1\n", "f.__name__", visited=False)
case("a class with bases first", "class A(dict, metaclass=type): x = 1\n", "A.__mro__, A.x", visited=False)
case("a decorated class first", "@(lambda c: c)\nclass A: x = 1\n", "A.x", visited=False)
case("a pass first", "pass; x = 1\n", "x")
case("an import first, then a semicolon", "import sys; x = 1;\n", "x")
case("global at module level", "global x\nx = 1\nglobal y; y = x\n", "x, y")
case(
    "nested one-line suites with semicolons",
    """
    def f(a):
        if a: x = 1; return x; y = 2
        else: x = 2;
        for i in 1, 2: x += i; continue; x = 99
        while x: x -= 1; break
        else: x = 100
        class A: x = 1; y = x; pass
        def g(): return 1; return 2
        def h(): x = 1; yield x; return x
        lambda: (yield)
        return x, A.y, g(), list(h())
    """,
    "(f(0), f(1))",
)
case(
    "return with comments, strings and continuations",
    """
    def f(a):
        if a == 0: return  # nothing
        if a == 1: return   ( # open
            a  # inside
            # alone
        )  # after
        if a == 2: return \\
            \\
            a
        if a == 3: return 'a' 'b' \\
            "c"
        if a == 4: return not\\
            a
        if a == 5: return [
            x for x in range(a)
            if x # c
        ]
        if a == 6: return; a = 1
        if a == 7: return (yield_ := a); pass
        if a == 8: return '''
    text # no comment
    ''' # comment
    """,
    "[f(i) for i in range(10)]",
    events="compiled",
)
case(
    "continuation lines before and after statements",
    "def f(a):\n    \\\n    x = a\n    y = x; \\\n    z = y\n    if x: \\\n        w = z\n    return \\\n\\\n        x, y, z\n",
    "f(1)",
    events="compiled",
)
case(
    "walrus in every header",
    """
    def f(n):
        out = []
        while (n := n - 1) > 0: out.append(n)
        if (a := n) or (b := 5): out.append((a, b))
        elif (c := 1): pass
        for i in (d := [1, 2]): out.append(i)
        with open((e := "/dev/null")) as g: out.append(e)
        assert (h := 1), (k := 2)
        x = [j := 1, j ** 2, (l := j, l)]
        out[(m := 0)] = {(o := 1): (p := 2)}
        print(f"{(q := 3)!r:>{(r := 5)}}", sep=(s := ""))
        del out[(t := -1)]
        return out, a, b, d, h, x, m, o, p, q, r, s, t, (u := 1)
    """,
    "f(3)",
)
case(
    "walrus and comprehension scopes",
    """
    total = 0
    values = [total := total + x for x in range(4)]
    def f():
        if any((hit := x) > 2 for x in range(5)): return hit, [y for x in range(3) if (y := x)]
        global later
        [later := z for z in "ab"]
    class A:
        x = [i for i in range(2)]
    """,
    "(values, total, f(), A.x)",
)
case(
    "walrus with a name that a record would read",
    """
    def f(a):
        return (b := a) + (b := b + 1), b
    def g(x):
        return x if (x := x and x - 1) else (x, x)
    """,
    "(f(1), g(1), g(3), g(0))",
)
case(
    "chained comparisons, conditionals and not in conditions",
    """
    def t(x, log=[]): log.append(x); return x
    def f(a, b):
        out = []
        if not a: out.append(1)
        if a < b < 3: out.append(2)
        if a if b else not a: out.append(3)
        if lambda: a: out.append(4)
        if a or b and not a: out.append(5)
        if (a, b) == (1, 2) or a is b: out.append(6)
        if [x for x in range(a)]: out.append(7)
        while not (a and b): a = b = 1; out.append(8)
        if a, : out.append(9)
        return out
    """.replace("if a, :", "if (a,):"),
    "[f(a, b) for a in range(3) for b in range(3)]",
)
case(
    "stars everywhere",
    """
    def f(*a, **k):
        *x, y = a
        for i, *j in [a, (1, 2, 3)]: pass
        z = *x, *a
        print(*z, *[1], sep="-", **{"end": "!"})
        w = {**k, "m": 1, **{"n": 2}}
        v = [*x, *{1: 2}]
        for u in *a, *x: pass
        s = a[0], *a
        return *x, y, i, j, z, w, v, u, s
    """,
    "f(1, 2, 3, p=4)",
)
case(
    "subscripts with stars and slices as targets",
    """
    class D(dict): pass
    def f():
        d = D(); l = list(range(6)); o = type("O", (), {})()
        d[1, 2] = d[1:2] if 0 else 3
        l[::2] = 7, 8, 9
        l[1], d["k"], o.a = 1, 2, 3
        (l[2]), [o.b, *o.c] = 4, (5, 6, 7)
        for l[3] in range(3): pass
        for o.d, d["e"] in [(1, 2)]: pass
        with open("/dev/null") as o.f: pass
        l[-1] += 1; d["k"] *= 3; o.a -= 1; o.c[0] += 1
        del l[0], d["k"], o.b
        return l, d, o.a, o.c, o.d, o.f.name
    """,
    "f()",
)
case(
    "nested functions, nonlocal and recursion",
    """
    def f(n):
        count = 0
        def g(m):
            nonlocal count
            count += 1
            def h(): nonlocal count; count += 10; return m
            return h() if m <= 0 else g(m - 1)
        g(n); fs = [lambda i=i: (i, count) for i in range(2)]
        return count, [x() for x in fs]
    """,
    "f(3)",
    one_more_event_on=((3, 12),),
)
case(
    "lambda defaults and lambdas in headers",
    """
    def f(a, key=lambda x, y=(lambda: 3)(): x + y):
        for k in sorted([3, 1], key=lambda v: -v): a += k
        if (lambda: a)(): a = (lambda *x, **y: (x, y))(1, z=a)
        return key(1), a
    """,
    "f(1)",
)
case(
    "f-strings with nested quotes and formats",
    """
    def f(a):
        b = f"{a!r:>{len(str(a)) + 3}} {'x' + f'{a}'} {{}} {a=}"
        c = f'''{
            a
        } {a:{'>'}{5}}'''
        d = rf"\\d{a}" fr'{a}\\n' "plain" f""
        return b, c, d, f"{a:%}" if isinstance(a, float) else f"{(lambda: a)()}"
    """,
    "(f(1), f(0.5))",
)
case(
    "match with guards, classes and soft keywords",
    """
    class P:
        __match_args__ = ("x", "y")
        def __init__(self, x, y): self.x = x; self.y = y
    def f(match):
        case = 1; type = 2; _ = 3
        match match:
            case P(x, y=0) if (n := x) > 1: return "big", n
            case P(x=0, y=P() as inner): return "inner", inner.x
            case P(): return "point"
            case {"k": [1, *rest], **other} if rest: return rest, other
            case "a" | "b" as letter: return letter
            case None | True | -1 | 1.5 | 2+3j | b"x": return "literal"
            case (): return "empty"
            case [case]: return case
            case str(s) | [str(s), _]: return s
        match = case, type
        match[0:1], print(match); case
        return match
    """,
    "[f(x) for x in (P(2, 0), P(1, 0), P(0, P(5, 5)), {'k': [1, 2], 'm': 3}, 'a', 'q', None, -1, 1.5, (), [7], ['s', 1], [1, 2, 3], {'k': [1]})]",
    python=(3, 10),
)
case(
    "soft keywords and old keywords as names",
    """
    print = 1; exec = 2; match = [3]; case = 4; type = 5; _ = 6; async_ = 7; nonlocal_ = 8
    match [0] = 9
    type (1) if False else None
    case = match[0]
    self = cls = 10
    def f(self, cls=3, type=type): match = self; _ = match; return _, cls, type
    """.replace("type (1)", "type"),
    "(print, exec, match, case, type, f(1))",
)
case(
    "except forms",
    """
    def f(n):
        try:
            if n == 0: raise KeyError("a")
            if n == 1: raise [ValueError, TypeError][0]
            if n == 2: raise OSError(2, "m") from KeyError("c")
        except KeyError: return "key"
        except (ValueError, TypeError) as e: n = e; raise RuntimeError("again") from e
        except tuple([OSError]) as e: return e.errno, repr(e.__cause__)
        else: return "else" + str(n)
        finally: n = 0
    def g():
        out = []
        for i in range(4):
            try: out.append(f(i))
            except RuntimeError as e: out.append((e.args, repr(e.__cause__), e.__suppress_context__))
        return out
    """,
    "g()",
)
case(
    "control flow through finally",
    """
    def f(n):
        out = []
        for i in range(3):
            try:
                if n == 0: continue
                if n == 1: break
                if n == 2: return out
                if n == 3: 1 / 0
                out.append(i)
            except ZeroDivisionError:
                if i: return out + ["z"]
            else:
                out.append("else")
            finally:
                out.append(("finally", i))
        else:
            out.append("loop else")
        return out
    """,
    "[f(i) for i in range(5)]",
)
case(
    "exception groups nested",
    """
    def f():
        out = []
        try:
            try: raise ExceptionGroup("o", [ValueError(1), ExceptionGroup("i", [TypeError(2), KeyError(3)])])
            except* (TypeError, ValueError) as e:
                out.append([repr(x) for x in e.exceptions])
                for x in e.exceptions: out.append(type(x).__name__)
        except BaseException as rest: out.append(repr(rest))
        else: out.append("else")
        finally: out.append("finally")
        return out
    """,
    "f()",
    python=(3, 11),
)
case(
    "generic functions, classes and type aliases",
    """
    type Pair[T] = tuple[T, T]
    def f[T: int, *Ts, **P](x: T) -> T:
        y: T = x
        return y
    class A[T](list[T]):
        def m[U](self, u: U) -> U: self.u = u; return self.u
    """,
    "(f(1), A().m(2), A.__type_params__, Pair.__name__)",
    python=(3, 12),
)
case(
    "annotations that must not be run or kept",
    """
    from __future__ import annotations
    x: undefined[1] = 1
    class A:
        y: also.undefined = x; z: not_here
        def m(self, a: b.c = 1) -> d.e:
            w: nowhere; v: nowhere = a
            self.q: nowhere = v
            return v
    """,
    "(x, A().m(), A.__annotations__, __annotations__)",
)
case(
    "annotated targets in every shape",
    """
    def f():
        log = []
        def t(x): log.append(x); return x
        class O: pass
        o = O(); l = [0, 0]
        (a): t(1) = t(2)
        o.x: t(3) = t(4)
        l[t(0)]: t(5) = t(6)
        (o.y): int = t(7)
        b: t(8)
        c: int = d = None if False else 9
        return log, a, o.x, l, o.y, c
    """.replace("c: int = d = None if False else 9", "c: int = 9 if log else 8"),
    "f()",
)

# Libraries that look at functions and classes

case(
    "dataclasses of every kind",
    """
    import dataclasses
    @dataclasses.dataclass(order=True, frozen=True)
    class P:
        x: int = 1; y: list = dataclasses.field(default_factory=list, compare=False)
        z: dataclasses.InitVar[int] = 3
        def __post_init__(self, z): object.__setattr__(self, "w", z + 1)
        @property
        def total(self): return self.x + self.w
    """,
    "(P(2), P(1) < P(2), P(3).total, [f.name for f in dataclasses.fields(P)], dataclasses.asdict(P(1)))",
)
case(
    "enum, flag and auto",
    """
    import enum
    class F(enum.Flag):
        A = enum.auto(); B = enum.auto(); AB = A | B
    class E(str, enum.Enum):
        def _generate_next_value_(name, start, count, last): return name.lower()
        X = enum.auto(); Y = enum.auto()
        @classmethod
        def get(cls, n): return cls[n]
        @property
        def double(self): x = self.value * 2; return x
    """,
    "(list(F), F.A | F.B, list(E), E.get('X').double, E('y'))",
)
case(
    "named tuples, typed dicts and protocols",
    """
    import typing
    class N(typing.NamedTuple):
        a: int
        b: str = "x"
        def m(self): c = self.a * 2; return c
    class D(typing.TypedDict, total=False):
        k: int
    @typing.runtime_checkable
    class P(typing.Protocol):
        def m(self) -> int: ...
    """,
    "(N(1), N(2).m(), D(k=1), D.__annotations__, isinstance(N(1), P), N._fields)",
)
case(
    "metaclass with prepare, init_subclass and set_name",
    """
    log = []
    class M(type):
        @classmethod
        def __prepare__(m, name, bases, **kw): log.append(("prepare", name, kw)); return {"pre": 1}
        def __new__(m, name, bases, space, **kw):
            log.append(sorted(k for k in space if k[0] != "_")); return super().__new__(m, name, bases, space)
        def __init__(c, *a, **kw): super().__init__(*a)
        def __call__(c, *a): o = super().__call__(*a); o.made = True; return o
    class Named:
        def __set_name__(self, owner, name): log.append((owner.__name__, name))
        def __get__(self, o, t=None): return 5
        def __set__(self, o, v): log.append(("set", v))
    class A(metaclass=M, k=1):
        n = Named()
        def __init_subclass__(cls, **kw): log.append(("sub", cls.__name__, kw)); super().__init_subclass__()
        def m(self): self.n = 3; self.n += 1; return self.n
    class B(A, z=2): q = 1
    """,
    "(B().m(), B().made, log)",
)
case(
    "descriptors, __getattr__ and __setattr__ are called as often",
    """
    log = []
    class A:
        def __getattribute__(self, k): log.append(("get", k)); return object.__getattribute__(self, k)
        def __getattr__(self, k): log.append(("missing", k)); return 0
        def __setattr__(self, k, v): log.append(("set", k)); object.__setattr__(self, k, v)
        def __delattr__(self, k): log.append(("del", k)); object.__delattr__(self, k)
        def __setitem__(self, k, v): log.append(("item", k))
        def __getitem__(self, k): log.append(("getitem", k)); return self
        def __iadd__(self, o): log.append("iadd"); return self
        def append_(self, x): log.append("append_"); return self
    def f():
        a = A()
        a.x = 1; a.x += 1; a.x: int = 3; a.y = a.z = 2 + 0; a.q; a.l = [1]
        a.l[0] = 2; a.l[0] += 1; a[1] = 2; a[1][2] = 3; a += 1; a.append_(1); a[1].append_(2)
        a.me = a; a.me.me.x = 5; a.me += 1; a.x, a.y = 1, 2; del a.x
        for a.k in 1, 2: pass
        return len(log)
    """,
    "(f(), log)",
)
case(
    "hashes, comparisons and truth are never asked",
    """
    class T:
        def _no(self, *a): raise AssertionError("asked")
        __bool__ = __len__ = __eq__ = __hash__ = __iter__ = __repr__ = __str__ = __index__ = _no
        __getattribute__ = __getattr__ = _no
    class O: pass
    def f(p, *a, k, **kw):
        t = T(); u = v = t
        o = O(); o.t = t; o.t: T = t; o.t = o.u = T()
        x, y = t, T()
        for z in [T()]: w = z
        l = [T()]; l[0] = T(); l.append(t); l.append(T())
        if (q := T()) is None: pass
        d = {"k": T()}; d["k"] = t
        def g(): yield t; return t
        i = g(); r = next(i)
        return t if p is k else T()
    """,
    "type(f(T(), T(), k=T(), m=T())).__name__",
)
case(
    "pickle and copy of instances and functions",
    """
    import copy, pickle
    class A:
        def __init__(self, x): self.x = [x]; self.f = g
        def __reduce__(self): return A, (self.x[0],)
    def g(a): b = a; return b
    """,
    "(pickle.loads(pickle.dumps(A(3))).x, copy.deepcopy(A(4)).x, pickle.loads(pickle.dumps(g)) is g, copy.copy(g)(2))",
)
case(
    "marshal and replace of code objects",
    """
    import marshal, types
    def g(a, b=2):
        c = a + b
        return [c, c]
    def f():
        code = marshal.loads(marshal.dumps(g.__code__))
        h = types.FunctionType(code.replace(co_name="h"), globals(), "h", (5,))
        return h(1), h.__name__, h.__code__.co_name
    """,
    "f()",
)
case(
    "functools wrappers, caches and singledispatch",
    """
    import functools
    calls = []
    @functools.lru_cache(None)
    def fib(n): calls.append(n); return n if n < 2 else fib(n - 1) + fib(n - 2)
    @functools.singledispatch
    def show(x): return "object"
    @show.register
    def _(x: int): y = x; return "int%d" % y
    class A:
        @functools.cached_property
        def p(self): calls.append("p"); v = [1]; return v
        @functools.wraps(fib)
        def q(self): return self.p
    """,
    "(fib(10), show(1), show('s'), A().p, A().q.__name__, fib.cache_info().hits, calls)",
)
case(
    "context managers made from generators",
    """
    import contextlib
    log = []
    @contextlib.contextmanager
    def c(n):
        log.append(("in", n))
        try: value = yield n
        except KeyError as e: log.append(("caught", n, repr(e)))
        finally: log.append(("out", n))
    def f():
        with c(1) as a, c(2) as b:
            log.append((a, b)); raise KeyError("k")
        with c(3): return "done" + ""
    """,
    "(f(), log)",
    one_more_event_on=((3, 12),),
)
case(
    "memory traced by line",
    """
    import tracemalloc
    def f(n):
        keep = []
        keep.append(bytearray(1000))
        keep += [bytearray(2000)]
        keep[0] = bytearray(3000)
        return keep
    def g():
        tracemalloc.start()
        try:
            f(1); kept = f(1)
            snapshot = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, "edge_case.py")])
        finally: tracemalloc.stop()
        return sorted(s.traceback[0].lineno for s in snapshot.statistics("lineno") if s.size >= 1000)
    """,
    "g()",
    events="none",
)
case(
    "threads and thread locals",
    """
    import threading
    local = threading.local(); results = []
    def work(n):
        local.x = n; local.l = [n]; local.l.append(n)
        for i in range(100): local.x += 1
        results.append((local.x, local.l))
    def f():
        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for t in threads: t.start()
        for t in threads: t.join()
        return sorted(results)
    """,
    "f()",
    events="none",
)
case(
    "signals, exit and interrupts pass through",
    """
    def f(kind):
        try:
            x = kind
            raise x("stop")
        except Exception: return "no"
        except BaseException as e: y = e; return type(y).__name__
        finally: x = None
    """,
    "[f(k) for k in (SystemExit, KeyboardInterrupt, GeneratorExit, ValueError)]",
)
case(
    "a recursion error inside and after",
    """
    def f(n): x = n; return f(n + 1) + 1
    def g():
        try: f(0)
        except RecursionError as e: out = type(e).__name__
        return out, sum(range(5))
    """,
    "g()",
    events="none",
)
case(
    "warnings point at the same lines",
    """
    import warnings
    def w(): warnings.warn("a",
        stacklevel=2)
    def f():
        with warnings.catch_warnings(record=True) as r:
            warnings.simplefilter("always")
            x = w()
            if w() or (
                w()): pass
            return (w(), w(
                ))[0] or [x.lineno for x in r]
    """,
    "f()",
    events="none",
)
case(
    "logging finds the caller's line",
    """
    import io, logging
    stream = io.StringIO()
    log = logging.Logger("x"); handler = logging.StreamHandler(stream); log.addHandler(handler)
    handler.setFormatter(logging.Formatter("%(funcName)s %(lineno)d %(message)s"))
    def f(a):
        log.warning("one"); log.warning("two")
        if a: log.error(
            "three")
        return log.warning("four") or stream.getvalue()
    """,
    "f(1)",
    events="compiled",
)
case(
    "unittest and mock see calls as they were",
    """
    from unittest import mock
    def f(m):
        m.x = 1
        m.y.z = m.a(2)
        m.l[3] = 4
        m.call_(m.b)
        m.c += 1
        for m.i in range(2): pass
        with m.ctx as m.w, m.ctx2: m.inner()
        return m.done()
    """,
    "[(str(c[0]), len(c[1])) for c in (lambda m: (f(m), m.mock_calls)[1])(mock.MagicMock())]",
    one_more_event_on=((3, 10),),
)
case(
    "a class body that reads its namespace",
    """
    class A:
        x = 1
        names = sorted(k for k in locals() if not k.startswith("__"))
        def f(self): return 1
        after = sorted(vars())
    """,
    "(A.names, [k for k in A.after if not k.startswith('__')])",
    visited=False,
)
case(
    "code compiled and run by the program",
    """
    space = {}
    exec(compile("def g(a):\\n    b = a\\n    return b * 2\\n", "<inner>", "exec"), space)
    def f(a): return eval("[a + i for i in (1, 2)]", {"a": a}), space["g"](a)
    """,
    "f(1)",
)
case(
    "import statements in functions",
    """
    def f():
        import os.path, sys as s
        from os import (path as p,
                        sep)
        from collections import abc; x = abc
        return os.path is p, s.__name__, sep, x.__name__
    """,
    "f()",
)
case(
    "__slots__, properties and setters in place",
    """
    class A:
        __slots__ = "a", "b", "__dict__"
        def __init__(self): self.a = self.b = [0]; self.c = {}
        @property
        def p(self): return self.a
        @p.setter
        def p(self, v): self.a = list(v)
        @p.deleter
        def p(self): del self.a
        def m(self):
            self.p = (1, 2); self.p += [3]; self.p[0] = 9; self.p.append(4); self.c["k"] = self.b; del self.c["k"]
            out = list(self.p); del self.p
            return out, hasattr(self, "a"), self.__dict__
    """,
    "A().m()",
)
case(
    "number of references to arguments",
    """
    import sys
    def f(a, *b, **c):
        x = a; y = (a,)
        return [sys.getrefcount(a)] + [sys.getrefcount(v) for v in b]
    def g(o):
        o.x = object(); n = sys.getrefcount(o.x); o.y = o.x; o.x = None
        return n, sys.getrefcount(o.y)
    """,
    "(f(object(), object()), g(type('O', (), {})()))",
)
case(
    "integer and float caches, big loops",
    """
    def f(n):
        s = 0; t = 0.0
        for i in range(n):
            s += i * i; t += i / 2
            if i % 1000 == 0: s ^= i
        return s, t
    """,
    "f(20000)",
    events="none",
)
case(
    "a docstring made by a call is none",
    """
    def f():
        "doc".strip()
        return 1 + 1
    class A:
        "doc" "string"
        "not"; x = 1
        def m(self):
            '''doc'''; return self
    """,
    "(f.__doc__, f(), A.__doc__, A.m.__doc__, A().m().x)",
)
case(
    "doctest reports the same lines",
    """
    import doctest, io, contextlib
    def f(a):
        \"\"\"One.

        >>> f(1)
        3
        >>> f(2)
        3
        \"\"\"
        b = a + 1
        return b
    def g():
        out = io.StringIO()
        with contextlib.redirect_stdout(out): doctest.run_docstring_examples(f, {"f": f}, name="f")
        return [l for l in out.getvalue().splitlines() if not l.startswith("File")]
    """,
    "g()",
    events="none",
)
case(
    "very many targets and very long lines",
    "def f(a):\n    " + "; ".join(f"x{i} = a + {i}" for i in range(300)) + "\n    return "
    + " + ".join(f"x{i}" for i in range(300)) + "\n",
    "f(1)",
)
case(
    "deeply nested blocks",
    "def f(a):\n"
    + "".join("    " * (i + 1) + ("if a:\n" if i % 2 else "for i%d in [a]:\n" % i) for i in range(16))
    + "    " * 17
    + "return a + 1\n",
    "f(1)",
)
case(
    "tabs, spaces and form feeds mixed",
    "def f(a):\n\tif a:\n\t\tx = 1\n\t\ty = 2 ; z = 3\t;\n\x0c\tfor i in [1] :\t x = i\n\x0c\n\treturn x , y\n",
    "f(1)",
)
case("a byte order mark", "\ufeffdef f(a): b = a; return b\nx = f(1)\n", "x")
case("names beyond ASCII that normalise", "ﬁ = 1\ndef f(ª): ℌ = ª + fi; return H\n", "f(2)")
