# With first statement.
def f(a, b):
    with a: pass
