a = b = c = 1
(d, e), [f, *g] = (1, 2), [3, 4, 5]
*h, i = "abc"
def t():
    a, b = 1, 2
    a, b = b, a
    x = y = a
    (p, q), r = (1, 2), 3
    *s, u = [1, 2, 3]
    v: int = 4
    w: float
    k, = [1]
    [m, n] = 5, 6
    z = (o := 3) + o; aa = bb = z; cc, dd = z, aa
    return a, b, x, y, p, q, r, s, u
t()
a += 1; b -= 2; c *= 3
x: int = 3
class P: pass
o = P()
o.a = 1; o.b, o.c = 2, 3
o.a += 5
o.d = o.e = o.a
l = [1, 2, 3]; l[0] = 5; l[1:] = [7]; l[0] += 2
l[0], o.z = 1, 2
d = {}
d["a"] = d["b"] = l
