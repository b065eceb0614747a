# Try one line.
def f(a, b):
    try: c = a()
    except ValueError: c = b
    finally: d = c
    return c
