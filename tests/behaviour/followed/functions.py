import functools
def deco(f):
    @functools.wraps(f)
    def inner(*args, **kw):
        r = f(*args, **kw)
        return r
    return inner
@deco
def a(x, /, y=2, *args, k, **kw):
    z = x + y
    return z
a(1, k=3); a(1, 2, 3, k=4, q=5)
def closure():
    n = 0
    def inc(step):
        nonlocal n
        n += step
        return n
    inc(1)
    m = n
    return inc
c = closure(); c(3)
G = 1
def glob():
    global G, H
    G = 2
    H = G + 1
    del H
    return
glob()
def fact(n):
    if n <= 1: return 1
    rest = fact(n - 1)
    return n * rest
fact(5)
f = lambda x: x + 1
f(2)
def comp(n):
    xs = [i * 2 for i in range(n) if i]
    d = {k: v for k, v in zip(xs, xs)}
    s = sum(x for x in xs)
    ys = [y := x for x in xs]
    return xs, d, s
comp(4)
def noreturn(x):
    x += 1
noreturn(1)
def one(): return 3
def two(): pass
def three(): x = 1; return x
one(); two(); three()
def doc(x):
    """doc"""
    return x
doc(1)
def args_in_cells(a, b):
    def g(): return a
    a = 5
    c = g()
    b = b + a
    return c + b
args_in_cells(1, 2)
def deleted(x):
    y = x
    del y
    y = 3
    def g():
        nonlocal y
        del y
    g()
    return x
deleted(1)
def early(x):
    if x: return
    y = 1
early(0); early(1)
def mixed(x, y=[1], *, z={}): w = x; return (w,
    y, z)
mixed(1)
