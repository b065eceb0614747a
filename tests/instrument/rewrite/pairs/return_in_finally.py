# Return in finally.
def f(a, b):
    try:
        return a()
    finally:
        return b()
