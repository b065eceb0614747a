import types
def f(x):
    exec("y = 1")
    d = locals()
    v = x
    return sorted(d)
f(1)
ns = {}
exec("a = 1\ndef g(): return a", ns)
b = ns["g"]()
def uses_vars(x):
    k = vars()
    o = types.SimpleNamespace()
    o.x = x + 1
    return o
uses_vars(3)
