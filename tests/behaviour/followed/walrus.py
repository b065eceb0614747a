def f(xs):
    if (n := len(xs)) > 2 and (m := n + 1):
        r = m
    while (n := n - 1) > 0: r = n
    ys = [z := x for x in xs]
    print(w := 5, (v := 6))
    q = u = (t := 3)
    return (last := xs[-1])
f([1, 2, 3]); f([1])
(a := 1)
b = (c := 2) + c
assert (d := 3)
def g(x=(e := 4)): return x
g()
def k(x):
    (y := x)
    return y
k(3)
