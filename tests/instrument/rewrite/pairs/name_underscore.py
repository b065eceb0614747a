# Name underscore.
def f(a, b):
    _, c = a
    for _ in c: pass
    return _
