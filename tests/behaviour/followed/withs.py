import contextlib
@contextlib.contextmanager
def m(x):
    y = x + 1
    try:
        yield y
    finally:
        z = y
class S:
    def __enter__(self): return (1, 2)
    def __exit__(self, *a): return True
def f():
    with m(1) as a, m(2) as b: c = a + b
    with S() as (d, e):
        raise ValueError
    with S(): q = 1
    with m(1) as a: return a
def g():
    with S() as r, m(3):
        return r
def h():
    for i in range(3):
        with S() as (p, q):
            if i == 1:
                s = 3
                continue
            if i == 2:
                s = 4
                break
            s = p
    with (m(1) as a, m(2) as b):
        c = 2
    o = S()
    with m(1) as o.x: pass
    return c
print(f(), g(), h())
