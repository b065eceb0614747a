# Global statement.
def f(a, b):
    c = a
    global g
    g = c
    return g
