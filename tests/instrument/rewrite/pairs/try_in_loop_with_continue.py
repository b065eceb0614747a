# Try in loop with continue.
def f(a, b):
    for c in a:
        try:
            d = c()
        except ValueError:
            continue
        else:
            break
        finally:
            b += 1
    return d
