def gen(n):
    for i in range(n):
        got = yield i
        x = got
    return n
def outer():
    r = yield from gen(2)
    s = r + 1
    yield s
g = outer(); print(next(g), g.send(5), g.send(6))
try: next(g)
except StopIteration: done = 1
a, b = gen(1), gen(2)
next(a); next(b); list(b)
g2 = gen(3); next(g2); g2.close()
g3 = gen(3); next(g3)
try: g3.throw(KeyError("k"))
except KeyError: pass
def handle():
    while True:
        try:
            x = yield
            y = x
        except ValueError as e:
            z = str(e)
        finally:
            w = 1
h = handle(); next(h); h.send(3); h.throw(ValueError("v")); h.close()
ge = (q for q in gen(3))
t = list(ge)
