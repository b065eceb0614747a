# Try nested first statement.
def f(a, b):
    try:
        try:
            return a()
        finally:
            pass
    except ValueError:
        return b
