# While first statement.
def f(a, b):
    while a:
        a -= 1
    return a
