# Try first statement.
def f(a, b):
    try:
        return a()
    except ValueError:
        return b
