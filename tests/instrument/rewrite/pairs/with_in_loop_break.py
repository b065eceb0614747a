# With in loop break.
def f(a, b):
    while True:
        with a as c:
            if c: break
            continue
    return b
