# With after assignment.
def f(a, b):
    c = a
    with c as d:
        e = d
    return b
